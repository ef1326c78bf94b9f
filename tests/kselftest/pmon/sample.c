// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of uncore counters: one for each overflow, at its event, whatever else happens at that
 * moment.
 */
#define _GNU_SOURCE
#include "ktap.h"
#include "model.h"
#include "plan.h"

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

static const struct test tests[] = {
	{ "samples by plan: one for each overflow, at its time", test_plan },
	{ "samples of a steady event: spaced by the period", test_steady },
	{ "boxes and counters that overflow at the same moment", test_simultaneous },
	{ "boxes that overflow at nearly the same moment", test_close_together },
	{ "an overflow at the moment of the stop", test_overflow_at_stop },
	{ "an overflow at the moment of a read", test_overflow_at_read },
	{ "the leader samples everything in reach", test_leader },
	{ "the leader's values belong to one moment", test_leader_values },
	{ "a storm is throttled, and nothing is lost", test_storm },
	{ "the period comes back after a storm", test_calm_after_storm },
};

int main(int argc, char **argv)
{
	return ktap_run(tests, ARRAY_SIZE(tests), argc > 1 ? argv[1] : NULL);
}
