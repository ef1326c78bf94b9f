/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session with its rings, read by the algorithm of the header, and the account that each counter
 * and each ring must give.
 */
#ifndef PMON_SESSION_H
#define PMON_SESSION_H

#include <stdint.h>

#include "device.h"

#define MAX_COUNTERS	64
#define MAX_RINGS	64

/**
 * struct tally - what the samples of one counter told
 * @samples: samples of its overflows
 * @periods: their periods, summed
 * @overshoots: samples with an overshoot
 * @polled: samples by the poll timer
 * @throttles: throttle records
 * @last: total in its newest sample
 * @times: time of its first samples, ns
 */
struct tally {
	uint64_t samples;
	uint64_t periods;
	uint64_t overshoots;
	uint64_t polled;
	uint64_t throttles;
	uint64_t last;
	uint64_t times[64];
};

/**
 * struct ring - the reader's end of one ring
 * @page: its positions
 * @data: its records
 * @position: next record to read
 * @seq: number of the next record
 * @read: records read, PMON_RECORD_LOST not counted
 * @lost: sum of the PMON_RECORD_LOST records
 */
struct ring {
	struct pmon_ring_page *page;
	const uint8_t *data;
	uint64_t position;
	uint64_t seq;
	uint64_t read;
	uint64_t lost;
};

/**
 * struct session - one open file
 * @fd: the file
 * @nr: counters
 * @counter: the counters, by id
 * @tally: what their samples told
 * @count: what PMON_IOC_READ told last
 * @rings: what PMON_IOC_RINGS answered
 * @map: the mapping, NULL without
 * @ring: the rings
 * @on_sample: called for each sample, may be NULL
 */
struct session {
	int fd;
	unsigned int nr;
	struct pmon_counter counter[MAX_COUNTERS];
	struct tally tally[MAX_COUNTERS];
	struct pmon_count count[MAX_COUNTERS];
	struct pmon_rings rings;
	uint8_t *map;
	struct ring ring[MAX_RINGS];
	void (*on_sample)(struct session *s, const struct pmon_sample *sample);
};

/** session_open() - A session without counters */
struct session *session_open(void);

/**
 * session_add() - Add a counter
 * @s: the session
 * @counter: what PMON_IOC_ADD gets
 *
 * Return: its id.
 */
unsigned int session_add(struct session *s, struct pmon_counter counter);

/**
 * session_rings() - Make and map the rings
 * @s: the session
 * @bytes: data bytes of each
 * @flags: PMON_RINGS_*
 * @wakeup_records: as in struct pmon_rings
 * @wakeup_bytes: as in struct pmon_rings
 */
void session_rings(struct session *s, uint64_t bytes, uint32_t flags, uint32_t wakeup_records,
		   uint32_t wakeup_bytes);

/** session_start() - PMON_IOC_START */
void session_start(struct session *s);

/** session_stop() - PMON_IOC_STOP */
void session_stop(struct session *s);

/** session_read() - PMON_IOC_READ into @count */
void session_read(struct session *s);

/** session_stats() - PMON_IOC_STATS */
struct pmon_stats session_stats(struct session *s);

/**
 * session_drain() - Read all rings until they are empty
 * @s: the session
 *
 * Each record must be well-formed, in order and numbered without a hole, and each sample must agree
 * with those before: total = periods so far * period + overshoot.
 *
 * Return: records read, PMON_RECORD_LOST not counted.
 */
uint64_t session_drain(struct session *s);

/** session_lost() - Records that the rings say were lost */
uint64_t session_lost(struct session *s);

/**
 * session_verify() - What must hold for a stopped session
 * @s: the session
 *
 * The rings are read. Totals are what the model says has happened since `truth clear`; the
 * periods of the samples are total / period, where none was lost; records produced are those read
 * and those lost.
 */
void session_verify(struct session *s);

/** session_close() - Unmap and close */
void session_close(struct session *s);

#endif
