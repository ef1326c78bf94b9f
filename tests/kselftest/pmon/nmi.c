// SPDX-License-Identifier: GPL-2.0-only
/*
 * NMIs that are not ours, late or many at once; and the other users of the performance counters:
 * perf and the NMI watchdog.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ktap.h"
#include "model.h"
#include "plan.h"

/* What the kernel says of an NMI that nobody wanted. */
#define UNKNOWN_NMI	"Uhhuh. NMI received for unknown reason"

/*
 * The kernel prints ten such messages in five seconds, then none (DEFAULT_RATELIMIT_INTERVAL,
 * DEFAULT_RATELIMIT_BURST): those of the tests before must not hide the ones that count.
 */
static long fresh_log_mark(void)
{
	sleep_us(5100000);
	return kernel_log_mark();
}

/* An NMI to @cpu, and the time for its message to be logged. */
static void foreign_nmi(uint32_t cpu)
{
	model_nmi(cpu);
	sleep_us(20000);
}

static void test_foreign_when_idle(void)
{
	uint32_t cpus = device_info().nr_cpus;
	long mark = fresh_log_mark();

	if (cpus > 8)
		cpus = 8;
	for (uint32_t cpu = 0; cpu < cpus; cpu++)
		foreign_nmi(cpu);
	check_eq(kernel_log_count(mark, UNKNOWN_NMI), cpus);
}

/* A foreign NMI to the CPU that takes the PMIs, and one to another, between two samples. */
static void test_foreign_while_sampling(void)
{
	struct session *s = session_open();
	uint32_t cpu = device_unit(PMON_UNIT_UBOX, 0, 0).pmi_cpu;
	uint32_t other = (cpu + 1) % device_info().nr_cpus;
	long mark = fresh_log_mark();

	set_rates(0);
	session_add(s, UBOX(0, 0, 1000));
	session_rings(s, 65536, 0, 0, 0);
	session_start(s);
	for (int i = 0; i < 4; i++) {
		plan_overflow(&s->counter[0], 1000);
		sleep_us(20000);
		check_eq(kernel_log_count(mark, UNKNOWN_NMI), i);
		foreign_nmi(i % 2 ? other : cpu);
		check_eq(kernel_log_count(mark, UNKNOWN_NMI), i + 1);
	}
	session_stop(s);
	session_verify(s);
	check_eq(s->tally[0].periods, 4);
	session_close(s);
}

/* A foreign NMI at every moment around a PMI: the samples are right whatever becomes of it. */
static void test_foreign_at_pmi(void)
{
	struct session *s = session_open();
	uint32_t cpu = device_unit(PMON_UNIT_UBOX, 0, 0).pmi_cpu;

	set_rates(0);
	session_add(s, UBOX(0, 0, 1000));
	session_add(s, PCU(0, 0, 1000));
	session_rings(s, 65536, 0, 0, 0);
	session_start(s);
	for (int delay = 0; delay < 12000; delay += 300) {
		plan_overflow(&s->counter[0], delay);
		plan_overflow(&s->counter[1], delay);
		model_nmi(cpu);
		sleep_us(1000);
	}
	session_stop(s);
	session_verify(s);
	check(s->tally[0].periods >= 35);
	session_close(s);
}

/* Many overflows, on all threads that a PMI reaches: none is left that the kernel wonders about. */
static void test_no_unknown_nmi(void)
{
	struct session *s = session_open();
	uint32_t sockets = device_info().nr_sockets;
	long mark = fresh_log_mark();
	struct pmon_stats stats;

	set_rates(3000000);
	for (uint32_t socket = 0; socket < sockets; socket++) {
		session_add(s, UBOX(socket, 0, 3000));
		session_add(s, UBOX(socket, 1, 4000));
		session_add(s, PCU(socket, 0, 3300));
		session_add(s, CLOCK(socket, 2000000));
		session_add(s, COUNTER(PMON_UNIT_CBOX, socket, 0, 2, EV_CBOX_CLOCK, 2000000));
		session_add(s, COUNTER(PMON_UNIT_PCU, socket, 0, 3, 0x00, 2000000));
	}
	session_add(s, CORE_FIXED(0, 0, 100000));
	session_rings(s, 1 << 20, 0, 0, 0);
	session_start(s);
	sleep_us(100000);
	session_stop(s);
	session_verify(s);
	stats = session_stats(s);
	ktap_note("%llu NMIs answered, %llu late, %llu deferred",
		  (unsigned long long)stats.interrupts, (unsigned long long)stats.late,
		  (unsigned long long)stats.deferred);
	session_close(s);
	sleep_us(20000);
	check_eq(kernel_log_count(mark, UNKNOWN_NMI), 0);
}

/* Bit 61 of IA32_PERF_GLOBAL_STATUS is cleared, and LVTPC unmasked, or there were no second PMI. */
static void test_left_clean(void)
{
	struct session *s = session_open();
	uint32_t cpus = device_info().nr_cpus;
	char *regs, *overflows;

	if (device_unit(PMON_UNIT_UBOX, 0, 0).mode != PMON_MODE_PMI)
		ktap_skip("there are no PMIs");
	set_rates(2000000);
	model_do("overflows clear");
	session_add(s, UBOX(0, 0, 2000));
	session_rings(s, 65536, 0, 0, 0);
	session_start(s);
	sleep_us(20000);
	session_stop(s);
	session_verify(s);
	session_close(s);
	regs = model_ask("regs");
	overflows = model_ask("overflows");
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		const char *pmis = json_member(json_element(json_member(overflows, "cpus"), cpu),
					       "pmis");
		char name[40];

		snprintf(name, sizeof(name), "cpu%u.IA32_PERF_GLOBAL_STATUS", cpu);
		check_eq(json_u64(json_member(regs, name)), 0);
		check_eq(json_u64(json_member(pmis, "dropped_masked")), 0);
	}
	free(regs);
	free(overflows);
}

/* A hardware event of perf on a CPU; returns its file or -1. */
static int perf_open(int cpu, uint64_t period)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES, .sample_period = period, .pinned = 1,
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * perf leaves in the counters what it counted with: they get their old values back, so that
 * what is compared afterwards is ours alone.
 */
static const uint32_t perfs_registers[] = {
	0x309, 0x30a, 0x30b,		/* IA32_FIXED_CTRi */
	0x4c1, 0x4c2, 0x4c3, 0x4c4,	/* IA32_A_PMCi */
	0x38f,				/* IA32_PERF_GLOBAL_CTRL */
};
static uint64_t saved[64][ARRAY_SIZE(perfs_registers)];

static void before_perf(void)
{
	for (uint32_t cpu = 0; cpu < device_info().nr_cpus; cpu++) {
		for (size_t i = 0; i < ARRAY_SIZE(perfs_registers); i++)
			saved[cpu][i] = msr_read(cpu, perfs_registers[i]);
	}
}

static void after_perf(void)
{
	for (uint32_t cpu = 0; cpu < device_info().nr_cpus; cpu++) {
		for (size_t i = 0; i < ARRAY_SIZE(perfs_registers); i++)
			msr_write(cpu, perfs_registers[i], saved[cpu][i]);
	}
}

static int start_core_error(uint32_t cpu)
{
	struct session *s = session_open();
	struct pmon_counter counter = CORE(cpu, 0, 0);
	int error = device_call(s->fd, PMON_IOC_ADD, &counter);

	if (!error)
		error = device_call(s->fd, PMON_IOC_START, NULL);
	session_close(s);
	return error;
}

static void test_perf_in_the_way(void)
{
	long mark = kernel_log_mark();
	int perf, error;

	before_perf();
	perf = perf_open(0, 0);
	check(perf >= 0);
	error = start_core_error(0);
	close(perf);
	after_perf();
	check_errno(error, EBUSY);
	check(kernel_log_count(mark, "perf") >= 1);
	check_errno(start_core_error(0), 0);
}

static void test_in_perfs_way(void)
{
	struct session *s = session_open();
	int perf;

	session_add(s, CORE(0, 0, 0));
	session_start(s);
	perf = perf_open(0, 0);
	check(perf < 0);
	check_errno(errno, EBUSY);
	session_stop(s);
	session_close(s);
	before_perf();
	perf = perf_open(0, 0);
	check(perf >= 0);
	close(perf);
	after_perf();
}

/* perf samples cycles on the CPU that takes the uncore's PMIs: both get what is theirs. */
static void test_beside_perf(void)
{
	struct session *s = session_open();
	uint32_t cpu = device_unit(PMON_UNIT_UBOX, 0, 0).pmi_cpu;
	long mark = fresh_log_mark();
	uint64_t cycles = 0;
	int perf;

	before_perf();
	perf = perf_open(cpu, 100000);
	check(perf >= 0);
	set_rates(2000000);
	session_add(s, UBOX(0, 0, 2000));
	session_add(s, PCU(0, 0, 3000));
	session_rings(s, 1 << 20, 0, 0, 0);
	pin(cpu);
	session_start(s);
	for (int i = 0; i < 20; i++) {
		for (volatile int n = 0; n < 100000; n++)
			;
		sleep_us(500);
	}
	session_stop(s);
	check(read(perf, &cycles, sizeof(cycles)) == sizeof(cycles));
	close(perf);
	after_perf();
	session_verify(s);
	check(s->tally[0].periods >= 8);
	check(cycles >= 20 * 100000);
	session_close(s);
	sleep_us(20000);
	check_eq(kernel_log_count(mark, UNKNOWN_NMI), 0);
	check_eq(kernel_log_count(mark, "irq loop stuck"), 0);
}

static int set_watchdog(const char *value)
{
	int fd = open("/proc/sys/kernel/nmi_watchdog", O_WRONLY);
	int done = fd >= 0 && write(fd, value, 1) == 1;

	close(fd);
	return done;
}

static void test_watchdog(void)
{
	struct session *s;
	long mark = kernel_log_mark();
	int error;

	before_perf();
	if (!set_watchdog("1"))
		ktap_skip("this kernel has no NMI watchdog");
	sleep_us(10000);
	error = start_core_error(0);
	/* The uncore can be used all the same. */
	set_rates(2000000);
	s = session_open();
	session_add(s, UBOX(0, 0, 2000));
	session_rings(s, 65536, 0, 0, 0);
	session_start(s);
	sleep_us(10000);
	session_stop(s);
	check(set_watchdog("0"));
	after_perf();
	session_verify(s);
	session_close(s);
	check_errno(error, EBUSY);
	check(kernel_log_count(mark, "watchdog") >= 1);
	sleep_us(10000);
	check_errno(start_core_error(0), 0);
}

static const struct test tests[] = {
	{ "a foreign NMI without a session", test_foreign_when_idle },
	{ "a foreign NMI while sampling", test_foreign_while_sampling },
	{ "a foreign NMI at the moment of a PMI", test_foreign_at_pmi },
	{ "no PMI of ours is an unknown NMI", test_no_unknown_nmi },
	{ "status and LVTPC are left clean", test_left_clean },
	{ "EBUSY: perf has the core's counters", test_perf_in_the_way },
	{ "perf is refused the core's counters", test_in_perfs_way },
	{ "perf samples beside an uncore session", test_beside_perf },
	{ "EBUSY: the NMI watchdog has the core's counters", test_watchdog },
};

int main(int argc, char **argv)
{
	return ktap_run(tests, ARRAY_SIZE(tests), argc > 1 ? argv[1] : NULL);
}
