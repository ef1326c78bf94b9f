// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is refused, with which error number: one test for each.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ktap.h"
#include "session.h"

/* The error of adding one counter in a session of its own. */
static int error_of(struct pmon_counter counter)
{
	struct session *s = session_open();
	int error = device_call(s->fd, PMON_IOC_ADD, &counter);

	session_close(s);
	return error;
}

static void test_unit_not_there(void)
{
	struct pmon_info info = device_info();
	const struct pmon_unit_info rows[] = {
		{ .unit = 4 }, { .unit = UINT32_MAX },
		{ .unit = PMON_UNIT_UBOX, .socket = info.nr_sockets },
		{ .unit = PMON_UNIT_UBOX, .box = 1 },
		{ .unit = PMON_UNIT_PCU, .box = 1 },
		{ .unit = PMON_UNIT_CBOX, .socket = UINT32_MAX },
		{ .unit = PMON_UNIT_CBOX, .box = UINT32_MAX },
		{ .unit = PMON_UNIT_CORE, .box = info.nr_cpus },
		{ .unit = PMON_UNIT_CORE, .box = UINT32_MAX },
	};
	struct session *s = session_open();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pmon_unit_info row = rows[i];

		row.size = sizeof(row);
		check_errno(device_call(s->fd, PMON_IOC_UNIT, &row), ENXIO);
	}
	session_close(s);
}

static void test_counter_not_there(void)
{
	struct pmon_info info = device_info();
	uint32_t boxes = device_unit(PMON_UNIT_CBOX, 0, 0).nr_boxes;

	check_errno(error_of(COUNTER(4, 0, 0, PMON_COUNTER_ANY, 0, 0)), ENXIO);
	check_errno(error_of(UBOX(info.nr_sockets, 0, 0)), ENXIO);
	check_errno(error_of(COUNTER(PMON_UNIT_UBOX, 0, 1, 0, EV_UBOX, 0)), ENXIO);
	check_errno(error_of(COUNTER(PMON_UNIT_PCU, 0, 1, 0, EV_PCU, 0)), ENXIO);
	check_errno(error_of(CBOX(0, boxes, 0, 0)), ENXIO);
	check_errno(error_of(CORE(info.nr_cpus, 0, 0)), ENXIO);
	check_errno(error_of(COUNTER(PMON_UNIT_CORE, 1, 0, 0, EV_INSTRUCTIONS, 0)), ENXIO);
	check_errno(error_of(UBOX(0, 2, 0)), ENXIO);
	check_errno(error_of(CBOX(0, 0, 4, 0)), ENXIO);
	check_errno(error_of(PCU(0, 4, 0)), ENXIO);
	check_errno(error_of(CORE(0, info.core_counters, 0)), ENXIO);
	check_errno(error_of(CORE_FIXED(0, info.core_fixed, 0)), ENXIO);
	check_errno(error_of(COUNTER(PMON_UNIT_UBOX, 0, 0, PMON_COUNTER_FIXED + 1, 0, 0)), ENXIO);
	check_errno(error_of(COUNTER(PMON_UNIT_CBOX, 0, 0, PMON_COUNTER_FIXED, 0, 0)), ENXIO);
	check_errno(error_of(COUNTER(PMON_UNIT_PCU, 0, 0, PMON_COUNTER_FIXED, 0, 0)), ENXIO);
}

static void test_reserved_event_bits(void)
{
	for (uint32_t unit = PMON_UNIT_UBOX; unit <= PMON_UNIT_CORE; unit++) {
		struct pmon_unit_info info = device_unit(unit, 0, 0);

		for (unsigned int bit = 0; bit < 64; bit++) {
			uint64_t config = 1ULL << bit;

			if (info.config_mask & config)
				continue;
			check_errno(error_of(COUNTER(unit, 0, 0, PMON_COUNTER_ANY, config, 0)),
				    EOPNOTSUPP);
		}
	}
	/* Fixed counters have one event, and no choice. */
	for (unsigned int bit = 0; bit < 64; bit++) {
		struct pmon_counter clock = CLOCK(0, 0), cycles = CORE_FIXED(0, 1, 0);

		clock.config = cycles.config = 1ULL << bit;
		check_errno(error_of(clock), EOPNOTSUPP);
		check_errno(error_of(cycles), EOPNOTSUPP);
	}
}

static void test_reserved_filter_bits(void)
{
	for (uint32_t unit = PMON_UNIT_UBOX; unit <= PMON_UNIT_CORE; unit++) {
		struct pmon_unit_info info = device_unit(unit, 0, 0);

		for (unsigned int bit = 0; bit < 4 * 32; bit++) {
			struct pmon_counter counter =
				COUNTER(unit, 0, 0, PMON_COUNTER_ANY, 0, 0);

			if (info.filter_mask[bit / 32] >> bit % 32 & 1)
				continue;
			counter.filter[bit / 32] = 1U << bit % 32;
			check_errno(error_of(counter), EOPNOTSUPP);
		}
	}
}

/* 329468 section 1.5 (edge detection and inversion follow the threshold), tables 2-14 to 2-121. */
static void test_meaningless(void)
{
	const uint32_t any = PMON_COUNTER_ANY;

	check_errno(error_of(COUNTER(PMON_UNIT_UBOX, 0, 0, any, 1 << 18, 0)), EINVAL);
	check_errno(error_of(COUNTER(PMON_UNIT_CBOX, 0, 0, any, 1 << 18, 0)), EINVAL);
	check_errno(error_of(COUNTER(PMON_UNIT_PCU, 0, 0, any, 1 << 18, 0)), EINVAL);
	check_errno(error_of(COUNTER(PMON_UNIT_PCU, 0, 0, any, 0x40000080, 0)), EINVAL);
	check_errno(error_of(COUNTER(PMON_UNIT_PCU, 0, 0, any, 0x80000080, 0)), EINVAL);
	check_errno(error_of(COUNTER(PMON_UNIT_CORE, 0, 0, any, 0x008000c0, 0)), EINVAL);
	/* A thread in the filter, which the event does not ask for. */
	check_errno(error_of(CBOX(0, 0, any, 0, .filter = { 1 })), EINVAL);
	/* Modes are the core's. */
	check_errno(error_of(UBOX(0, 0, 0, .flags = PMON_COUNTER_EXCLUDE_USER)), EINVAL);
	check_errno(error_of(CBOX(0, 0, 0, 0, .flags = PMON_COUNTER_EXCLUDE_KERNEL)), EINVAL);
	check_errno(error_of(CORE(0, 0, 0, .flags = PMON_COUNTER_EXCLUDE_USER |
						   PMON_COUNTER_EXCLUDE_KERNEL)), EINVAL);
	/* A leader that never samples; one that is not the socket's. */
	check_errno(error_of(CLOCK(0, 0, .flags = PMON_COUNTER_LEADER)), EINVAL);
	check_errno(error_of(CORE(0, 0, 100000, .flags = PMON_COUNTER_LEADER)), EINVAL);
}

/* Occupancy is counter 0's (329468 section 2.3); the core's rows are those of SDM table 19-11. */
static void test_wrong_counter(void)
{
	check_errno(error_of(COUNTER(PMON_UNIT_CBOX, 0, 0, 1, 0x11, 0)), EDOM);
	check_errno(error_of(COUNTER(PMON_UNIT_CBOX, 0, 0, 0, 0x11, 0)), 0);
	check_errno(error_of(COUNTER(PMON_UNIT_CBOX, 0, 0, 0, 0x1f, 0)), EDOM);
	check_errno(error_of(CBOX(0, 0, 2, 0)), EDOM);
	check_errno(error_of(COUNTER(PMON_UNIT_CORE, 0, 0, 0, 0x0148, 0)), EDOM);
	check_errno(error_of(COUNTER(PMON_UNIT_CORE, 0, 0, 2, 0x0148, 0)), 0);
	check_errno(error_of(COUNTER(PMON_UNIT_CORE, 0, 0, 0, 0x01c0, 0)), EDOM);
}

static void test_period_limits(void)
{
	uint64_t least = device_info().min_period;
	static const struct pmon_counter counters[] = {
		UBOX(0, 0, 0), CLOCK(0, 0), CBOX(0, 0, 0, 0), PCU(0, 0, 0), CORE(0, 0, 0),
		CORE_FIXED(0, 0, 0),
	};

	check(least > 1);
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		struct pmon_counter counter = counters[i];
		struct pmon_unit_info unit = device_unit(counter.unit, 0, 0);
		int fixed = counter.counter & PMON_COUNTER_FIXED;
		uint64_t span = 1ULL << (fixed ? unit.fixed_width : unit.width);

		counter.period = 1;
		check_errno(error_of(counter), ERANGE);
		counter.period = least - 1;
		check_errno(error_of(counter), ERANGE);
		counter.period = least;
		check_errno(error_of(counter), 0);
		counter.period = span - 1;
		check_errno(error_of(counter), 0);
		counter.period = span;
		check_errno(error_of(counter), ERANGE);
		counter.period = UINT64_MAX;
		check_errno(error_of(counter), ERANGE);
	}
}

static void test_counter_taken(void)
{
	struct session *s = session_open();
	struct pmon_counter again = CBOX(0, 0, 0, 0);

	session_add(s, CBOX(0, 0, 0, 0));
	check_errno(device_call(s->fd, PMON_IOC_ADD, &again), EBUSY);
	check_errno(error_of(again), EBUSY);
	session_add(s, CLOCK(0, 0));
	check_errno(error_of(CLOCK(0, 0)), EBUSY);
	session_close(s);
	check_errno(error_of(again), 0);
}

static void test_filter_taken(void)
{
	struct session *s = session_open();
	struct pmon_counter other =
		COUNTER(PMON_UNIT_CBOX, 0, 0, 1, 0x34, 0, .filter = { 1 << 19 });

	session_add(s, COUNTER(PMON_UNIT_CBOX, 0, 0, 0, 0x34, 0, .filter = { 1 << 18 }));
	check_errno(error_of(other), EBUSY);
	other.filter[0] = 1 << 18;
	check_errno(error_of(other), 0);
	session_close(s);
}

static void test_box_full(void)
{
	struct session *s = session_open();
	struct pmon_counter more =
		COUNTER(PMON_UNIT_CBOX, 0, 0, PMON_COUNTER_ANY, EV_CBOX_CLOCK, 0);

	for (int i = 0; i < 4; i++)
		session_add(s, more);
	check_errno(device_call(s->fd, PMON_IOC_ADD, &more), ENOSPC);
	session_close(s);
}

static void test_second_leader(void)
{
	struct session *s = session_open();
	struct pmon_counter second = UBOX(0, 0, 100000, .flags = PMON_COUNTER_LEADER);

	session_add(s, CLOCK(0, 100000, .flags = PMON_COUNTER_LEADER));
	check_errno(device_call(s->fd, PMON_IOC_ADD, &second), EEXIST);
	second.socket = 1;
	if (device_info().nr_sockets > 1)
		session_add(s, second);
	session_close(s);
}

static void test_too_many_counters(void)
{
	struct pmon_info info = device_info();
	int fd = device_open();
	unsigned int added = 0;
	int error = 0;

	for (uint32_t cpu = 0; cpu < info.nr_cpus && !error; cpu++) {
		for (uint32_t i = 0; i < info.core_counters && !error; i++) {
			struct pmon_counter counter = CORE(cpu, i, 0);

			error = device_call(fd, PMON_IOC_ADD, &counter);
			added += !error;
		}
	}
	for (uint32_t socket = 0; socket < info.nr_sockets && !error; socket++) {
		uint32_t boxes = device_unit(PMON_UNIT_CBOX, socket, 0).nr_boxes;

		for (uint32_t i = 0; i < 4 * boxes && !error; i++) {
			struct pmon_counter counter = COUNTER(PMON_UNIT_CBOX, socket, i / 4, i % 4,
							      EV_CBOX_CLOCK, 0);

			error = device_call(fd, PMON_IOC_ADD, &counter);
			added += !error;
		}
	}
	close(fd);
	if (!error && added < PMON_MAX_COUNTERS)
		ktap_skip("this machine has %u such counters only", added);
	check_errno(error, EMFILE);
	check_eq(added, PMON_MAX_COUNTERS);
}

static void test_ring_limits(void)
{
	static const uint64_t sizes[] = {
		0, 1, 8, 2048, 4095, 4097, 12288, PMON_RING_MAX_BYTES + 1,
		2ULL * PMON_RING_MAX_BYTES, 1ULL << 32, 1ULL << 63, UINT64_MAX,
	};
	struct session *s = session_open();
	struct pmon_rings rings = { .size = sizeof(rings) };

	session_add(s, CLOCK(0, 0));
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		rings.bytes = sizes[i];
		check_errno(device_call(s->fd, PMON_IOC_RINGS, &rings), ERANGE);
	}
	rings.bytes = PMON_RING_MIN_BYTES;
	rings.wakeup_bytes = PMON_RING_MIN_BYTES + 8;
	check_errno(device_call(s->fd, PMON_IOC_RINGS, &rings), ERANGE);
	rings.wakeup_bytes = 8;
	check_errno(device_call(s->fd, PMON_IOC_RINGS, &rings), 0);
	check_errno(device_call(s->fd, PMON_IOC_RINGS, &rings), EEXIST);
	session_close(s);
}

static void test_order_of_calls(void)
{
	struct session *s = session_open();
	struct pmon_rings rings = { .size = sizeof(rings), .bytes = PMON_RING_MIN_BYTES };
	struct pmon_counter counter = UBOX(0, 0, 0);
	struct pmon_counter late = PCU(0, 0, 0);

	check_errno(device_call(s->fd, PMON_IOC_START, NULL), ENODATA);
	check_errno(device_call(s->fd, PMON_IOC_STOP, NULL), EALREADY);
	check_errno(device_call(s->fd, PMON_IOC_RINGS, &rings), ENODATA);
	session_add(s, counter);
	check_errno(device_call(s->fd, PMON_IOC_STOP, NULL), EALREADY);
	session_start(s);
	check_errno(device_call(s->fd, PMON_IOC_START, NULL), EALREADY);
	check_errno(device_call(s->fd, PMON_IOC_ADD, &late), EINPROGRESS);
	check_errno(device_call(s->fd, PMON_IOC_RINGS, &rings), EINPROGRESS);
	check_errno(device_call(s->fd, PMON_IOC_RESET, NULL), EINPROGRESS);
	session_stop(s);
	check_errno(device_call(s->fd, PMON_IOC_STOP, NULL), EALREADY);
	check_errno(device_call(s->fd, PMON_IOC_RINGS, &rings), 0);
	check_errno(device_call(s->fd, PMON_IOC_ADD, &late), EINPROGRESS);
	check_errno(device_call(s->fd, PMON_IOC_RESET, NULL), 0);
	session_close(s);
}

static void test_without_rings(void)
{
	struct session *s = session_open();

	session_add(s, CLOCK(0, 1000000));
	check_errno(device_call(s->fd, PMON_IOC_START, NULL), ENOBUFS);
	check(mmap(NULL, 8192, PROT_READ, MAP_SHARED, s->fd, 0) == MAP_FAILED);
	check_errno(errno, ENOBUFS);
	session_close(s);
}

static void test_cpu_offline(void)
{
	uint32_t cpu = device_info().nr_cpus - 1;
	struct session *s = session_open();
	char command[80];
	int error;

	session_add(s, CORE(cpu, 0, 0));
	snprintf(command, sizeof(command), "echo 0 > /sys/devices/system/cpu/cpu%u/online", cpu);
	if (!cpu || system(command))
		ktap_skip("CPU %u cannot go offline", cpu);
	error = device_call(s->fd, PMON_IOC_START, NULL);
	session_close(s);
	command[5] = '1';
	check(!system(command));
	check_errno(error, ENODEV);
}

static const struct test tests[] = {
	{ "EINVAL: combinations that mean nothing", test_meaningless },
	{ "ENXIO: a unit that is not there", test_unit_not_there },
	{ "ENXIO: a counter that is not there", test_counter_not_there },
	{ "EOPNOTSUPP: each reserved bit of an event", test_reserved_event_bits },
	{ "EOPNOTSUPP: each reserved bit of a filter", test_reserved_filter_bits },
	{ "EDOM: an event on a counter that cannot count it", test_wrong_counter },
	{ "ERANGE: periods", test_period_limits },
	{ "ERANGE, EEXIST: rings", test_ring_limits },
	{ "EBUSY: a counter that is taken", test_counter_taken },
	{ "EBUSY: a filter that is taken", test_filter_taken },
	{ "ENOSPC: a box without free counters", test_box_full },
	{ "EMFILE: more counters than a session may have", test_too_many_counters },
	{ "EEXIST: a second leader of a socket", test_second_leader },
	{ "ENODATA, EALREADY, EINPROGRESS: calls out of order", test_order_of_calls },
	{ "ENOBUFS: sampling and mapping without rings", test_without_rings },
	{ "ENODEV: a CPU that went offline", test_cpu_offline },
};

int main(int argc, char **argv)
{
	return ktap_run(tests, ARRAY_SIZE(tests), argc > 1 ? argv[1] : NULL);
}
