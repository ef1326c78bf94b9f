/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * pmon: performance monitoring of Xeon E5/E7 v2 hosts.
 *
 * A program opens /dev/pmon, adds counters, sizes the rings, maps them, starts
 * the session and reads samples from the rings and totals by PMON_IOC_READ.
 * One open file is one session. When its last descriptor and its last mapping
 * are gone, in any state, the session stops and every register is put back to
 * its value from before the start.
 *
 * Order: PMON_IOC_ADD (any number), PMON_IOC_RINGS (needed for sampling),
 * mmap(), PMON_IOC_START, PMON_IOC_READ or the rings, PMON_IOC_STOP, …
 *
 * Growing: each struct begins with its size as the caller knows it. The kernel
 * takes shorter ones (missing fields are 0) down to the size of the first
 * version, and longer ones, up to 4096 bytes, whose unknown tail is 0. Fields
 * marked "out" may hold anything before a call.
 *
 * poll(): POLLIN when a condition of struct pmon_rings is met or, in a stopped
 * session, while a record is unread; POLLHUP while the session is stopped (not
 * yet started, too) and no record is unread.
 *
 * Errors, the same for every call:
 *   ENOTTY      no such ioctl
 *   EFAULT      a pointer that cannot be read or written
 *   EINVAL      struct too short, a reserved field or unknown flag is not 0, or a
 *               combination that means nothing
 *   E2BIG       struct longer than the kernel's, with a tail that is not 0
 *   EPERM       neither CAP_PERFMON nor CAP_SYS_ADMIN (at open)
 *   ENXIO       no such unit, socket, box, counter or CPU on this machine
 *   ENODEV      the unit's registers are missing on this part, or the CPU is offline
 *   EOPNOTSUPP  the event or filter sets bits that the unit reserves
 *   EDOM        the event cannot be counted by the named counter
 *   ERANGE      the period, ring size or watermark is outside its limits
 *   EBUSY       the counter, its filter or the core PMU belongs to somebody else
 *               (where that is not another session, the kernel log names the
 *               register and, where known, the owner), or too many sessions
 *               count on a CPU
 *   ENOMEM      not enough memory
 *   ENOSPC      no free counter in the box
 *   EMFILE      more than PMON_MAX_COUNTERS counters
 *   EEXIST      the rings exist already, or the socket has a leader already
 *   EINPROGRESS not while the session runs or, for PMON_IOC_ADD, once it has rings
 *   EALREADY    start of a running session, stop of a stopped one
 *   ENODATA     start, or rings, of a session without counters
 *   ENOBUFS     sampling or mmap() without rings
 */
#ifndef _UAPI_LINUX_PMON_H
#define _UAPI_LINUX_PMON_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PMON_ABI_VERSION	1

/** Counters of one session. */
#define PMON_MAX_COUNTERS	512

/**
 * enum pmon_unit - kinds of counting hardware
 * @PMON_UNIT_UBOX: system configuration agent, with the uncore clock
 * @PMON_UNIT_CBOX: last-level cache coherence engine (CBo), one per core
 * @PMON_UNIT_PCU: power control unit
 * @PMON_UNIT_CORE: a logical CPU's own PMU
 */
enum pmon_unit {
	PMON_UNIT_UBOX = 0,
	PMON_UNIT_CBOX = 1,
	PMON_UNIT_PCU = 2,
	PMON_UNIT_CORE = 3,
};

/**
 * enum pmon_mode - how the overflow of a unit's counters is noticed
 * @PMON_MODE_ABSENT: the unit is not there, or cannot be used
 * @PMON_MODE_PMI: by the overflow's own interrupt (tested at load)
 * @PMON_MODE_POLL: by a timer that looks at the counters; same records and totals
 */
enum pmon_mode {
	PMON_MODE_ABSENT = 0,
	PMON_MODE_PMI = 1,
	PMON_MODE_POLL = 2,
};

/**
 * struct pmon_info - the machine (PMON_IOC_INFO)
 * @size: size of this struct
 * @flags: must be 0
 * @abi_version: PMON_ABI_VERSION of the module
 * @nr_sockets: sockets with an uncore; 0 where the CPU model has none that is known
 * @nr_cpus: possible logical CPUs; CPU numbers are below this
 * @cpu_family: CPUID family
 * @cpu_model: CPUID model
 * @cpu_stepping: CPUID stepping
 * @core_version: version of architectural performance monitoring (CPUID.0AH:EAX[7:0])
 * @core_counters: general counters of a logical CPU (CPUID.0AH:EAX[15:8])
 * @core_fixed: fixed counters (CPUID.0AH:EDX[4:0])
 * @core_width: bits of a general counter (CPUID.0AH:EAX[23:16])
 * @core_absent_events: bit i: architectural event i is not available (CPUID.0AH:EBX)
 * @min_period: smallest period that PMON_IOC_ADD takes, events
 * @poll_interval_us: interval of the timer in mode poll, microseconds
 * @max_rate: samples per second and CPU above which sampling is throttled
 */
struct pmon_info {
	__u32 size;
	__u32 flags;
	__u32 abi_version;
	__u32 nr_sockets;
	__u32 nr_cpus;
	__u32 cpu_family;
	__u32 cpu_model;
	__u32 cpu_stepping;
	__u32 core_version;
	__u32 core_counters;
	__u32 core_fixed;
	__u32 core_width;
	__u32 core_absent_events;
	__u32 poll_interval_us;
	__u64 min_period;
	__u64 max_rate;
};

/** The unit's registers were found in use when they were last looked at. */
#define PMON_UNIT_IN_USE	(1U << 0)
/** An uncore PMI needs IA32_DEBUGCTL bit 13 on this machine (found by the self-test). */
#define PMON_UNIT_NEEDS_DEBUGCTL	(1U << 1)
/** An overflow does not freeze the socket on this machine (found by the self-test). */
#define PMON_UNIT_NO_FREEZE	(1U << 2)

/**
 * struct pmon_unit_info - one box (PMON_IOC_UNIT)
 * @size: size of this struct
 * @unit: in: enum pmon_unit
 * @socket: in: socket, from 0; for PMON_UNIT_CORE: 0
 * @box: in: box of the socket, from 0; for PMON_UNIT_CORE: the CPU
 * @nr_boxes: boxes of this unit on the socket (for PMON_UNIT_CORE: possible CPUs)
 * @mode: enum pmon_mode
 * @flags: PMON_UNIT_*
 * @counters: general counters
 * @fixed: fixed counters
 * @width: bits of a general counter
 * @fixed_width: bits of a fixed counter
 * @pmi_cpu: logical CPU that takes the box's PMI and accesses its registers
 * @config_mask: bits that pmon_counter.config may set
 * @filter_mask: bits that pmon_counter.filter may set, by filter register
 */
struct pmon_unit_info {
	__u32 size;
	__u32 unit;
	__u32 socket;
	__u32 box;
	__u32 nr_boxes;
	__u32 mode;
	__u32 flags;
	__u32 counters;
	__u32 fixed;
	__u32 width;
	__u32 fixed_width;
	__u32 pmi_cpu;
	__u64 config_mask;
	__u32 filter_mask[4];
};

/** pmon_counter.counter: any free general counter that can count the event. */
#define PMON_COUNTER_ANY	0xffffffffU
/**
 * pmon_counter.counter: fixed counter n. UBox: 0 is the clock; core: 0 instructions, 1 cycles,
 * 2 reference cycles.
 */
#define PMON_COUNTER_FIXED	0x100U

/** Its overflow samples all counters of the session that the interrupted CPU can reach. */
#define PMON_COUNTER_LEADER	(1U << 0)
/** Core counters: do not count in user mode. */
#define PMON_COUNTER_EXCLUDE_USER	(1U << 1)
/** Core counters: do not count in kernel mode. */
#define PMON_COUNTER_EXCLUDE_KERNEL	(1U << 2)

/**
 * struct pmon_counter - add one counter to the session (PMON_IOC_ADD)
 * @size: size of this struct
 * @unit: enum pmon_unit
 * @socket: socket, from 0; for PMON_UNIT_CORE: 0
 * @box: box of the socket, from 0; for PMON_UNIT_CORE: the CPU
 * @counter: in: counter, PMON_COUNTER_FIXED + n, or PMON_COUNTER_ANY; out: the one taken
 * @flags: PMON_COUNTER_*
 * @config: the event, as the unit's control register wants it: event select in
 *	bits 7:0, unit mask in 15:8, the rest as in pmon_unit_info.config_mask;
 *	0 for fixed counters. Enable, reset and overflow bits are the driver's.
 * @filter: contents of the box's filter registers, 0 where unused
 * @period: events between two samples, or 0 for a counter that only counts
 * @id: out: number of the counter in this session, from 0 in order of adding
 * @width: out: bits of the counter
 */
struct pmon_counter {
	__u32 size;
	__u32 unit;
	__u32 socket;
	__u32 box;
	__u32 counter;
	__u32 flags;
	__aligned_u64 config;
	__u32 filter[4];
	__aligned_u64 period;
	__u32 id;
	__u32 width;
};

/** A full ring overwrites its oldest records instead of dropping the new one. */
#define PMON_RINGS_OVERWRITE	(1U << 0)

/** Limits of pmon_rings.bytes. */
#define PMON_RING_MIN_BYTES	4096U
#define PMON_RING_MAX_BYTES	(64U << 20)

/**
 * struct pmon_rings - make the rings (PMON_IOC_RINGS)
 * @size: size of this struct
 * @flags: PMON_RINGS_*
 * @bytes: data bytes of each ring, a power of two from PMON_RING_MIN_BYTES to
 *	PMON_RING_MAX_BYTES
 * @wakeup_records: make poll() return after so many records in one ring; 0: no
 * @wakeup_bytes: make poll() return at so many unread bytes in one ring; 0 with
 *	wakeup_records 0: at half of @bytes. A record that is lost for lack of room
 *	makes it return, too
 * @nr_rings: out: rings, one for each CPU that can produce records
 * @__reserved: must be 0
 * @map_size: out: bytes to mmap() at offset 0, shared, readable and writable
 */
struct pmon_rings {
	__u32 size;
	__u32 flags;
	__aligned_u64 bytes;
	__u32 wakeup_records;
	__u32 wakeup_bytes;
	__u32 nr_rings;
	__u32 __reserved;
	__aligned_u64 map_size;
};

/**
 * struct pmon_count - one counter's total
 * @total: events counted while the session ran, exact over any number of wraps
 * @overflows: overflows handled
 * @enabled_ns: time the session ran, ns
 * @frozen_ns: of that, time the counter stood frozen by the driver, ns: from the
 *	driver's first access to the unfreeze
 */
struct pmon_count {
	__aligned_u64 total;
	__aligned_u64 overflows;
	__aligned_u64 enabled_ns;
	__aligned_u64 frozen_ns;
};

/**
 * struct pmon_read - read all totals (PMON_IOC_READ)
 * @size: size of this struct
 * @flags: must be 0
 * @nr: in: room in @counts; out: counters of the session
 * @__reserved: must be 0
 * @counts: address of an array of struct pmon_count, by counter id; with too
 *	little room the first @nr are written
 * @time: out: CLOCK_MONOTONIC, ns, after the last socket was read
 *
 * The counters of a socket are read while they stand frozen: they belong to one
 * moment. So do the counters of one CPU.
 */
struct pmon_read {
	__u32 size;
	__u32 flags;
	__u32 nr;
	__u32 __reserved;
	__aligned_u64 counts;
	__aligned_u64 time;
};

/**
 * struct pmon_stats - what the session costs and did (PMON_IOC_STATS)
 * @size: size of this struct
 * @flags: must be 0
 * @samples: sample records produced, in all rings
 * @lost: records lost, in all rings
 * @interrupts: NMIs that were answered
 * @late: NMIs of ours that found nothing left to do (absorbed), on all CPUs since
 *	the first start or the last reset
 * @deferred: NMIs that came while the driver was at work on the CPU, finished by it
 * @polls: looks of the timer (mode poll)
 * @throttled: times a counter's period was raised
 * @handler_ns: time in the handler, ns
 * @frozen_ns: time the sockets stood frozen by the driver, ns, summed over sockets
 */
struct pmon_stats {
	__u32 size;
	__u32 flags;
	__aligned_u64 samples;
	__aligned_u64 lost;
	__aligned_u64 interrupts;
	__aligned_u64 late;
	__aligned_u64 deferred;
	__aligned_u64 polls;
	__aligned_u64 throttled;
	__aligned_u64 handler_ns;
	__aligned_u64 frozen_ns;
};

#define PMON_IOC_MAGIC	0xbd

#define PMON_IOC_INFO	_IO(PMON_IOC_MAGIC, 0)	/* struct pmon_info */
#define PMON_IOC_UNIT	_IO(PMON_IOC_MAGIC, 1)	/* struct pmon_unit_info */
#define PMON_IOC_ADD	_IO(PMON_IOC_MAGIC, 2)	/* struct pmon_counter */
#define PMON_IOC_RINGS	_IO(PMON_IOC_MAGIC, 3)	/* struct pmon_rings */
#define PMON_IOC_START	_IO(PMON_IOC_MAGIC, 4)	/* argument must be 0 */
#define PMON_IOC_STOP	_IO(PMON_IOC_MAGIC, 5)	/* argument must be 0 */
#define PMON_IOC_RESET	_IO(PMON_IOC_MAGIC, 6)	/* argument must be 0: totals to 0 */
#define PMON_IOC_READ	_IO(PMON_IOC_MAGIC, 7)	/* struct pmon_read */
#define PMON_IOC_STATS	_IO(PMON_IOC_MAGIC, 8)	/* struct pmon_stats */

/*
 * The mapping: one struct pmon_map_page, then at ring_offset + i * ring_stride
 * ring i: one page with struct pmon_ring_page, then its data bytes.
 */

/**
 * struct pmon_map_page - first page of the mapping, written once
 * @version: PMON_ABI_VERSION
 * @nr_rings: rings
 * @ring_offset: offset of ring 0, bytes
 * @ring_stride: bytes from one ring to the next
 */
struct pmon_map_page {
	__u32 version;
	__u32 nr_rings;
	__aligned_u64 ring_offset;
	__aligned_u64 ring_stride;
};

/**
 * struct pmon_ring_page - one ring's positions
 * @cpu: logical CPU that produces
 * @flags: PMON_RINGS_*
 * @data_offset: offset of the data from the start of this page, bytes
 * @data_size: bytes of data, a power of two
 * @head: kernel: end of the newest record
 * @oldest: kernel: in an overwriting ring, start of the oldest record that is
 *	whole; else 0
 * @produced: kernel: records produced, lost ones included
 * @lost: kernel: records dropped because the ring was full, or overwritten
 *	before @tail had passed them
 * @tail: user: start of the first record not yet read
 *
 * Positions count bytes from the start and never wrap; a position's place in
 * the data is its value modulo @data_size. Records may wrap around the end.
 *
 * Reader: load @tail (its own), load @head with acquire order, read the records
 * between, then store @tail with release order. The acquire pairs with the
 * kernel's release store of @head after the record's bytes; the release pairs
 * with the kernel's acquire load of @tail before it reuses the bytes.
 *
 * Overwriting ring: begin at the larger of @tail and @oldest; after copying a
 * record, load @oldest again, past a read barrier: if it has passed the
 * record's start, the copy is torn: drop it and go on at @oldest. The kernel
 * moves @oldest before it touches the bytes.
 *
 * Always: @produced = records read + @lost + records still in the ring.
 * PMON_RECORD_LOST records count neither as produced nor as read.
 */
struct pmon_ring_page {
	__u32 cpu;
	__u32 flags;
	__aligned_u64 data_offset;
	__aligned_u64 data_size;
	__aligned_u64 __reserved0[5];
	__aligned_u64 head;
	__aligned_u64 oldest;
	__aligned_u64 produced;
	__aligned_u64 lost;
	__aligned_u64 __reserved1[4];
	__aligned_u64 tail;
	__aligned_u64 __reserved2[7];
};

/**
 * enum pmon_record_type - records in a ring; readers skip types they do not know
 * @PMON_RECORD_SAMPLE: struct pmon_sample
 * @PMON_RECORD_LOST: struct pmon_lost
 * @PMON_RECORD_THROTTLE: struct pmon_throttle
 */
enum pmon_record_type {
	PMON_RECORD_SAMPLE = 1,
	PMON_RECORD_LOST = 2,
	PMON_RECORD_THROTTLE = 3,
};

/**
 * struct pmon_record - begin of every record
 * @type: enum pmon_record_type
 * @misc: PMON_SAMPLE_* for samples, else 0
 * @size: bytes of the record with this header, a multiple of 8
 * @time: CLOCK_MONOTONIC, ns
 * @seq: number of the record in its ring, from 0, lost ones counted
 */
struct pmon_record {
	__u32 type;
	__u16 misc;
	__u16 size;
	__aligned_u64 time;
	__aligned_u64 seq;
};

/** The interrupted code was in user mode. */
#define PMON_SAMPLE_USER	(1U << 0)
/**
 * No PMI: a look of the poll timer, a read or the stop found the overflow. ip is 0; pid and tid are
 * those of what ran there then.
 */
#define PMON_SAMPLE_POLL	(1U << 1)
/** The counter is the session's leader. */
#define PMON_SAMPLE_LEADER	(1U << 2)

/**
 * struct pmon_value - a counter's total in a sample
 * @id: counter id
 * @__reserved: 0
 * @total: as pmon_count.total at the moment of the sample
 */
struct pmon_value {
	__u32 id;
	__u32 __reserved;
	__aligned_u64 total;
};

/**
 * struct pmon_sample - one overflow of a sampling counter
 * @record: header
 * @ip: instruction pointer that the PMI interrupted
 * @pid: process
 * @tid: thread
 * @cpu: logical CPU that took the interrupt
 * @socket: its socket
 * @id: id of the counter that overflowed
 * @nr: entries in @values
 * @periods: multiples of the period that this sample stands for: 1, or more where
 *	events went on past the next one before the freeze or the poll came. After
 *	a stop the sum over all samples is total / period, rounded down.
 * @overshoot: events counted past the last such multiple
 * @values: totals of the session's counters of the same socket (overflow of an
 *	uncore counter) or of the same CPU (of a core counter); of both for a leader
 */
struct pmon_sample {
	struct pmon_record record;
	__aligned_u64 ip;
	__u32 pid;
	__u32 tid;
	__u32 cpu;
	__u32 socket;
	__u32 id;
	__u32 nr;
	__aligned_u64 periods;
	__aligned_u64 overshoot;
	struct pmon_value values[];
};

/**
 * struct pmon_lost - records were lost since the last record of this ring
 * @record: header
 * @lost: how many
 */
struct pmon_lost {
	struct pmon_record record;
	__aligned_u64 lost;
};

/**
 * struct pmon_throttle - the driver changed a counter's effective period
 * @record: header
 * @id: counter id
 * @__reserved: 0
 * @period: events between two interrupts from now on: a multiple of the
 *	requested period while throttled, the requested period at the end
 */
struct pmon_throttle {
	struct pmon_record record;
	__u32 id;
	__u32 __reserved;
	__aligned_u64 period;
};

#endif /* _UAPI_LINUX_PMON_H */
