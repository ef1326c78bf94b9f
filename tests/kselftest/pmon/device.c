// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "ktap.h"

int device_open(void)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		fail("open of %s: %s", DEVICE, strerrorname_np(errno));
	return fd;
}

int device_call(int fd, unsigned long command, const void *argument)
{
	return ioctl(fd, command, argument) ? errno : 0;
}

struct pmon_info device_info(void)
{
	struct pmon_info info = { .size = sizeof(info) };
	int fd = device_open();

	check_errno(device_call(fd, PMON_IOC_INFO, &info), 0);
	close(fd);
	return info;
}

struct pmon_unit_info device_unit(uint32_t unit, uint32_t socket, uint32_t box)
{
	struct pmon_unit_info info = {
		.size = sizeof(info), .unit = unit, .socket = socket, .box = box,
	};
	int fd = device_open();

	check_errno(device_call(fd, PMON_IOC_UNIT, &info), 0);
	close(fd);
	return info;
}

/* Calls @line for each record of the kernel's log that is newer than @mark; returns the newest. */
static long walk_kernel_log(long mark, void (*line)(const char *text, void *data), void *data)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	char text[8192];
	long newest = mark;
	ssize_t len;

	check(fd >= 0);
	/* A record that was overwritten meanwhile gives EPIPE, and the next read goes on. */
	while ((len = read(fd, text, sizeof(text) - 1)) > 0 || errno == EPIPE) {
		long number = -1;

		if (len <= 0)
			continue;
		text[len] = '\0';
		if (sscanf(text, "%*u,%ld", &number) == 1 && number > mark) {
			newest = number;
			line(text, data);
		}
	}
	close(fd);
	return newest;
}

static void ignore(const char *text, void *data)
{
	(void)text;
	(void)data;
}

long kernel_log_mark(void)
{
	return walk_kernel_log(-1, ignore, NULL);
}

struct search {
	const char *word;
	unsigned int found;
};

static void search(const char *text, void *data)
{
	struct search *search = data;

	search->found += strstr(text, search->word) != NULL;
}

unsigned int kernel_log_count(long mark, const char *word)
{
	struct search wanted = { .word = word };

	walk_kernel_log(mark, search, &wanted);
	return wanted.found;
}

int module_load(const char *parameters)
{
	int fd = open(MODULE, O_RDONLY | O_CLOEXEC);
	int error;

	check(fd >= 0);
	error = syscall(SYS_finit_module, fd, parameters, 0) ? errno : 0;
	close(fd);
	return error;
}

int module_unload(void)
{
	return syscall(SYS_delete_module, "pmon", O_NONBLOCK) ? errno : 0;
}

static int msr_open(unsigned int cpu)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%u/msr", cpu);
	fd = open(path, O_RDWR | O_CLOEXEC);
	check(fd >= 0);
	return fd;
}

uint64_t msr_read(unsigned int cpu, uint32_t msr)
{
	uint64_t value = 0;
	int fd = msr_open(cpu);

	check(pread(fd, &value, sizeof(value), msr) == sizeof(value));
	close(fd);
	return value;
}

void msr_write(unsigned int cpu, uint32_t msr, uint64_t value)
{
	int fd = msr_open(cpu);

	check(pwrite(fd, &value, sizeof(value), msr) == sizeof(value));
	close(fd);
}

void sleep_us(uint64_t us)
{
	struct timespec left = {
		.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left))
		;
}

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

void pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	check(!sched_setaffinity(0, sizeof(set), &set));
}
