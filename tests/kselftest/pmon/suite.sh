# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Words for what is run in one boot of the machine. A boot's script sources this file, says what it
# wants, and ends with `finish`:
#
#	load mode=0; run abi uncore; unload
#	setting cbo_overflow silent; load; run uncore; unload
#
# Output is KTAP: one line a word, and below `run` the lines of the test programs.

export PMON_PARAMETERS=
number=0
failed=0

echo "KTAP version 1"
modprobe msr

# The manual demands that each write of a box's control has bits 17:16 (329468 tables 2-13, 2-119),
# so the module cannot put back a 0. Here firmware has kept to that, and the comparison is exact.
follow_the_manual() {
	cbos=$(modelctl regs | grep -o 'socket0\.C[0-9]*_MSR_PMON_BOX_CTL' | wc -l)
	for cpu in /dev/cpu/*/msr; do
		n=-1
		while [ $n -lt "$cbos" ]; do
			# The PCU's register first, then the CBos'.
			address=$((n < 0 ? 0xc24 : 0xd04 + 0x20 * n))
			printf '\0\0\3\0\0\0\0\0' |
				dd "of=$cpu" bs=8 seek=$address oflag=seek_bytes 2> /dev/null
			n=$((n + 1))
		done
	done
}
follow_the_manual

# result STATUS NAME : one line; 0 is a success.
result() {
	number=$((number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $number $2"
	else
		echo "not ok $number $2"
		failed=$((failed + 1))
	fi
}

# setting KEY VALUE : changes the hardware; the module finds out when it is loaded.
setting() {
	echo "# $1 is $2"
	modelctl set "$1" "$2" > /dev/null || result 1 "setting $1 $2"
}

# is_clean WHAT : no rule of the manual was broken, and the registers are those of /tmp/before.
is_clean() {
	modelctl regs | tr ',' '\n' > /tmp/after
	diff /tmp/before /tmp/after | sed 's/^/# /'
	cmp -s /tmp/before /tmp/after
	result $? "$1: registers are as before"
	modelctl violations > /tmp/violations
	grep -q '^{"total":0,' /tmp/violations || { cut -c 1-240 /tmp/violations | sed 's/^/# /'; false; }
	result $? "$1: no rule of the manual was broken"
}

# load [PARAMETER=VALUE…]
load() {
	export PMON_PARAMETERS="$*"
	modelctl violations clear > /dev/null
	modelctl regs | tr ',' '\n' > /tmp/before
	# shellcheck disable=SC2086  # words are parameters
	insmod /root/pmon.ko $PMON_PARAMETERS
	result $? "insmod pmon.ko $PMON_PARAMETERS"
	dmesg | grep 'pmon: socket' | tail -n 2 | sed 's/^/# /'
	is_clean insmod
}

unload() {
	rmmod pmon
	result $? "rmmod pmon"
	is_clean rmmod
}

# refused : insmod fails with ENODEV, says why in one line, and leaves everything as it was.
refused() {
	modelctl regs | tr ',' '\n' > /tmp/before
	modelctl violations clear > /dev/null
	dmesg | wc -l > /tmp/lines
	insmod /root/pmon.ko 2> /tmp/error && rmmod pmon
	grep -q 'No such device' /tmp/error || { sed 's/^/# /' /tmp/error; false; }
	result $? "insmod fails with ENODEV"
	# busybox's insmod tries twice; the kernel has its own words for modules from outside.
	dmesg | tail -n "+$(($(cat /tmp/lines) + 1))" | sed -n 's/^[^]]*] pmon: //p' |
		grep -v -e 'out-of-tree module' -e 'module verification' | sort -u > /tmp/said
	sed 's/^/# /' /tmp/said
	[ "$(wc -l < /tmp/said)" -eq 1 ]
	result $? "and says why in one line"
	[ ! -e /dev/pmon ]
	result $? "there is no device"
	modelctl regs | tr ',' '\n' | cmp -s - /tmp/before
	result $? "registers are as before"
}

# unknown : NMIs of which the kernel has said that nobody wanted them.
unknown() {
	dmesg | grep -c 'NMI received for unknown reason'
}

# run PROGRAM[:TEST]… : test programs; with TEST those tests that have it in their name.
run() {
	for program; do
		test=${program#"${program%%:*}"}
		test=${test#:}
		echo "# Subtest: $program"
		before=$(unknown)
		{
			"/root/${program%%:*}" ${test:+"$test"}
			echo $? > /tmp/status
		} | sed 's/^/    /'
		result "$(cat /tmp/status)" "$program"
		# The tests in nmi send such NMIs, and look for themselves.
		case $program in
		nmi*) ;;
		*) [ "$(unknown)" -eq "$before" ] || result 1 "$program: unknown NMIs" ;;
		esac
	done
}

# finish : the last word.
finish() {
	echo "1..$number"
	[ $failed -eq 0 ]
}
