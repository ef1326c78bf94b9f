# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the scripts of the modelled machine share: places, messages, cache keys, products.
#
# shellcheck disable=SC2034  # what is set here is used there

machine=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$machine/../.." && pwd)
cache=${PMON_CACHE:-/var/cache/pmon}
logs=$cache/logs
export PMON_CACHE=$cache

# shellcheck source=versions
. "$machine/versions"

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# key WORD|FILE… : short hash of words and of the contents of files.
key() {
	local i
	for i in "$@"; do
		if [[ -f $i ]]; then cat "$i"; else printf '%s\n' "$i"; fi
	done | sha256sum | cut -c1-12
}

# step NAME COMMAND… : run it with its output in a log file, one line on the console.
step() {
	local name=$1 start=$SECONDS
	local log=$logs/$name.log
	shift
	mkdir -p "$logs"
	if "$@" > "$log" 2>&1; then
		grep '^note: ' "$log" >&2 || :
		say "$(printf '%-10s done in %4d s  (log: %s)' "$name" $((SECONDS - start)) "$log")"
	else
		# A step that says what is wrong in its last line needs no more words.
		tail -n 1 "$log" | grep '^error: ' >&2 && exit 1
		tail -n 20 "$log" >&2
		die "step $name failed; its log is $log"
	fi
}

# ready PRODUCT : whether it is complete; notes the use, for `prune`.
ready() { [[ -e $1 ]] && touch -c "$1"; }

# need_space GIB : the cache's disk has that much free.
need_space() {
	local free
	free=$(df --output=avail -k "$cache" | tail -n 1)
	((free >= $1 << 20)) ||
		die "$cache has $((free >> 20)) GiB free and $1 are needed: free some, or set PMON_CACHE."
}

# Versions in force: the pinned ones, or those that `resolve` found in their place.
resolved=$cache/versions-$(key "$machine/versions")
# shellcheck source=/dev/null
[[ ! -e $resolved ]] || . "$resolved"

# Lines of `packages` as one list, with the kernel's names filled in.
packages() {
	sed -e 's/#.*//' -e "s/@ABI@/$KERNEL_ABI/g" -e "s/@VERSION@/$KERNEL_VERSION/g" \
		"$machine/packages" | xargs
}

# Products, each named by a hash of what it is made from.
root=$cache/root-$(key "$DEBIAN_SUITE" "$(packages)")
headers=/usr/src/linux-headers-$KERNEL_ABI
kernel_source=$cache/linux-source-$(key "$KERNEL_VERSION" "$machine/kernel-source")
metadata=$cache/metadata-$(key "$root" "$machine/metadata")
overlaid=$root/usr/src/.${metadata##*/}
image=$cache/image-$(key "$root" "$machine"/{image,pack} "$machine"/guest/*)
qemu_source=$cache/downloads/qemu_${QEMU_VERSION#*:}.dsc
qemu_tree=$cache/qemu-tree-$(key "$root" "$QEMU_VERSION" "$machine"/qemu/{build,pmon.patch,pmon.mak})
mapfile -t glue_and_model < <(find "$machine/qemu" "$repo/tests/model" -type f | LC_ALL=C sort)
qemu=$cache/qemu-$(key "$qemu_tree" "${glue_and_model[@]}")
