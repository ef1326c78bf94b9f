// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uncore counters: totals and samples are what the hardware model says has happened, to the event.
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
#include "session.h"

/* Gives the tests' events a rate on all boxes; 0 for silence. */
static void set_rates(uint64_t hz)
{
	model_do("rate ubox 0x42 0x08 %llu", (unsigned long long)hz);
	model_do("rate cbox 0x13 0x01 %llu", (unsigned long long)hz);
	model_do("rate pcu 0x42 * %llu", (unsigned long long)hz);
}

/* One counter of each kind of box on each socket, with a period each. */
static void add_all_units(struct session *s, uint64_t period)
{
	uint32_t sockets = device_info().nr_sockets;

	for (uint32_t socket = 0; socket < sockets; socket++) {
		session_add(s, UBOX(socket, PMON_COUNTER_ANY, period));
		session_add(s, PCU(socket, PMON_COUNTER_ANY, period));
		for (uint32_t box = 0; box < device_unit(PMON_UNIT_CBOX, socket, 0).nr_boxes; box++)
			session_add(s, CBOX(socket, box, PMON_COUNTER_ANY, period));
	}
}

/* The last CBo of a socket; the only one on a part with one core. */
static uint32_t last_cbox(uint32_t socket)
{
	return device_unit(PMON_UNIT_CBOX, socket, 0).nr_boxes - 1;
}

static int is_polled(const struct pmon_counter *counter)
{
	return device_unit(counter->unit, counter->socket, counter->box).mode == PMON_MODE_POLL;
}

/* Whether an overflow is seen at the event that caused it. */
static int is_exact(const struct pmon_counter *counter)
{
	struct pmon_unit_info unit =
		device_unit(counter->unit, counter->socket, counter->box);

	return unit.mode == PMON_MODE_PMI && !(unit.flags & PMON_UNIT_NO_FREEZE);
}

/* Long enough for an overflow to be handled, by interrupt or by timer, µs. */
static uint64_t settle_us(void)
{
	return is_polled(&CLOCK(0, 0)) || is_polled(&CBOX(0, 0, 0, 0))
		       ? 2 * device_info().poll_interval_us + 200
		       : 200;
}

/*
 * Events of a plan are so far apart that none falls into the freeze by the one before, ns: what
 * happens then is not counted. Where the interrupt never comes, a CBo's overflow freezes the socket
 * all the same (329468 table 2-13: bit 17 of BOX_CTL must be 1), until the timer looks.
 */
static unsigned int apart_ns(void)
{
	return 50000 + (is_polled(&CLOCK(0, 0)) ? device_info().poll_interval_us * 1000 : 0);
}

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

/* One sample for each overflow of the plan, at the plan's time. */
static void test_plan(void)
{
	enum { OVERFLOWS = 20 };
	struct session *s = session_open();
	uint64_t step_us = settle_us();
	unsigned int apart = apart_ns();
	uint64_t begin[OVERFLOWS];

	set_rates(0);
	add_all_units(s, 1000);
	session_rings(s, 65536, 0, 0, 0);
	session_start(s);
	for (int i = 0; i < OVERFLOWS; i++) {
		begin[i] = now_ns();
		for (unsigned int id = 0; id < s->nr; id++)
			plan_overflow(&s->counter[id], 100000 + id * apart);
		sleep_us(step_us + 100 + s->nr * apart / 1000);
	}
	session_stop(s);
	session_verify(s);
	for (unsigned int id = 0; id < s->nr; id++) {
		struct tally *tally = &s->tally[id];

		check_eq(tally->samples, OVERFLOWS);
		check_eq(tally->periods, OVERFLOWS);
		check_eq(tally->overshoots, 0);
		check_eq(s->count[id].total, 1000 * OVERFLOWS);
		if (!is_polled(&s->counter[id]))
			check_eq(s->count[id].overflows, OVERFLOWS);
		for (int i = 0; i < OVERFLOWS; i++) {
			uint64_t after = tally->times[i] - begin[i];

			check(after >= 100000 + id * apart);
			check(after <= 100000 + id * apart + step_us * 1000);
		}
	}
	session_close(s);
}

static void test_steady(void)
{
	struct session *s = session_open();
	/* The timer of one box looks at the others too. */
	int polls = is_polled(&CLOCK(0, 0)) || is_polled(&CBOX(0, 0, 0, 0));

	set_rates(2000000);
	add_all_units(s, 4000);
	session_rings(s, 1 << 20, 0, 0, 0);
	session_start(s);
	sleep_us(100000);
	session_stop(s);
	session_verify(s);
	for (unsigned int id = 0; id < s->nr; id++) {
		struct tally *tally = &s->tally[id];

		check(tally->periods >= 45 && tally->periods <= 50);
		if (!polls)
			check_eq(tally->polled, 0);
		if (is_exact(&s->counter[id])) {
			/* So each is one period after the one before, to the event. */
			check_eq(tally->samples, tally->periods);
			check_eq(tally->overshoots, 0);
		}
	}
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

/* Counters with the same clock and the same period overflow at the same moments. */
static void test_simultaneous(void)
{
	struct session *s = session_open();
	const uint64_t period = 2000000;

	session_add(s, CLOCK(0, period));
	session_add(s, COUNTER(PMON_UNIT_CBOX, 0, 0, 0, EV_CBOX_CLOCK, period));
	session_add(s, COUNTER(PMON_UNIT_CBOX, 0, 0, 3, EV_CBOX_CLOCK, period));
	session_add(s, COUNTER(PMON_UNIT_CBOX, 0, last_cbox(0), 1, EV_CBOX_CLOCK, period));
	session_add(s, COUNTER(PMON_UNIT_PCU, 0, 0, 0, 0x00, period));
	session_add(s, COUNTER(PMON_UNIT_PCU, 0, 0, 2, 0x00, period));
	session_rings(s, 1 << 20, 0, 0, 0);
	session_start(s);
	sleep_us(50000);
	session_stop(s);
	session_verify(s);
	for (unsigned int id = 0; id < s->nr; id++) {
		check(s->tally[id].periods >= 45);
		if (is_exact(&s->counter[id])) {
			check_eq(s->tally[id].samples, s->tally[0].samples);
			check_eq(s->tally[id].overshoots, 0);
		}
	}
	session_close(s);
}

/* A second box overflows at every moment from before the first one's to after its PMI. */
static void test_close_together(void)
{
	struct session *s = session_open();
	uint64_t settle = settle_us();

	set_rates(0);
	session_add(s, UBOX(0, 0, 5000));
	session_add(s, PCU(0, 0, 5000));
	session_add(s, CBOX(0, 0, 0, 5000));
	session_rings(s, 1 << 20, 0, 0, 0);
	session_start(s);
	for (int apart = 0; apart < 12000; apart += 150) {
		for (unsigned int id = 0; id < s->nr; id++)
			plan_overflow(&s->counter[id], id == 1 ? 60000 - apart : 60000);
		sleep_us(settle);
	}
	session_stop(s);
	session_verify(s);
	for (unsigned int id = 0; id < s->nr; id++)
		check(s->tally[id].periods >= 40);
	session_close(s);
}

/* An overflow at every moment around the calls that freeze the socket themselves. */
static void test_overflow_at_stop(void)
{
	struct session *s = session_open();

	set_rates(0);
	session_add(s, UBOX(0, 0, 5000));
	session_add(s, PCU(0, 0, 0));
	session_rings(s, 1 << 20, 0, 0, 0);
	for (int delay = 0; delay < 30000; delay += 250) {
		session_start(s);
		plan_overflow(&s->counter[0], delay);
		model_do("burst %d pcu 7 %s", delay, counter_words(&s->counter[1]));
		session_stop(s);
		sleep_us(40);
	}
	session_verify(s);
	check(s->tally[0].periods >= 1);
	session_close(s);
}

static void test_overflow_at_read(void)
{
	struct session *s = session_open();
	uint64_t settle = settle_us();

	set_rates(0);
	session_add(s, UBOX(0, 0, 5000));
	session_add(s, PCU(0, 0, 5000));
	session_rings(s, 1 << 20, 0, 0, 0);
	session_start(s);
	for (int delay = 0; delay < 30000; delay += 250) {
		plan_overflow(&s->counter[0], delay);
		plan_overflow(&s->counter[1], delay);
		session_read(s);
		session_read(s);
		sleep_us(settle);
	}
	session_stop(s);
	session_verify(s);
	check(s->tally[0].periods >= 60);
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

/* "A sample every X uncore cycles": the clock samples boxes that need not signal anything. */
static void test_leader(void)
{
	struct session *s = session_open();
	uint64_t counted;

	set_rates(1000000);
	session_add(s, CLOCK(0, 2000000, .flags = PMON_COUNTER_LEADER));
	session_add(s, UBOX(0, PMON_COUNTER_ANY, 0));
	session_add(s, CBOX(0, 0, PMON_COUNTER_ANY, 0));
	session_add(s, CBOX(0, last_cbox(0), PMON_COUNTER_ANY, 0));
	session_add(s, PCU(0, PMON_COUNTER_ANY, 0));
	session_add(s, UBOX(1, PMON_COUNTER_ANY, 0));
	session_add(s, CORE(device_unit(PMON_UNIT_UBOX, 0, 0).pmi_cpu, 0, 0));
	session_rings(s, 1 << 20, 0, 0, 0);
	session_start(s);
	sleep_us(50000);
	session_stop(s);
	session_verify(s);
	counted = s->tally[0].periods;
	check(counted >= 45 && counted <= 50);
	session_close(s);
}

static uint64_t previous[MAX_COUNTERS];

/* Every counter of the sample stands at its total of that moment. */
static void check_growth(struct session *s, const struct pmon_sample *sample)
{
	uint64_t clock = 0;

	for (unsigned int i = 0; i < sample->nr; i++) {
		const struct pmon_value *value = &sample->values[i];

		check(value->total >= previous[value->id]);
		previous[value->id] = value->total;
		if (value->id == 0)
			clock = value->total;
	}
	for (unsigned int i = 0; i < sample->nr; i++) {
		const struct pmon_value *value = &sample->values[i];

		/* Boxes other than the leader's stop when the freeze reaches them, 200 ns later. */
		if (value->id && s->counter[value->id].unit != PMON_UNIT_UBOX) {
			check(value->total >= clock);
			check(value->total - clock <= 400 * (previous[0] / 2000000));
		}
	}
}

static void test_leader_values(void)
{
	struct session *s = session_open();

	if (!is_exact(&CLOCK(0, 0)))
		ktap_skip("the clock's overflow does not freeze the socket");
	session_add(s, CLOCK(0, 2000000, .flags = PMON_COUNTER_LEADER));
	session_add(s, COUNTER(PMON_UNIT_CBOX, 0, 0, 2, EV_CBOX_CLOCK, 0));
	session_add(s, COUNTER(PMON_UNIT_PCU, 0, 0, 0, 0x00, 0));
	s->on_sample = check_growth;
	session_rings(s, 1 << 20, 0, 0, 0);
	session_start(s);
	sleep_us(30000);
	session_stop(s);
	session_verify(s);
	check(s->tally[0].samples >= 25);
	session_close(s);
}

static void test_storm(void)
{
	struct session *s = session_open();
	struct pmon_info info = device_info();
	struct pmon_stats stats;

	set_rates(0);
	session_add(s, UBOX(0, 0, info.min_period));
	session_add(s, PCU(0, 0, info.min_period));
	session_rings(s, 8 << 20, 0, 0, 0);
	session_start(s);
	model_do("storm ubox 100000000");
	model_do("storm pcu 100000000");
	sleep_us(200000);
	model_do("storm ubox off");
	model_do("storm pcu off");
	session_stop(s);
	stats = session_stats(s);
	ktap_note("%llu samples, %llu raises of a period", (unsigned long long)stats.samples,
		  (unsigned long long)stats.throttled);
	session_verify(s);
	check(stats.throttled || is_polled(&s->counter[0]));
	if (stats.throttled)
		check(s->tally[0].throttles + s->tally[1].throttles >= 1);
	session_close(s);
}

/* After a storm the requested period comes back, and a record says so. */
static uint64_t newest_period;

static void note_period(struct session *s, const struct pmon_sample *sample)
{
	(void)s;
	newest_period = sample->periods;
}

static void test_calm_after_storm(void)
{
	struct session *s = session_open();
	struct pmon_info info = device_info();

	set_rates(0);
	session_add(s, UBOX(0, 0, info.min_period));
	if (is_polled(&s->counter[0]))
		ktap_skip("polling is never throttled");
	s->on_sample = note_period;
	session_rings(s, 8 << 20, 0, 0, 0);
	session_start(s);
	model_do("storm ubox 100000000");
	sleep_us(50000);
	model_do("storm ubox off");
	check(session_stats(s).throttled);
	/* A sample every 5 ms. */
	for (int i = 0; i < 200 && newest_period != 1; i++) {
		model_do("overflow 1000 ubox %s", counter_words(&s->counter[0]));
		sleep_us(5000);
		session_drain(s);
	}
	check_eq(newest_period, 1);
	session_stop(s);
	session_verify(s);
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
	{ "samples by plan: one for each overflow, at its time", test_plan },
	{ "samples of a steady event: spaced by the period", test_steady },
	{ "wraps of counters that do not sample", test_wraps },
	{ "the longest and the shortest period", test_extreme_periods },
	{ "boxes and counters that overflow at the same moment", test_simultaneous },
	{ "boxes that overflow at nearly the same moment", test_close_together },
	{ "an overflow at the moment of the stop", test_overflow_at_stop },
	{ "an overflow at the moment of a read", test_overflow_at_read },
	{ "stop and start go on exactly", test_stop_and_start },
	{ "reset", test_reset },
	{ "the leader samples everything in reach", test_leader },
	{ "the leader's values belong to one moment", test_leader_values },
	{ "a storm is throttled, and nothing is lost", test_storm },
	{ "the period comes back after a storm", test_calm_after_storm },
	{ "a filter", test_filter },
	{ "the core's counters are left alone", test_core_is_left_alone },
	{ "the other socket is left alone", test_other_socket_is_left_alone },
	{ "the frozen time is told", test_frozen_time },
};

int main(int argc, char **argv)
{
	return ktap_run(tests, ARRAY_SIZE(tests), argc > 1 ? argv[1] : NULL);
}
