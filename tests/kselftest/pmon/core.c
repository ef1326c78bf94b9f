// SPDX-License-Identifier: GPL-2.0-only
/*
 * Core counters: a logical CPU's own PMU.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktap.h"
#include "model.h"
#include "plan.h"

/* Executes about this many instructions in user mode. */
static __attribute__((noinline)) void work(uint64_t instructions)
{
	for (volatile uint64_t i = 0; i < instructions / 4; i++)
		;
}

static int is_core_polled(void)
{
	return device_unit(PMON_UNIT_CORE, 0, 0).mode == PMON_MODE_POLL;
}

static void test_count(void)
{
	struct session *s = session_open();
	uint32_t cpus = device_info().nr_cpus;

	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		session_add(s, CORE(cpu, PMON_COUNTER_ANY, 0));
		session_add(s, COUNTER(PMON_UNIT_CORE, 0, cpu, 0, 0x003c, 0));
		for (uint32_t i = 0; i < 3; i++)
			session_add(s, CORE_FIXED(cpu, i, 0));
	}
	session_start(s);
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		pin(cpu);
		work(300000);
	}
	session_stop(s);
	session_verify(s);
	for (unsigned int id = 0; id < s->nr; id++)
		check(s->count[id].total >= 300000);
	session_close(s);
}

static void test_sample(void)
{
	struct session *s = session_open();
	uint32_t cpus = device_info().nr_cpus;

	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		session_add(s, CORE(cpu, PMON_COUNTER_ANY, 200000));
		session_add(s, CORE_FIXED(cpu, 1, 0));
	}
	session_rings(s, 1 << 20, 0, 0, 0);
	session_start(s);
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		pin(cpu);
		work(4000000);
	}
	session_stop(s);
	session_verify(s);
	for (unsigned int id = 0; id < s->nr; id += 2) {
		check(s->tally[id].periods >= 15);
		check_eq(s->tally[id].polled, is_core_polled() ? s->tally[id].samples : 0);
	}
	session_close(s);
}

/* General and fixed counters that overflow by the same instruction. */
static void test_simultaneous(void)
{
	struct session *s = session_open();

	session_add(s, CORE(0, 0, 150000));
	session_add(s, CORE(0, 3, 150000));
	session_add(s, CORE_FIXED(0, 0, 150000));
	session_rings(s, 1 << 20, 0, 0, 0);
	session_start(s);
	pin(0);
	work(3000000);
	session_stop(s);
	session_verify(s);
	for (unsigned int id = 0; id < s->nr; id++)
		check(s->tally[id].periods >= 15);
	session_close(s);
}

static void test_wraps(void)
{
	struct session *s = session_open();
	uint64_t settle = is_core_polled() ? 2 * device_info().poll_interval_us : 200;

	session_add(s, COUNTER(PMON_UNIT_CORE, 0, 0, 0, 0x412e, 0));
	session_add(s, COUNTER(PMON_UNIT_CORE, 0, 1, 1, 0x412e, (1ULL << 31) - 1));
	session_add(s, CORE_FIXED(1, 2, 0));
	session_rings(s, 65536, 0, 0, 0);
	session_start(s);
	for (int i = 0; i < 5; i++) {
		model_do("burst 1000 core %llu %s", 1ULL << 47, counter_words(&s->counter[0]));
		model_do("burst 1000 core %llu %s", 1ULL << 30, counter_words(&s->counter[1]));
		model_do("burst 1000 core %llu %s", 1ULL << 47, counter_words(&s->counter[2]));
		sleep_us(settle);
	}
	session_stop(s);
	session_verify(s);
	check_eq(s->count[0].total, 5ULL << 47);
	check(s->count[0].overflows >= 2);
	check_eq(s->count[1].total, 5ULL << 30);
	check_eq(s->tally[1].periods, 2);
	check(s->count[2].overflows >= 2);
	session_close(s);
}

/* PERFEVTSEL as it stands while a session counts. */
static uint64_t selected(uint32_t flags)
{
	struct session *s = session_open();
	uint64_t value;
	char *regs;

	session_add(s, CORE(0, 0, 0, .flags = flags));
	session_start(s);
	regs = model_ask("regs");
	value = json_u64(json_member(regs, "cpu0.IA32_PERFEVTSEL0"));
	free(regs);
	session_stop(s);
	session_close(s);
	return value;
}

/* Bits 17:16 are OS and USR (SDM figure 18-1). */
static void test_modes(void)
{
	check_eq(selected(0) >> 16 & 3, 3);
	check_eq(selected(PMON_COUNTER_EXCLUDE_USER) >> 16 & 3, 2);
	check_eq(selected(PMON_COUNTER_EXCLUDE_KERNEL) >> 16 & 3, 1);
}

static uint64_t in_user, elsewhere;
static pid_t worker;

static void note_place(struct session *s, const struct pmon_sample *sample)
{
	(void)s;
	if (!(sample->record.misc & PMON_SAMPLE_USER))
		return;
	if (sample->pid == (uint32_t)worker && sample->tid == (uint32_t)worker &&
	    sample->ip - (uintptr_t)work < 256)
		in_user++;
	else
		elsewhere++;
}

/* A sample names the program and the place that was interrupted. */
static void test_who_and_where(void)
{
	struct session *s = session_open();

	if (is_core_polled())
		ktap_skip("a polled sample is at the place of the timer");
	session_add(s, CORE(1, 0, 100000));
	s->on_sample = note_place;
	session_rings(s, 1 << 20, 0, 0, 0);
	worker = fork();
	if (!worker) {
		pin(1);
		for (;;)
			work(1000000);
	}
	sleep_us(2000);
	session_start(s);
	sleep_us(10000);
	session_stop(s);
	check(!kill(worker, SIGKILL));
	session_verify(s);
	ktap_note("%llu samples in the loop, %llu elsewhere in user mode",
		  (unsigned long long)in_user, (unsigned long long)elsewhere);
	check(in_user >= 50);
	check(elsewhere <= in_user / 20);
	check_eq(waitpid(worker, NULL, 0), worker);
	session_close(s);
}

/* PMIs of the core come at all moments around the uncore's overflows, on the same CPU. */
static void test_beside_uncore(void)
{
	struct session *s = session_open();
	uint32_t cpu = device_unit(PMON_UNIT_UBOX, 0, 0).pmi_cpu;

	model_do("rate ubox 0x42 0x08 2000000");
	model_do("rate cbox 0x13 0x01 3000000");
	model_do("rate pcu 0x42 * 1000000");
	session_add(s, CORE(cpu, 0, 20011));
	session_add(s, CORE_FIXED(cpu, 0, 50021));
	session_add(s, UBOX(0, 0, 997));
	session_add(s, CBOX(0, 0, 0, 1499));
	session_add(s, PCU(0, 0, 499));
	session_add(s, CLOCK(0, 700001, .flags = PMON_COUNTER_LEADER));
	session_rings(s, 4 << 20, 0, 0, 0);
	pin(cpu);
	session_start(s);
	work(20000000);
	session_stop(s);
	session_verify(s);
	for (unsigned int id = 0; id < s->nr; id++)
		check(s->tally[id].periods >= 10);
	session_close(s);
}

static void test_storm(void)
{
	struct session *s = session_open();
	struct pmon_info info = device_info();
	struct pmon_stats stats;
	uint64_t begin;

	if (is_core_polled())
		ktap_skip("polling is never throttled");
	session_add(s, CORE(0, 0, info.min_period));
	session_rings(s, 8 << 20, 0, 0, 0);
	session_start(s);
	begin = now_ns();
	pin(0);
	work(20000000);
	session_stop(s);
	stats = session_stats(s);
	ktap_note("%llu samples, %llu raises of the period, %llu ns in the handler of %llu",
		  (unsigned long long)stats.samples, (unsigned long long)stats.throttled,
		  (unsigned long long)stats.handler_ns, (unsigned long long)(now_ns() - begin));
	session_verify(s);
	check(stats.throttled >= 1);
	check_eq(s->tally[0].throttles >= 1, 1);
	session_close(s);
}

static void test_stop_and_start(void)
{
	struct session *s = session_open();

	pin(1);
	session_add(s, CORE(1, 0, 10007));
	session_add(s, CORE_FIXED(1, 0, 30011));
	session_add(s, CORE(0, 1, 50021));
	session_rings(s, 1 << 20, 0, 0, 0);
	for (int i = 0; i < 10; i++) {
		session_start(s);
		work(100000 + 777 * i);
		session_stop(s);
		session_verify(s);
	}
	check(s->tally[0].periods >= 50);
	session_close(s);
}

static void test_overflow_at_stop(void)
{
	struct session *s = session_open();

	pin(0);
	session_add(s, COUNTER(PMON_UNIT_CORE, 0, 0, 0, 0x412e, 5000));
	session_rings(s, 1 << 20, 0, 0, 0);
	for (int delay = 0; delay < 15000; delay += 250) {
		session_start(s);
		plan_overflow(&s->counter[0], delay);
		session_stop(s);
		sleep_us(20);
	}
	session_verify(s);
	check(s->tally[0].periods >= 1);
	session_close(s);
}

/* Takes a CPU offline (0) or online (1); returns the error number. */
static int set_online(uint32_t cpu, char online)
{
	char path[64];
	int fd, error;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		ktap_skip("CPU %u cannot go offline", cpu);
	error = write(fd, online ? "1" : "0", 1) == 1 ? 0 : errno;
	close(fd);
	return error;
}

/* A CPU stays while a session counts on it, and may go before and after. */
static void test_offline(void)
{
	uint32_t cpu = device_info().nr_cpus - 1;
	struct session *s = session_open();

	pin(0);
	session_add(s, CORE(cpu, 0, 100000));
	session_rings(s, 1 << 20, 0, 0, 0);
	session_start(s);
	check_errno(set_online(cpu, 0), EBUSY);
	sleep_us(5000);
	session_stop(s);
	session_verify(s);
	check_errno(set_online(cpu, 0), 0);
	check_errno(device_call(s->fd, PMON_IOC_START, NULL), ENODEV);
	check_errno(set_online(cpu, 1), 0);
	session_start(s);
	sleep_us(5000);
	session_stop(s);
	session_verify(s);
	session_close(s);
}

static const struct test tests[] = {
	{ "totals of all CPUs", test_count },
	{ "samples of all CPUs", test_sample },
	{ "counters that overflow by the same instruction", test_simultaneous },
	{ "wraps", test_wraps },
	{ "user mode, kernel mode", test_modes },
	{ "a sample names program and place", test_who_and_where },
	{ "beside the uncore's overflows", test_beside_uncore },
	{ "a storm is throttled, and nothing is lost", test_storm },
	{ "stop and start go on exactly", test_stop_and_start },
	{ "an overflow at the moment of the stop", test_overflow_at_stop },
	{ "a CPU stays online while it counts", test_offline },
};

int main(int argc, char **argv)
{
	return ktap_run(tests, ARRAY_SIZE(tests), argc > 1 ? argv[1] : NULL);
}
