// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the size of each struct of the ABI and the place of each of its fields: the same on 32 and
 * 64 bits, and the same as in Rust.
 */
#include <linux/pmon.h>
#include <stddef.h>
#include <stdio.h>

#define STRUCT(type)		printf("%s %zu\n", #type, sizeof(struct type))
#define FIELD(type, field) \
	printf("%s.%s %zu %zu\n", #type, #field, offsetof(struct type, field), \
	       sizeof(((struct type *)0)->field))

int main(void)
{
	STRUCT(pmon_info);
	FIELD(pmon_info, size);
	FIELD(pmon_info, flags);
	FIELD(pmon_info, abi_version);
	FIELD(pmon_info, nr_sockets);
	FIELD(pmon_info, nr_cpus);
	FIELD(pmon_info, cpu_family);
	FIELD(pmon_info, cpu_model);
	FIELD(pmon_info, cpu_stepping);
	FIELD(pmon_info, core_version);
	FIELD(pmon_info, core_counters);
	FIELD(pmon_info, core_fixed);
	FIELD(pmon_info, core_width);
	FIELD(pmon_info, core_absent_events);
	FIELD(pmon_info, poll_interval_us);
	FIELD(pmon_info, min_period);
	FIELD(pmon_info, max_rate);

	STRUCT(pmon_unit_info);
	FIELD(pmon_unit_info, size);
	FIELD(pmon_unit_info, unit);
	FIELD(pmon_unit_info, socket);
	FIELD(pmon_unit_info, box);
	FIELD(pmon_unit_info, nr_boxes);
	FIELD(pmon_unit_info, mode);
	FIELD(pmon_unit_info, flags);
	FIELD(pmon_unit_info, counters);
	FIELD(pmon_unit_info, fixed);
	FIELD(pmon_unit_info, width);
	FIELD(pmon_unit_info, fixed_width);
	FIELD(pmon_unit_info, pmi_cpu);
	FIELD(pmon_unit_info, config_mask);
	FIELD(pmon_unit_info, filter_mask);

	STRUCT(pmon_counter);
	FIELD(pmon_counter, size);
	FIELD(pmon_counter, unit);
	FIELD(pmon_counter, socket);
	FIELD(pmon_counter, box);
	FIELD(pmon_counter, counter);
	FIELD(pmon_counter, flags);
	FIELD(pmon_counter, config);
	FIELD(pmon_counter, filter);
	FIELD(pmon_counter, period);
	FIELD(pmon_counter, id);
	FIELD(pmon_counter, width);

	STRUCT(pmon_rings);
	FIELD(pmon_rings, size);
	FIELD(pmon_rings, flags);
	FIELD(pmon_rings, bytes);
	FIELD(pmon_rings, wakeup_records);
	FIELD(pmon_rings, wakeup_bytes);
	FIELD(pmon_rings, nr_rings);
	FIELD(pmon_rings, __reserved);
	FIELD(pmon_rings, map_size);

	STRUCT(pmon_count);
	FIELD(pmon_count, total);
	FIELD(pmon_count, overflows);
	FIELD(pmon_count, enabled_ns);
	FIELD(pmon_count, frozen_ns);

	STRUCT(pmon_read);
	FIELD(pmon_read, size);
	FIELD(pmon_read, flags);
	FIELD(pmon_read, nr);
	FIELD(pmon_read, __reserved);
	FIELD(pmon_read, counts);
	FIELD(pmon_read, time);

	STRUCT(pmon_stats);
	FIELD(pmon_stats, size);
	FIELD(pmon_stats, flags);
	FIELD(pmon_stats, samples);
	FIELD(pmon_stats, lost);
	FIELD(pmon_stats, interrupts);
	FIELD(pmon_stats, late);
	FIELD(pmon_stats, deferred);
	FIELD(pmon_stats, polls);
	FIELD(pmon_stats, throttled);
	FIELD(pmon_stats, handler_ns);
	FIELD(pmon_stats, frozen_ns);

	STRUCT(pmon_map_page);
	FIELD(pmon_map_page, version);
	FIELD(pmon_map_page, nr_rings);
	FIELD(pmon_map_page, ring_offset);
	FIELD(pmon_map_page, ring_stride);

	STRUCT(pmon_ring_page);
	FIELD(pmon_ring_page, cpu);
	FIELD(pmon_ring_page, flags);
	FIELD(pmon_ring_page, data_offset);
	FIELD(pmon_ring_page, data_size);
	FIELD(pmon_ring_page, __reserved0);
	FIELD(pmon_ring_page, head);
	FIELD(pmon_ring_page, oldest);
	FIELD(pmon_ring_page, produced);
	FIELD(pmon_ring_page, lost);
	FIELD(pmon_ring_page, __reserved1);
	FIELD(pmon_ring_page, tail);
	FIELD(pmon_ring_page, __reserved2);

	STRUCT(pmon_record);
	FIELD(pmon_record, type);
	FIELD(pmon_record, misc);
	FIELD(pmon_record, size);
	FIELD(pmon_record, time);
	FIELD(pmon_record, seq);

	STRUCT(pmon_value);
	FIELD(pmon_value, id);
	FIELD(pmon_value, __reserved);
	FIELD(pmon_value, total);

	STRUCT(pmon_sample);
	FIELD(pmon_sample, record);
	FIELD(pmon_sample, ip);
	FIELD(pmon_sample, pid);
	FIELD(pmon_sample, tid);
	FIELD(pmon_sample, cpu);
	FIELD(pmon_sample, socket);
	FIELD(pmon_sample, id);
	FIELD(pmon_sample, nr);
	FIELD(pmon_sample, periods);
	FIELD(pmon_sample, overshoot);
	printf("pmon_sample.values %zu\n", offsetof(struct pmon_sample, values));

	STRUCT(pmon_lost);
	FIELD(pmon_lost, record);
	FIELD(pmon_lost, lost);

	STRUCT(pmon_throttle);
	FIELD(pmon_throttle, record);
	FIELD(pmon_throttle, id);
	FIELD(pmon_throttle, __reserved);
	FIELD(pmon_throttle, period);
	return 0;
}
