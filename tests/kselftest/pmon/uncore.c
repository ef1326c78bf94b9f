// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uncore counters: totals are what the hardware model says has happened, to the event.
 *
 * The same tests run with every reading of the manual that the model knows, and with the module in
 * mode poll.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "model.h"
#include "plan.h"

static void test_modes(void)
{
	const char *parameters = getenv("PMON_PARAMETERS") ?: "";
	int poll = model_is("uncore_pmi", "never") || strstr(parameters, "mode=2");
	uint32_t sockets = device_info().nr_sockets;

	for (uint32_t socket = 0; socket < sockets; socket++) {
		for (uint32_t unit = PMON_UNIT_UBOX; unit <= PMON_UNIT_PCU; unit++) {
			struct pmon_unit_info u = device_unit(unit, socket, 0);
			int silent = unit == PMON_UNIT_CBOX && model_is("cbo_overflow", "silent");

			ktap_note("socket %u %s: mode %u, flags %#x", socket, unit_word(unit),
				  u.mode, u.flags);
			check_eq(u.mode, poll || silent ? PMON_MODE_POLL : PMON_MODE_PMI);
			if (u.mode == PMON_MODE_PMI) {
				check_eq(!!(u.flags & PMON_UNIT_NEEDS_DEBUGCTL),
					 model_is("debugctl13", "needed"));
				check_eq(!!(u.flags & PMON_UNIT_NO_FREEZE),
					 model_is("global_freeze", "never"));
			}
			if (unit == PMON_UNIT_UBOX)
				check_eq(u.fixed_width, model_is("fixed_width", "44") ? 44 : 48);
		}
	}
}

static void test_count(void)
{
	struct session *s = session_open();
	uint32_t sockets = device_info().nr_sockets;

	set_rates(123456789);
	add_all_units(s, 0);
	for (uint32_t socket = 0; socket < sockets; socket++)
		session_add(s, CLOCK(socket, 0));
	session_start(s);
	sleep_us(20000);
	session_stop(s);
	session_verify(s);
	for (unsigned int id = 0; id < s->nr; id++) {
		int clock = s->counter[id].counter == PMON_COUNTER_FIXED;
		uint64_t hz = clock ? 2000000000 : 123456789;
		uint64_t ns = s->count[id].enabled_ns - s->count[id].frozen_ns;
		uint64_t ideal = hz / 1000 * ns / 1000000;

		/* The rate times the time, but for the moments of start and stop. */
		check(s->count[id].total > ideal - ideal / 100);
		check(s->count[id].total < ideal + ideal / 100);
		check(ns >= 20000000);
	}
	session_close(s);
}

static void test_read_while_running(void)
{
	struct session *s = session_open();
	uint64_t before[MAX_COUNTERS] = { 0 };

	set_rates(50000000);
	add_all_units(s, 0);
	session_start(s);
	for (int i = 0; i < 50; i++) {
		char *truth;

		sleep_us(100);
		session_read(s);
		truth = model_ask("truth");
		for (unsigned int id = 0; id < s->nr; id++) {
			check(s->count[id].total > before[id]);
			check(s->count[id].total <= truth_of(truth, &s->counter[id]));
			before[id] = s->count[id].total;
		}
		free(truth);
	}
	session_stop(s);
	session_verify(s);
	session_close(s);
}

/* Counters of one socket stand still while they are read: equal counters read equal. */
static void test_read_is_one_moment(void)
{
	struct session *s = session_open();

	session_add(s, CLOCK(0, 0));
	session_add(s, COUNTER(PMON_UNIT_CBOX, 0, 0, 0, EV_CBOX_CLOCK, 0));
	session_add(s, COUNTER(PMON_UNIT_CBOX, 0, last_cbox(0), 3, EV_CBOX_CLOCK, 0));
	session_add(s, COUNTER(PMON_UNIT_PCU, 0, 0, 1, 0x00, 0));
	session_start(s);
	for (int i = 0; i < 20; i++) {
		sleep_us(50);
		session_read(s);
		for (unsigned int id = 1; id < s->nr; id++)
			check_eq(s->count[id].total, s->count[0].total);
	}
	session_stop(s);
	session_verify(s);
	session_close(s);
}

/* 44 and 48 bits, more than twice around. */
static void test_wraps(void)
{
	struct session *s = session_open();
	unsigned int fixed_width = device_unit(PMON_UNIT_UBOX, 0, 0).fixed_width;
	unsigned int apart = apart_ns();

	set_rates(0);
	add_all_units(s, 0);
	session_add(s, CLOCK(0, 0));
	session_start(s);
	for (int i = 0; i < 5; i++) {
		for (unsigned int id = 0; id < s->nr; id++) {
			struct pmon_counter *c = &s->counter[id];

			model_do("burst %u %s %llu %s", 20000 + id * apart, unit_word(c->unit),
				 1ULL << (c->width - 1), counter_words(c));
		}
		sleep_us(settle_us() + s->nr * apart / 1000);
	}
	session_stop(s);
	session_verify(s);
	for (unsigned int id = 0; id < s->nr; id++) {
		/* Of the clock some more has been counted. */
		check_eq(s->count[id].total >> (s->counter[id].width - 1), 5);
		check(s->count[id].overflows >= 2);
	}
	check_eq(s->counter[s->nr - 1].width, fixed_width);
	session_close(s);
}

/* The longest period that a counter can be loaded for, and the shortest that is allowed. */
static void test_extreme_periods(void)
{
	struct session *s = session_open();
	uint64_t least = device_info().min_period;
	unsigned int apart = apart_ns();

	set_rates(0);
	session_add(s, UBOX(0, 0, (1ULL << 44) - 1));
	session_add(s, PCU(0, 0, (1ULL << 48) - 1));
	session_add(s, CBOX(0, 0, 0, (1ULL << 44) - 1));
	session_add(s, UBOX(0, 1, least));
	session_add(s, PCU(0, 1, least));
	session_add(s, CBOX(0, 0, 1, least));
	session_rings(s, 65536, 0, 0, 0);
	session_start(s);
	for (int i = 0; i < 4; i++) {
		for (unsigned int id = 0; id < s->nr; id++) {
			struct pmon_counter *c = &s->counter[id];

			model_do("burst %u %s %llu %s", 20000 + id * apart, unit_word(c->unit),
				 (unsigned long long)(c->period / 2 + 1), counter_words(c));
		}
		sleep_us(settle_us() + s->nr * apart / 1000);
	}
	session_stop(s);
	session_verify(s);
	for (unsigned int id = 0; id < s->nr; id++)
		check_eq(s->tally[id].periods, 2);
	session_close(s);
}

static void test_stop_and_start(void)
{
	struct session *s = session_open();

	set_rates(3000000);
	add_all_units(s, 1777);
	session_rings(s, 1 << 20, 0, 0, 0);
	for (int i = 0; i < 10; i++) {
		session_start(s);
		sleep_us(3000 + 137 * i);
		session_stop(s);
		session_verify(s);
	}
	check(s->tally[0].periods > 10);
	session_close(s);
}

static void test_reset(void)
{
	struct session *s = session_open();

	set_rates(3000000);
	add_all_units(s, 2000);
	session_rings(s, 1 << 20, 0, 0, 0);
	for (int i = 0; i < 3; i++) {
		session_start(s);
		sleep_us(5000);
		session_stop(s);
		session_drain(s);
		check_errno(device_call(s->fd, PMON_IOC_RESET, NULL), 0);
		session_read(s);
		for (unsigned int id = 0; id < s->nr; id++) {
			check_eq(s->count[id].total, 0);
			check_eq(s->count[id].overflows, 0);
			check_eq(s->count[id].enabled_ns, 0);
			s->tally[id].periods = 0;
			s->tally[id].last = 0;
		}
		model_do("truth clear");
	}
	session_start(s);
	sleep_us(5000);
	session_stop(s);
	session_drain(s);
	session_read(s);
	for (unsigned int id = 0; id < s->nr; id++) {
		check(s->tally[id].periods);
		check_eq(s->count[id].total / 2000, s->tally[id].periods);
	}
	session_close(s);
}

/* LLC_LOOKUP counts nothing while FILTER0 names no state (329468 table 2-16). */
static void test_filter(void)
{
	struct session *s = session_open();
	uint32_t state = 1 << 18;

	if (!last_cbox(0))
		ktap_skip("there is one CBo only");
	model_do("rate cbox 0x34 0x11 10000000");
	session_add(s, COUNTER(PMON_UNIT_CBOX, 0, 0, 0, 0x1134, 0, .filter = { state }));
	session_add(s, COUNTER(PMON_UNIT_CBOX, 0, 1, 0, 0x1134, 0));
	session_start(s);
	sleep_us(1000);
	session_stop(s);
	session_verify(s);
	check(s->count[0].total);
	check_eq(s->count[1].total, 0);
	session_close(s);
}

/* Registers of the core's own counters, as far as they count. */
static void check_core_untouched(void)
{
	static const char *const names[] = {
		"IA32_PERFEVTSEL", "IA32_PMC", "IA32_A_PMC", "IA32_FIXED_CTR",
		"IA32_FIXED_CTR_CTRL", "IA32_PERF_GLOBAL_CTRL", "RDPMC",
	};
	char *accesses = model_ask("accesses");
	const char *kinds = json_member(json_member(accesses, "core"), "by_kind");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (json_has(kinds, names[i]))
			fail("an uncore session accessed %s", names[i]);
	}
	free(accesses);
}

static void test_core_is_left_alone(void)
{
	struct session *s = session_open();

	set_rates(2000000);
	model_do("accesses clear");
	add_all_units(s, 2000);
	session_rings(s, 1 << 20, 0, 0, 0);
	session_start(s);
	sleep_us(20000);
	session_stop(s);
	session_verify(s);
	session_close(s);
	check_core_untouched();
}

/* A session of one socket accesses that socket's registers only, from that socket's CPUs. */
static void test_other_socket_is_left_alone(void)
{
	struct session *s = session_open();

	if (device_info().nr_sockets < 2)
		ktap_skip("there is one socket only");
	set_rates(2000000);
	model_do("only-socket 1");
	session_add(s, UBOX(1, 0, 2000));
	session_add(s, CBOX(1, last_cbox(1), 0, 2000));
	session_rings(s, 1 << 20, 0, 0, 0);
	session_start(s);
	sleep_us(10000);
	session_read(s);
	session_stop(s);
	session_verify(s);
	session_close(s);
	model_do("only-socket all");
}

/* What the driver says of the freezes is not more than there was, and not far less. */
static void test_frozen_time(void)
{
	struct session *s = session_open();
	uint64_t ours, theirs = 0;
	char *overflows;

	set_rates(2000000);
	model_do("overflows clear");
	add_all_units(s, 4000);
	session_rings(s, 1 << 20, 0, 0, 0);
	session_start(s);
	sleep_us(50000);
	session_stop(s);
	session_verify(s);
	ours = session_stats(s).frozen_ns;
	overflows = model_ask("overflows");
	for (uint32_t socket = 0; socket < device_info().nr_sockets; socket++) {
		const char *row = json_element(json_member(overflows, "sockets"), socket);

		theirs += json_u64(json_member(row, "frozen_ns"));
		check(!strncmp(json_member(row, "frozen"), "false", 5));
	}
	free(overflows);
	ktap_note("frozen for %llu ns, by the driver %llu ns", (unsigned long long)theirs,
		  (unsigned long long)ours);
	check(ours >= theirs / 4);
	/* Where the driver freezes, its own account begins before the freeze. */
	if (is_exact(&CLOCK(0, 0)))
		check(ours <= theirs);
	session_close(s);
}

static const struct test tests[] = {
	{ "the self-test finds out what the hardware does", test_modes },
	{ "totals of all boxes", test_count },
	{ "totals while counting", test_read_while_running },
	{ "a read is one moment of its socket", test_read_is_one_moment },
	{ "wraps of counters that do not sample", test_wraps },
	{ "the longest and the shortest period", test_extreme_periods },
	{ "stop and start go on exactly", test_stop_and_start },
	{ "reset", test_reset },
	{ "a filter", test_filter },
	{ "the core's counters are left alone", test_core_is_left_alone },
	{ "the other socket is left alone", test_other_socket_is_left_alone },
	{ "the frozen time is told", test_frozen_time },
};

int main(int argc, char **argv)
{
	return ktap_run(tests, ARRAY_SIZE(tests), argc > 1 ? argv[1] : NULL);
}
