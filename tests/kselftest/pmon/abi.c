// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contract of the structs: their sizes, their reserved fields, and what the answers say.
 */
#define _GNU_SOURCE
#include <errno.h>
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
	{ "ENOTTY: no such call", test_no_such_call },
	{ "READ: room for fewer counters, for more, and nowhere", test_read_room },
};

int main(int argc, char **argv)
{
	return ktap_run(tests, ARRAY_SIZE(tests), argc > 1 ? argv[1] : NULL);
}
