// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contract of each call: what sizes of struct it takes, and one test per error number.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ktap.h"
#include "session.h"

/* A valid argument of each call, followed by room for a longer struct. */
struct argument {
	union {
		uint32_t size;
		struct pmon_info info;
		struct pmon_unit_info unit;
		struct pmon_counter counter;
		struct pmon_rings rings;
		struct pmon_read read;
		struct pmon_stats stats;
	};
	uint8_t tail[64];
};

/**
 * struct call - one call that takes a struct
 * @name: of the call
 * @command: its number
 * @size: of its struct
 * @fill: makes a valid argument, all bytes of which are 0 before
 * @flags: offset of a field that must be 0 but for known flags
 */
struct call {
	const char *name;
	unsigned long command;
	size_t size;
	void (*fill)(struct argument *argument);
	size_t flags;
};

static void fill_none(struct argument *argument)
{
	(void)argument;
}

static void fill_counter(struct argument *argument)
{
	argument->counter = CLOCK(0, 0);
}

static void fill_rings(struct argument *argument)
{
	argument->rings.bytes = PMON_RING_MIN_BYTES;
}

static const struct call calls[] = {
	{ "INFO", PMON_IOC_INFO, sizeof(struct pmon_info), fill_none,
	  offsetof(struct pmon_info, flags) },
	{ "UNIT", PMON_IOC_UNIT, sizeof(struct pmon_unit_info), fill_none, 0 },
	{ "ADD", PMON_IOC_ADD, sizeof(struct pmon_counter), fill_counter,
	  offsetof(struct pmon_counter, flags) },
	{ "RINGS", PMON_IOC_RINGS, sizeof(struct pmon_rings), fill_rings,
	  offsetof(struct pmon_rings, flags) },
	{ "READ", PMON_IOC_READ, sizeof(struct pmon_read), fill_none,
	  offsetof(struct pmon_read, flags) },
	{ "STATS", PMON_IOC_STATS, sizeof(struct pmon_stats), fill_none,
	  offsetof(struct pmon_stats, flags) },
};

/* Makes the call in a session of its own, with the struct said to be @size bytes. */
static int call_sized(const struct call *call, struct argument *argument, size_t size)
{
	struct session *s = session_open();
	int error;

	if (call->command == PMON_IOC_RINGS)
		session_add(s, CLOCK(0, 0));
	argument->size = size;
	error = device_call(s->fd, call->command, argument);
	session_close(s);
	return error;
}

static struct argument valid(const struct call *call)
{
	struct argument argument;

	memset(&argument, 0, sizeof(argument));
	call->fill(&argument);
	return argument;
}

/* The error of adding one counter in a session of its own. */
static int error_of(struct pmon_counter counter)
{
	struct session *s = session_open();
	int error = device_call(s->fd, PMON_IOC_ADD, &counter);

	session_close(s);
	return error;
}

static void test_sizes(void)
{
	for (const struct call *call = calls; call < calls + ARRAY_SIZE(calls); call++) {
		static const size_t short_sizes[] = { 0, 4, 8 };
		struct argument argument;
		size_t size = call->size;

		ktap_note("%s", call->name);
		argument = valid(call);
		check_errno(call_sized(call, &argument, size), 0);
		for (size_t i = 0; i < ARRAY_SIZE(short_sizes); i++) {
			argument = valid(call);
			check_errno(call_sized(call, &argument, short_sizes[i]), EINVAL);
		}
		argument = valid(call);
		check_errno(call_sized(call, &argument, size - 4), EINVAL);
		for (size_t more = 1; more <= sizeof(argument.tail); more += 21) {
			argument = valid(call);
			check_errno(call_sized(call, &argument, size + more), 0);
			argument = valid(call);
			*((uint8_t *)&argument + size + more - 1) = 1;
			check_errno(call_sized(call, &argument, size + more), E2BIG);
		}
	}
}

static void test_answer_stays_in_its_size(void)
{
	for (const struct call *call = calls; call < calls + ARRAY_SIZE(calls); call++) {
		struct argument argument = valid(call);
		uint8_t *bytes = (uint8_t *)&argument;

		memset(bytes + call->size, 0xa5, sizeof(argument) - call->size);
		check_errno(call_sized(call, &argument, call->size), 0);
		for (size_t i = call->size; i < sizeof(argument); i++)
			check_eq(bytes[i], 0xa5);
	}
}

static void test_bad_pointer(void)
{
	long page = sysconf(_SC_PAGESIZE);
	uint8_t *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	check(map != MAP_FAILED);
	check(!munmap(map + page, page));
	for (const struct call *call = calls; call < calls + ARRAY_SIZE(calls); call++) {
		struct argument argument = valid(call);
		struct session *s = session_open();
		void *partly = map + page - call->size + 4;

		ktap_note("%s", call->name);
		if (call->command == PMON_IOC_RINGS)
			session_add(s, CLOCK(0, 0));
		check_errno(device_call(s->fd, call->command, NULL), EFAULT);
		check_errno(device_call(s->fd, call->command, (void *)8), EFAULT);
		/* The last bytes are not there. */
		argument.size = call->size;
		memcpy(partly, &argument, call->size - 4);
		check_errno(device_call(s->fd, call->command, partly), EFAULT);
		/* All can be read, nothing be written. */
		memcpy(map, &argument, call->size);
		check(!mprotect(map, page, PROT_READ));
		check_errno(device_call(s->fd, call->command, map), EFAULT);
		check(!mprotect(map, page, PROT_READ | PROT_WRITE));
		session_close(s);
	}
}

static void test_unknown_flags(void)
{
	static const uint32_t known[] = {
		[PMON_IOC_ADD & 0xff] = PMON_COUNTER_LEADER | PMON_COUNTER_EXCLUDE_USER |
					PMON_COUNTER_EXCLUDE_KERNEL,
		[PMON_IOC_RINGS & 0xff] = PMON_RINGS_OVERWRITE,
		[PMON_IOC_STATS & 0xff] = 0,
	};

	for (const struct call *call = calls; call < calls + ARRAY_SIZE(calls); call++) {
		if (!call->flags)
			continue;
		for (unsigned int bit = 0; bit < 32; bit++) {
			struct argument argument = valid(call);

			if (known[call->command & 0xff] >> bit & 1)
				continue;
			*(uint32_t *)((uint8_t *)&argument + call->flags) = 1U << bit;
			check_errno(call_sized(call, &argument, call->size), EINVAL);
		}
	}
}

static void test_reserved_fields(void)
{
	struct session *s = session_open();
	struct pmon_rings rings = {
		.size = sizeof(rings), .bytes = PMON_RING_MIN_BYTES, .__reserved = 1,
	};
	struct pmon_read read = { .size = sizeof(read), .__reserved = 1 };

	session_add(s, CLOCK(0, 0));
	check_errno(device_call(s->fd, PMON_IOC_RINGS, &rings), EINVAL);
	check_errno(device_call(s->fd, PMON_IOC_READ, &read), EINVAL);
	session_close(s);
}

/* Fields marked "out" may hold anything, so that a struct can be used again. */
static void test_fields_for_answers(void)
{
	struct session *s = session_open();
	struct pmon_rings rings = {
		.size = sizeof(rings), .bytes = PMON_RING_MIN_BYTES, .nr_rings = 7, .map_size = 7,
	};
	struct pmon_count count;
	struct pmon_read read = {
		.size = sizeof(read), .nr = 1, .counts = (unsigned long)&count, .time = 7,
	};

	session_add(s, CLOCK(0, 0, .id = 7, .width = 7));
	check_errno(device_call(s->fd, PMON_IOC_RINGS, &rings), 0);
	check_errno(device_call(s->fd, PMON_IOC_READ, &read), 0);
	check_errno(device_call(s->fd, PMON_IOC_READ, &read), 0);
	session_close(s);
}

static void test_no_such_call(void)
{
	static const unsigned long commands[] = {
		_IO(PMON_IOC_MAGIC, 9), _IO(PMON_IOC_MAGIC, 255), _IO(PMON_IOC_MAGIC - 1, 0),
		_IOR(PMON_IOC_MAGIC, 0, struct pmon_info), _IOWR(PMON_IOC_MAGIC, 7, struct pmon_read),
		FIONREAD,
	};
	struct session *s = session_open();
	struct argument argument = { .size = sizeof(struct pmon_info) };

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		check_errno(device_call(s->fd, commands[i], &argument), ENOTTY);
	session_close(s);
}

static void test_plain_argument(void)
{
	static const unsigned long commands[] = { PMON_IOC_START, PMON_IOC_STOP, PMON_IOC_RESET };
	struct session *s = session_open();

	session_add(s, CLOCK(0, 0));
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		check_errno(device_call(s->fd, commands[i], (void *)1), EINVAL);
	session_close(s);
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

/* 329468 section 1.5 (edge detection and inversion follow the threshold), tables 2-14, 2-16, 2-121. */
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

static void test_read_room(void)
{
	struct session *s = session_open();
	struct pmon_count counts[2] = { { .total = 7 }, { .total = 7 } };
	struct pmon_read read = { .size = sizeof(read), .nr = 1, .counts = (uintptr_t)counts };

	session_add(s, UBOX(0, 0, 0));
	session_add(s, PCU(0, 0, 0));
	check_errno(device_call(s->fd, PMON_IOC_READ, &read), 0);
	check_eq(read.nr, 2);
	check_eq(counts[0].total, 0);
	check_eq(counts[1].total, 7);
	check(read.time);

	read = (struct pmon_read) { .size = sizeof(read), .nr = 2, .counts = 8 };
	check_errno(device_call(s->fd, PMON_IOC_READ, &read), EFAULT);
	read = (struct pmon_read) { .size = sizeof(read), .nr = UINT32_MAX,
				    .counts = (uintptr_t)counts };
	check_errno(device_call(s->fd, PMON_IOC_READ, &read), 0);
	check_eq(read.nr, 2);
	session_close(s);
}

static void test_machine_is_described(void)
{
	struct pmon_info info = device_info();
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	check_eq(info.size, sizeof(info));
	check_eq(info.abi_version, PMON_ABI_VERSION);
	check_eq(info.nr_cpus, cpus);
	check_eq(info.cpu_family, 6);
	check_eq(info.cpu_model, 62);
	check_eq(info.core_version, 3);
	check_eq(info.core_fixed, 3);
	check_eq(info.core_width, 48);
	check(info.nr_sockets >= 1 && info.poll_interval_us && info.max_rate);
	for (uint32_t unit = PMON_UNIT_UBOX; unit <= PMON_UNIT_CORE; unit++) {
		static const uint32_t counters[] = { 2, 4, 4, 4 }, widths[] = { 44, 44, 48, 48 };
		static const uint32_t fixed[] = { 1, 0, 0, 3 };
		struct pmon_unit_info u = device_unit(unit, 0, 0);

		check(unit == PMON_UNIT_CORE ? u.counters >= 4 : u.counters == counters[unit]);
		check_eq(u.width, widths[unit]);
		check_eq(u.fixed, fixed[unit]);
		check(u.mode == PMON_MODE_PMI || u.mode == PMON_MODE_POLL);
		check(u.pmi_cpu < info.nr_cpus);
		check(!(u.flags & PMON_UNIT_IN_USE));
	}
}

static const struct test tests[] = {
	{ "the machine is described", test_machine_is_described },
	{ "structs: too short, longer with zeros, longer and dirty", test_sizes },
	{ "an answer stays within the caller's size", test_answer_stays_in_its_size },
	{ "EFAULT: a bad pointer to each call", test_bad_pointer },
	{ "EINVAL: each unknown flag", test_unknown_flags },
	{ "EINVAL: reserved fields", test_reserved_fields },
	{ "fields for answers may hold anything", test_fields_for_answers },
	{ "EINVAL: an argument where there is none", test_plain_argument },
	{ "EINVAL: combinations that mean nothing", test_meaningless },
	{ "ENOTTY: no such call", test_no_such_call },
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
	{ "READ: room for fewer counters, for more, and nowhere", test_read_room },
};

int main(int argc, char **argv)
{
	return ktap_run(tests, ARRAY_SIZE(tests), argc > 1 ? argv[1] : NULL);
}
