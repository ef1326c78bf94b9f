// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings: nothing is lost without being counted, the reader is woken when it asked to be, and
 * no program can hurt the kernel by what it does to the mapping.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktap.h"
#include "model.h"
#include "plan.h"

/* A sample of the UBox's counter, with one value. */
#define SAMPLE_BYTES	(sizeof(struct pmon_sample) + sizeof(struct pmon_value))

/* A session in which only overflows of the plan make records. */
static struct session *quiet_session(void)
{
	struct session *s = session_open();

	model_do("rate ubox 0x42 0x08 0");
	model_do("truth clear");
	session_add(s, UBOX(0, 0, 1000));
	return s;
}

/* One record, now. */
static void make_record(struct session *s)
{
	plan_overflow(&s->counter[0], 100);
	sleep_us(device_unit(PMON_UNIT_UBOX, 0, 0).mode == PMON_MODE_POLL ?
		 device_info().poll_interval_us + 100 : 40);
}

static void make_records(struct session *s, unsigned int nr)
{
	while (nr--)
		make_record(s);
}

/* The ring in which the records are. */
static struct ring *used_ring(struct session *s)
{
	uint32_t cpu = device_unit(PMON_UNIT_UBOX, 0, 0).pmi_cpu;

	for (unsigned int i = 0; i < s->rings.nr_rings; i++) {
		if (s->ring[i].page->cpu == cpu)
			return &s->ring[i];
	}
	fail("CPU %u has no ring", cpu);
}

/* More records than the ring holds; then room again, and a record that says how many were lost. */
static void try_size(uint64_t bytes, uint32_t flags)
{
	struct session *s = quiet_session();
	uint64_t room = bytes / SAMPLE_BYTES;
	struct pmon_ring_page *page;
	struct ring *ring;
	unsigned int more = room < 200 ? room + 10 : 20;

	session_rings(s, bytes, flags, 0, 0);
	ring = used_ring(s);
	page = ring->page;
	session_start(s);
	make_records(s, more);
	check_eq(page->produced, more);
	check_eq(page->lost, more > room ? more - room : 0);
	session_drain(s);
	check_eq(page->produced, ring->read + page->lost);
	make_records(s, 3);
	session_stop(s);
	session_verify(s);
	check_eq(page->produced, more + 3);
	if (!(flags & PMON_RINGS_OVERWRITE))
		check_eq(ring->lost, page->lost);
	if (flags & PMON_RINGS_OVERWRITE)
		check(page->head - page->oldest <= bytes);
	session_close(s);
}

static void test_each_size(void)
{
	for (uint64_t bytes = PMON_RING_MIN_BYTES; bytes <= PMON_RING_MAX_BYTES; bytes *= 2)
		try_size(bytes, 0);
}

static void test_each_size_overwriting(void)
{
	for (uint64_t bytes = PMON_RING_MIN_BYTES; bytes <= PMON_RING_MAX_BYTES; bytes *= 2)
		try_size(bytes, PMON_RINGS_OVERWRITE);
}

static uint64_t newest_total;

static void note_total(struct session *s, const struct pmon_sample *sample)
{
	(void)s;
	check(!newest_total || sample->values[0].total == newest_total + 1000);
	newest_total = sample->values[0].total;
}

/* Overwriting keeps the newest records, without a hole among them. */
static void test_overwrite_keeps_newest(void)
{
	struct session *s = quiet_session();

	s->on_sample = note_total;
	session_rings(s, PMON_RING_MIN_BYTES, PMON_RINGS_OVERWRITE, 0, 0);
	session_start(s);
	make_records(s, 150);
	session_stop(s);
	session_drain(s);
	check_eq(newest_total, 150000);
	check_eq(used_ring(s)->read, PMON_RING_MIN_BYTES / SAMPLE_BYTES);
	session_close(s);
}

static int is_readable(struct session *s)
{
	struct pollfd fd = { .fd = s->fd, .events = POLLIN };

	return poll(&fd, 1, 0) == 1 && fd.revents & POLLIN;
}

static void test_wakeup_by_records(void)
{
	struct session *s = quiet_session();

	session_rings(s, 65536, 0, 5, 0);
	session_start(s);
	for (int round = 0; round < 3; round++) {
		make_records(s, 4);
		check(!is_readable(s));
		make_record(s);
		check(is_readable(s));
		session_drain(s);
		check(!is_readable(s));
	}
	session_stop(s);
	session_close(s);
}

static void test_wakeup_by_bytes(void)
{
	struct session *s = quiet_session();

	session_rings(s, 65536, 0, 0, 3 * SAMPLE_BYTES);
	session_start(s);
	for (int round = 0; round < 3; round++) {
		make_records(s, 2);
		check(!is_readable(s));
		make_record(s);
		check(is_readable(s));
		session_drain(s);
		check(!is_readable(s));
	}
	session_stop(s);
	session_close(s);
}

static void test_wakeup_at_half(void)
{
	struct session *s = quiet_session();
	unsigned int half = PMON_RING_MIN_BYTES / 2 / SAMPLE_BYTES;

	session_rings(s, PMON_RING_MIN_BYTES, 0, 0, 0);
	session_start(s);
	make_records(s, half);
	check(!is_readable(s));
	make_record(s);
	check(is_readable(s));
	session_stop(s);
	session_close(s);
}

/* A reader that sleeps in poll() is woken by the record, not by its time-out. */
static void test_sleeping_reader(void)
{
	struct session *s = quiet_session();
	struct pollfd fd = { .fd = s->fd, .events = POLLIN };
	uint64_t begin, slept;

	session_rings(s, 65536, 0, 1, 0);
	session_start(s);
	check_eq(poll(&fd, 1, 5), 0);
	plan_overflow(&s->counter[0], 3000000);
	begin = now_ns();
	check_eq(poll(&fd, 1, 1000), 1);
	slept = now_ns() - begin;
	check(fd.revents & POLLIN);
	check(slept >= 2500000 && slept <= 30000000);
	check_eq(session_drain(s), 1);
	session_stop(s);
	session_close(s);
}

/* Whatever stands in the tail, the kernel writes nowhere else and counts what it cannot store. */
static void test_damaged_tail(void)
{
	static const uint64_t tails[] = {
		1, 7, 1000000, UINT64_MAX, 1ULL << 63, (uint64_t)-4096,
	};

	for (uint32_t flags = 0; flags <= PMON_RINGS_OVERWRITE; flags++) {
		for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
			struct session *s = quiet_session();
			struct pmon_ring_page *page;

			session_rings(s, PMON_RING_MIN_BYTES, flags, 0, 0);
			page = used_ring(s)->page;
			session_start(s);
			make_records(s, 2);
			page->tail = tails[i];
			make_records(s, 60);
			check_eq(page->produced, 62);
			page->tail = used_ring(s)->position;
			/* A tail from the future makes overwritten records count as read. */
			if (!flags)
				session_drain(s);
			make_records(s, 2);
			session_stop(s);
			if (!flags)
				session_drain(s);
			check_eq(session_stats(s).samples, 64);
			session_read(s);
			check_eq(s->count[0].total, 64000);
			session_close(s);
		}
	}
}

/* A program that writes over everything in the mapping hurts itself only. */
static void test_scribbled_mapping(void)
{
	for (uint32_t flags = 0; flags <= PMON_RINGS_OVERWRITE; flags++) {
		struct session *s = quiet_session();
		struct pmon_stats stats;

		session_rings(s, PMON_RING_MIN_BYTES, flags, 1, 0);
		session_start(s);
		make_records(s, 3);
		for (unsigned int pattern = 0; pattern < 256; pattern += 51) {
			memset(s->map, pattern, s->rings.map_size);
			make_records(s, 60);
		}
		session_stop(s);
		stats = session_stats(s);
		check_eq(stats.samples, 363);
		session_read(s);
		check_eq(s->count[0].total, 363000);
		s->rings.nr_rings = 0;
		session_close(s);
	}
}

/* The error number of mapping @bytes from @offset. */
static int map_error(struct session *s, size_t bytes, off_t offset, int protection, int flags)
{
	void *map = mmap(NULL, bytes, protection, flags, s->fd, offset);

	if (map == MAP_FAILED)
		return errno;
	munmap(map, bytes);
	return 0;
}

static void test_mapping_rules(void)
{
	const int both = PROT_READ | PROT_WRITE;
	struct session *s = quiet_session();
	size_t size;

	check_errno(map_error(s, 4096, 0, both, MAP_SHARED), ENOBUFS);
	session_rings(s, PMON_RING_MIN_BYTES, 0, 0, 0);
	size = s->rings.map_size;
	check_errno(map_error(s, size + 4096, 0, both, MAP_SHARED), EINVAL);
	check_errno(map_error(s, size - 4096, 0, both, MAP_SHARED), EINVAL);
	check_errno(map_error(s, 4096, 0, both, MAP_SHARED), EINVAL);
	check_errno(map_error(s, size, 4096, both, MAP_SHARED), EINVAL);
	check_errno(map_error(s, size, 0, both, MAP_PRIVATE), EINVAL);
	check_errno(map_error(s, size, 0, both | PROT_EXEC, MAP_SHARED), EINVAL);
	/* A second reader may look on. */
	check_errno(map_error(s, size, 0, both, MAP_SHARED), 0);
	check(mremap(s->map, size, size + 4096, MREMAP_MAYMOVE) == MAP_FAILED);
	session_close(s);
}

static void test_partial_unmap(void)
{
	struct session *s = quiet_session();
	size_t size;

	session_rings(s, 65536, 0, 0, 0);
	size = s->rings.map_size;
	session_start(s);
	make_records(s, 3);
	/* Refused or done, it is safe. */
	if (munmap(s->map + size - 4096, 4096))
		check_errno(errno, EINVAL);
	make_records(s, 3);
	session_stop(s);
	check_eq(session_stats(s).samples, 6);
	munmap(s->map, size);
	check(!close(s->fd));
}

/* The mapping outlives the file: the pages stay until the last of both is gone. */
static void test_use_after_close(void)
{
	struct session *s = quiet_session();
	struct ring *ring;

	session_rings(s, 65536, 0, 0, 0);
	ring = used_ring(s);
	session_start(s);
	make_records(s, 5);
	check(!close(s->fd));
	sleep_us(5000);
	check_eq(session_drain(s), 5);
	check_eq(ring->page->produced, 5);
	memset(s->map, 0xff, s->rings.map_size);
	check(!munmap(s->map, s->rings.map_size));
}

/* The rings are the opener's: a child does not inherit the mapping. */
static void test_fork(void)
{
	struct session *s = quiet_session();
	pid_t child;
	int status;

	session_rings(s, 65536, 0, 0, 0);
	session_start(s);
	make_records(s, 2);
	child = fork();
	if (!child) {
		/* Read, or die of it. */
		volatile uint64_t produced = used_ring(s)->page->produced;

		_exit(produced == 2 ? 0 : 1);
	}
	check_eq(waitpid(child, &status, 0), child);
	check(WIFSIGNALED(status) ? WTERMSIG(status) == SIGSEGV : !WEXITSTATUS(status));
	make_records(s, 2);
	session_stop(s);
	session_verify(s);
	check_eq(s->tally[0].samples, 4);
	session_close(s);
}

/* Each CPU that can produce has its ring, and only those. */
static void test_rings_by_cpu(void)
{
	struct session *s = session_open();
	uint32_t cpus = device_info().nr_cpus;
	uint64_t seen = 0;

	for (uint32_t cpu = 0; cpu < cpus; cpu++)
		session_add(s, CORE(cpu, 0, 100000));
	session_rings(s, PMON_RING_MIN_BYTES, 0, 0, 0);
	check_eq(s->rings.nr_rings, cpus);
	for (unsigned int i = 0; i < cpus; i++)
		seen |= 1ULL << s->ring[i].page->cpu;
	check_eq(seen, (1ULL << cpus) - 1);
	session_close(s);

	s = quiet_session();
	session_rings(s, PMON_RING_MIN_BYTES, 0, 0, 0);
	check_eq(s->rings.nr_rings, 1);
	session_close(s);
}

static const struct test tests[] = {
	{ "produced = read + lost, for every size", test_each_size },
	{ "produced = read + lost, for every size, overwriting", test_each_size_overwriting },
	{ "overwriting keeps the newest records", test_overwrite_keeps_newest },
	{ "a wakeup after so many records", test_wakeup_by_records },
	{ "a wakeup at so many bytes", test_wakeup_by_bytes },
	{ "a wakeup at half of the ring", test_wakeup_at_half },
	{ "a sleeping reader is woken", test_sleeping_reader },
	{ "a damaged tail", test_damaged_tail },
	{ "a mapping that is written over", test_scribbled_mapping },
	{ "rules of mmap()", test_mapping_rules },
	{ "a part of the mapping is unmapped", test_partial_unmap },
	{ "the mapping outlives the file", test_use_after_close },
	{ "fork", test_fork },
	{ "one ring for each CPU that produces", test_rings_by_cpu },
};

int main(int argc, char **argv)
{
	return ktap_run(tests, ARRAY_SIZE(tests), argc > 1 ? argv[1] : NULL);
}
