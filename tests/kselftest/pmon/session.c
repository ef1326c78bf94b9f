// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ktap.h"
#include "model.h"
#include "plan.h"
#include "session.h"

/* Longest record that is read: a sample with each counter of the session. */
#define MAX_RECORD	(sizeof(struct pmon_sample) + MAX_COUNTERS * sizeof(struct pmon_value))

struct session *session_open(void)
{
	struct session *s = calloc(1, sizeof(*s));

	check(s);
	s->fd = device_open();
	return s;
}

unsigned int session_add(struct session *s, struct pmon_counter counter)
{
	int error = device_call(s->fd, PMON_IOC_ADD, &counter);

	if (error)
		fail("no counter of unit %u, socket %u, box %u: %s", counter.unit, counter.socket,
		     counter.box, strerrorname_np(error));
	check_eq(counter.id, s->nr);
	check(s->nr < MAX_COUNTERS);
	s->counter[s->nr] = counter;
	return s->nr++;
}

void session_rings(struct session *s, uint64_t bytes, uint32_t flags, uint32_t wakeup_records,
		   uint32_t wakeup_bytes)
{
	struct pmon_map_page *first;

	s->rings = (struct pmon_rings) {
		.size = sizeof(s->rings), .flags = flags, .bytes = bytes,
		.wakeup_records = wakeup_records, .wakeup_bytes = wakeup_bytes,
	};
	check_errno(device_call(s->fd, PMON_IOC_RINGS, &s->rings), 0);
	s->map = mmap(NULL, s->rings.map_size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (s->map == MAP_FAILED)
		fail("mmap of the rings: %s", strerrorname_np(errno));

	first = (void *)s->map;
	check_eq(first->version, PMON_ABI_VERSION);
	check_eq(first->nr_rings, s->rings.nr_rings);
	check(first->nr_rings >= 1 && first->nr_rings <= MAX_RINGS);
	check_eq(first->ring_offset + first->nr_rings * first->ring_stride, s->rings.map_size);
	for (unsigned int i = 0; i < first->nr_rings; i++) {
		struct ring *ring = &s->ring[i];

		ring->page = (void *)(s->map + first->ring_offset + i * first->ring_stride);
		ring->data = (uint8_t *)ring->page + ring->page->data_offset;
		check_eq(ring->page->flags, flags);
		check_eq(ring->page->data_size, bytes);
		check(ring->page->data_offset + bytes <= first->ring_stride);
	}
}

void session_start(struct session *s)
{
	check_errno(device_call(s->fd, PMON_IOC_START, NULL), 0);
}

void session_stop(struct session *s)
{
	check_errno(device_call(s->fd, PMON_IOC_STOP, NULL), 0);
}

void session_read(struct session *s)
{
	struct pmon_read read = {
		.size = sizeof(read), .nr = MAX_COUNTERS, .counts = (uintptr_t)s->count,
	};

	check_errno(device_call(s->fd, PMON_IOC_READ, &read), 0);
	check_eq(read.nr, s->nr);
}

struct pmon_stats session_stats(struct session *s)
{
	struct pmon_stats stats = { .size = sizeof(stats) };

	check_errno(device_call(s->fd, PMON_IOC_STATS, &stats), 0);
	return stats;
}

/* Copies the next record, by the reader's algorithm of the header. Returns 0 when there is none. */
static int next_record(struct ring *ring, void *record)
{
	struct pmon_ring_page *page = ring->page;
	int overwrite = page->flags & PMON_RINGS_OVERWRITE;
	uint64_t mask = page->data_size - 1, head, oldest;
	struct pmon_record header;
	uint8_t *to = record;

again:
	head = __atomic_load_n(&page->head, __ATOMIC_ACQUIRE);
	oldest = __atomic_load_n(&page->oldest, __ATOMIC_ACQUIRE);
	if (overwrite && oldest > ring->position)
		ring->position = oldest;
	if (ring->position == head)
		return 0;

	for (unsigned int i = 0; i < sizeof(header); i++)
		((uint8_t *)&header)[i] = ring->data[(ring->position + i) & mask];
	if (header.size < sizeof(header) || header.size % 8 || header.size > MAX_RECORD ||
	    header.size > head - ring->position)
		memset(&header, 0, sizeof(header));
	for (unsigned int i = 0; i < header.size; i++)
		to[i] = ring->data[(ring->position + i) & mask];

	if (overwrite) {
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&page->oldest, __ATOMIC_RELAXED) > ring->position)
			goto again;
	}
	if (!header.size)
		fail("no record can stand at position %llu of ring %u",
		     (unsigned long long)ring->position, page->cpu);
	ring->position += header.size;
	return 1;
}

/* Whether a sample of counter @id shows the total of counter @other. */
static int is_in_reach(struct session *s, const struct pmon_sample *sample, unsigned int other)
{
	const struct pmon_counter *from = &s->counter[sample->id], *to = &s->counter[other];

	if (from->flags & PMON_COUNTER_LEADER)
		return to->unit == PMON_UNIT_CORE ? to->box == sample->cpu
						  : to->socket == sample->socket;
	if (from->unit == PMON_UNIT_CORE)
		return to->unit == PMON_UNIT_CORE && to->box == from->box;
	return to->unit != PMON_UNIT_CORE && to->socket == from->socket;
}

/* A sample shows each counter in reach once, and none that is not. */
static void check_values(struct session *s, const struct pmon_sample *sample)
{
	uint64_t seen = 0;

	check_eq(sample->record.size, sizeof(*sample) + sample->nr * sizeof(struct pmon_value));
	for (unsigned int i = 0; i < sample->nr; i++) {
		const struct pmon_value *value = &sample->values[i];

		check(value->id < s->nr);
		check_eq(value->__reserved, 0);
		if (seen >> value->id & 1)
			fail("counter %u is twice in a sample", value->id);
		seen |= 1ULL << value->id;
	}
	for (unsigned int id = 0; id < s->nr; id++) {
		if ((seen >> id & 1) != (uint64_t)is_in_reach(s, sample, id))
			fail("a sample of counter %u %s counter %u", sample->id,
			     seen >> id & 1 ? "has" : "has not", id);
	}
}

static void take_sample(struct session *s, struct ring *ring, const struct pmon_sample *sample)
{
	const struct pmon_counter *counter = &s->counter[sample->id];
	struct tally *tally = &s->tally[sample->id];
	uint64_t total = 0;

	check(sample->id < s->nr);
	check_values(s, sample);
	for (unsigned int i = 0; i < sample->nr; i++) {
		if (sample->values[i].id == sample->id)
			total = sample->values[i].total;
	}
	check_eq(sample->cpu, ring->page->cpu);
	check_eq(!!(sample->record.misc & PMON_SAMPLE_LEADER),
		 !!(counter->flags & PMON_COUNTER_LEADER));
	check(sample->periods >= 1);
	check_eq(total % counter->period, sample->overshoot);
	check(total > tally->last);
	if (tally->samples < ARRAY_SIZE(tally->times))
		tally->times[tally->samples] = sample->record.time;
	tally->samples++;
	tally->periods += sample->periods;
	tally->overshoots += sample->overshoot != 0;
	tally->polled += !!(sample->record.misc & PMON_SAMPLE_POLL);
	tally->last = total;
	if (!session_lost(s))
		check_eq(total, tally->periods * counter->period + sample->overshoot);
	if (s->on_sample)
		s->on_sample(s, sample);
}

/* Takes in one record; returns whether it counts as produced. */
static int take_record(struct session *s, struct ring *ring, const struct pmon_record *record)
{
	const struct pmon_throttle *throttle = (const void *)record;

	if (record->type == PMON_RECORD_LOST) {
		check_eq(record->size, sizeof(struct pmon_lost));
		ring->lost += ((const struct pmon_lost *)record)->lost;
		ring->seq += ((const struct pmon_lost *)record)->lost;
		check_eq(record->seq, ring->seq);
		return 0;
	}
	if (ring->page->flags & PMON_RINGS_OVERWRITE)
		check(record->seq >= ring->seq);
	else
		check_eq(record->seq, ring->seq);
	ring->seq = record->seq + 1;

	if (record->type == PMON_RECORD_SAMPLE) {
		take_sample(s, ring, (const void *)record);
		return 1;
	}
	check_eq(record->type, PMON_RECORD_THROTTLE);
	check_eq(record->size, sizeof(*throttle));
	check(throttle->id < s->nr);
	check_eq(throttle->period % s->counter[throttle->id].period, 0);
	s->tally[throttle->id].throttles++;
	return 1;
}

uint64_t session_drain(struct session *s)
{
	uint64_t buffer[MAX_RECORD / 8 + 1], read = 0;

	for (unsigned int i = 0; i < s->rings.nr_rings; i++) {
		struct ring *ring = &s->ring[i];

		while (next_record(ring, buffer)) {
			ring->read += take_record(s, ring, (const void *)buffer);
			__atomic_store_n(&ring->page->tail, ring->position, __ATOMIC_RELEASE);
		}
		read += ring->read;
	}
	return read;
}

uint64_t session_lost(struct session *s)
{
	uint64_t lost = 0;

	for (unsigned int i = 0; i < s->rings.nr_rings; i++)
		lost += __atomic_load_n(&s->ring[i].page->lost, __ATOMIC_RELAXED);
	return lost;
}

void session_verify(struct session *s)
{
	char *truth = model_ask("truth");
	struct pmon_stats stats = session_stats(s);
	uint64_t lost = session_lost(s), samples = 0, throttles = 0;

	session_drain(s);
	session_read(s);
	for (unsigned int id = 0; id < s->nr; id++) {
		const struct pmon_counter *counter = &s->counter[id];
		uint64_t total = s->count[id].total, counted = truth_of(truth, counter);

		if (total != counted)
			fail("counter %u (unit %u): total %llu, truth %llu", id, counter->unit,
			     (unsigned long long)total, (unsigned long long)counted);
		if (!lost && counter->period)
			check_eq(s->tally[id].periods, total / counter->period);
		samples += s->tally[id].samples;
		throttles += s->tally[id].throttles;
	}
	check_eq(stats.lost, lost);
	if (!lost)
		check_eq(stats.samples, samples);
	for (unsigned int i = 0; i < s->rings.nr_rings; i++) {
		struct ring *ring = &s->ring[i];

		check_eq(ring->page->produced, ring->read + ring->page->lost);
		check(ring->lost <= ring->page->lost);
	}
	free(truth);
}

void session_close(struct session *s)
{
	if (s->map)
		check(!munmap(s->map, s->rings.map_size));
	check(!close(s->fd));
	free(s);
}
