/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device's calls, with the error number as result, and the counters that the tests use.
 */
#ifndef PMON_DEVICE_H
#define PMON_DEVICE_H

#include <linux/pmon.h>
#include <stdint.h>

#define DEVICE	"/dev/pmon"
#define MODULE	"/root/pmon.ko"

/** Events that the tests give a rate to; any general counter of the box can count them. */
#define EV_UBOX	0x0842
#define EV_PCU	0x0042
/** LLC insertions, for counters 0 and 1 of a CBo. */
#define EV_CBOX	0x0113
/** Clock ticks of a CBo, for all of its counters. */
#define EV_CBOX_CLOCK	0x0000
/** Instructions retired, for the general counters of a CPU. */
#define EV_INSTRUCTIONS	0x00c0

/** Initializers of struct pmon_counter. Further fields may follow as designated ones. */
#define COUNTER(u, s, b, c, ev, p, ...) \
	((struct pmon_counter) { \
		.size = sizeof(struct pmon_counter), .unit = (u), .socket = (s), .box = (b), \
		.counter = (c), .config = (ev), .period = (p), __VA_ARGS__ })
#define UBOX(s, c, p, ...)	COUNTER(PMON_UNIT_UBOX, s, 0, c, EV_UBOX, p, __VA_ARGS__)
#define CLOCK(s, p, ...)	COUNTER(PMON_UNIT_UBOX, s, 0, PMON_COUNTER_FIXED, 0, p, __VA_ARGS__)
#define CBOX(s, b, c, p, ...)	COUNTER(PMON_UNIT_CBOX, s, b, c, EV_CBOX, p, __VA_ARGS__)
#define PCU(s, c, p, ...)	COUNTER(PMON_UNIT_PCU, s, 0, c, EV_PCU, p, __VA_ARGS__)
#define CORE(cpu, c, p, ...) \
	COUNTER(PMON_UNIT_CORE, 0, cpu, c, EV_INSTRUCTIONS, p, __VA_ARGS__)
#define CORE_FIXED(cpu, i, p, ...) \
	COUNTER(PMON_UNIT_CORE, 0, cpu, PMON_COUNTER_FIXED + (i), 0, p, __VA_ARGS__)

/** device_open() - Open the device; the test fails where that fails */
int device_open(void);

/**
 * device_call() - One ioctl
 * @fd: the device
 * @command: PMON_IOC_*
 * @argument: its argument
 *
 * Return: 0 or an error number.
 */
int device_call(int fd, unsigned long command, const void *argument);

/** device_info() - What PMON_IOC_INFO says */
struct pmon_info device_info(void);

/**
 * device_unit() - What PMON_IOC_UNIT says of a box
 * @unit: enum pmon_unit
 * @socket: its socket
 * @box: its number, or the CPU
 */
struct pmon_unit_info device_unit(uint32_t unit, uint32_t socket, uint32_t box);

/** kernel_log_mark() - Where the kernel's log ends now */
long kernel_log_mark(void);

/**
 * kernel_log_count() - Lines of the kernel's log with a word
 * @mark: from kernel_log_mark(): only lines since then
 * @word: a part of the line
 */
unsigned int kernel_log_count(long mark, const char *word);

/** module_load() - Load the module with the suite's parameters; 0 or an error number */
int module_load(const char *parameters);

/** module_unload() - Unload the module without waiting; 0 or an error number */
int module_unload(void);

/**
 * msr_read() - Read a register, past the driver
 * @cpu: the CPU that does
 * @msr: its address
 */
uint64_t msr_read(unsigned int cpu, uint32_t msr);

/**
 * msr_write() - Write a register, as somebody else's driver would
 * @cpu: the CPU that does
 * @msr: its address
 * @value: the value
 */
void msr_write(unsigned int cpu, uint32_t msr, uint64_t value);

/** sleep_us() - Let this much of the machine's time pass */
void sleep_us(uint64_t us);

/** now_ns() - CLOCK_MONOTONIC */
uint64_t now_ns(void);

/** pin() - Run on one CPU only */
void pin(unsigned int cpu);

#endif
