// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may open the device, how sessions live beside each other, and how they end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktap.h"
#include "model.h"
#include "plan.h"

static void test_node(void)
{
	struct stat st;

	check(!stat(DEVICE, &st));
	check(S_ISCHR(st.st_mode));
	check_eq(st.st_mode & 07777, 0600);
	check_eq(st.st_uid, 0);
	check_eq(st.st_gid, 0);
}

/* The error of open() with no capabilities but @capability (-1: none), in a child. */
static int open_with(int capability, uid_t uid)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	pid_t child = fork();
	int status;

	if (!child) {
		if (prctl(PR_SET_KEEPCAPS, 1) || setresuid(uid, uid, uid))
			_exit(255);
		if (capability >= 0) {
			data[capability / 32].permitted = 1U << capability % 32;
			data[capability / 32].effective = 1U << capability % 32;
		}
		if (syscall(SYS_capset, &header, data))
			_exit(255);
		_exit(open(DEVICE, O_RDWR) < 0 ? errno : 0);
	}
	check_eq(waitpid(child, &status, 0), child);
	check(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_rights(void)
{
	check_errno(open_with(-1, 0), EPERM);
	check_errno(open_with(CAP_NET_ADMIN, 0), EPERM);
	check_errno(open_with(CAP_PERFMON, 0), 0);
	check_errno(open_with(CAP_SYS_ADMIN, 0), 0);
	/* The node's mode holds for everybody else. */
	check_errno(open_with(-1, 1000), EACCES);
	check_errno(open_with(CAP_PERFMON, 1000), EACCES);
	check(!chmod(DEVICE, 0666));
	check_errno(open_with(-1, 1000), EPERM);
	check_errno(open_with(CAP_PERFMON, 1000), 0);
	check(!chmod(DEVICE, 0600));
}

/* Two sessions share the boxes of a socket, and each has its own totals and samples. */
static void test_two_openers(void)
{
	struct session *a = session_open(), *b = session_open();
	struct pmon_counter taken = UBOX(0, 0, 0);

	set_rates(2000000);
	session_add(a, UBOX(0, 0, 3000));
	session_add(a, CBOX(0, 0, 0, 4000));
	session_add(a, PCU(0, 0, 0));
	check_errno(device_call(b->fd, PMON_IOC_ADD, &taken), EBUSY);
	session_add(b, UBOX(0, 1, 5000));
	session_add(b, CBOX(0, 0, 1, 0));
	session_add(b, PCU(0, 3, 2500));
	session_rings(a, 1 << 20, 0, 0, 0);
	session_rings(b, 1 << 20, 0, 0, 0);
	session_start(a);
	sleep_us(5000);
	session_start(b);
	sleep_us(20000);
	session_stop(a);
	sleep_us(5000);
	session_stop(b);
	session_verify(a);
	session_verify(b);
	check(a->tally[0].periods && b->tally[0].periods);
	session_close(a);
	/* What the other gave back is free, and the rest goes on. */
	session_start(b);
	check_errno(device_call(b->fd, PMON_IOC_ADD, &taken), EINPROGRESS);
	sleep_us(5000);
	session_stop(b);
	session_verify(b);
	session_close(b);
}

static void test_two_core_openers(void)
{
	struct session *a = session_open(), *b = session_open();

	session_add(a, CORE(0, 0, 100000));
	session_add(b, CORE(0, 1, 70000));
	session_add(b, CORE_FIXED(0, 1, 0));
	session_rings(a, 1 << 20, 0, 0, 0);
	session_rings(b, 1 << 20, 0, 0, 0);
	pin(0);
	session_start(a);
	session_start(b);
	for (volatile int i = 0; i < 500000; i++)
		;
	session_stop(a);
	for (volatile int i = 0; i < 100000; i++)
		;
	session_stop(b);
	session_verify(a);
	session_verify(b);
	session_close(a);
	session_close(b);
}

/* The sessions that can count on one CPU at a time are limited; one more is told so. */
static void test_many_openers(void)
{
	struct session *s[9];
	size_t started = 0;
	int error = 0;

	for (size_t i = 0; i < ARRAY_SIZE(s); i++) {
		s[i] = session_open();
		session_add(s[i], i < 4   ? PCU(0, i, 0)
				  : i < 8 ? COUNTER(PMON_UNIT_CBOX, 0, 0, i - 4, EV_CBOX_CLOCK, 0)
					  : UBOX(0, 0, 0));
	}
	set_rates(1000000);
	while (started < ARRAY_SIZE(s) && !error) {
		error = device_call(s[started]->fd, PMON_IOC_START, NULL);
		started += !error;
	}
	check_eq(started, 8);
	check_errno(error, EBUSY);
	sleep_us(1000);
	session_stop(s[0]);
	session_start(s[8]);
	sleep_us(1000);
	for (size_t i = 1; i < ARRAY_SIZE(s); i++)
		session_stop(s[i]);
	for (size_t i = 0; i < ARRAY_SIZE(s); i++) {
		session_verify(s[i]);
		check(s[i]->count[0].total);
		session_close(s[i]);
	}
}

/* A file that was passed on is the same session. */
static void test_passed_file(void)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .header = { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
				  .cmsg_len = CMSG_LEN(sizeof(int)) } };
	char byte = 0;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	struct session *s = session_open();
	int ends[2], status;
	pid_t child;

	check(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	session_add(s, CLOCK(0, 0));
	session_start(s);
	child = fork();
	if (!child) {
		/* It has nothing but the message. */
		close(s->fd);
		check(recvmsg(ends[1], &message, 0) == 1);
		memcpy(&s->fd, CMSG_DATA(&control.header), sizeof(int));
		sleep_us(3000);
		session_read(s);
		check(s->count[0].total >= 2000 * 3000);
		session_stop(s);
		session_verify(s);
		session_close(s);
		_exit(0);
	}
	memcpy(CMSG_DATA(&control.header), &s->fd, sizeof(int));
	check(sendmsg(ends[0], &message, 0) == 1);
	check(!close(s->fd));
	check_eq(waitpid(child, &status, 0), child);
	check(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* Starts all kinds of counters, samples, and waits for its end. */
static void busy_child(void)
{
	struct session *s = session_open();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	session_add(s, UBOX(0, 0, 2000));
	session_add(s, CBOX(0, 0, 0, 2000));
	session_add(s, PCU(1, 0, 2000));
	session_add(s, CLOCK(1, 1000000, .flags = PMON_COUNTER_LEADER));
	session_add(s, CORE(0, 0, 100000));
	session_add(s, CORE_FIXED(1, 0, 100000));
	session_rings(s, 65536, 0, 0, 0);
	session_start(s);
	for (;;)
		pause();
}

/* The registers afterwards are compared by the harness; here: all of it can be had again. */
static void test_killed(void)
{
	set_rates(2000000);
	for (int i = 0; i < 5; i++) {
		pid_t child = fork();
		int status;

		if (!child)
			busy_child();
		sleep_us(10000 + 777 * i);
		check(!kill(child, SIGKILL));
		check_eq(waitpid(child, &status, 0), child);
		check(WIFSIGNALED(status));
	}
}

static void test_closed_while_running(void)
{
	struct session *s;

	set_rates(2000000);
	for (int i = 0; i < 5; i++) {
		s = session_open();
		session_add(s, UBOX(0, 0, 2000));
		session_add(s, CORE(0, 0, 50000));
		session_rings(s, 65536, 0, 0, 0);
		session_start(s);
		sleep_us(1000 + 77 * i);
		session_close(s);
	}
}

static void test_rmmod(void)
{
	const char *parameters = getenv("PMON_PARAMETERS") ?: "";
	struct session *s = session_open();
	int error;

	set_rates(2000000);
	error = module_unload();
	if (error != EBUSY && error != EWOULDBLOCK)
		fail("rmmod while the device is open: %s", strerrorname_np(error));
	session_add(s, UBOX(0, 0, 2000));
	session_add(s, CORE(0, 0, 100000));
	session_rings(s, 65536, 0, 0, 0);
	session_start(s);
	sleep_us(2000);
	error = module_unload();
	if (error != EBUSY && error != EWOULDBLOCK)
		fail("rmmod while a session samples: %s", strerrorname_np(error));
	sleep_us(2000);
	session_stop(s);
	session_verify(s);
	check(s->tally[0].samples);

	/* A mapping alone holds the module as well. */
	check(!close(s->fd));
	error = module_unload();
	if (error != EBUSY && error != EWOULDBLOCK)
		fail("rmmod while the rings are mapped: %s", strerrorname_np(error));
	check(!munmap(s->map, s->rings.map_size));
	check_errno(module_unload(), 0);
	check(access(DEVICE, F_OK));
	check_errno(module_load(parameters), 0);
}

static void test_loaded_again(void)
{
	const char *parameters = getenv("PMON_PARAMETERS") ?: "";

	for (int i = 0; i < 3; i++) {
		check_errno(module_unload(), 0);
		check_errno(module_load(parameters), 0);
		check_errno(module_load(parameters), EEXIST);
	}
	check(device_info().nr_sockets);
}

static void test_bad_parameters(void)
{
	static const char *const bad[] = {
		"mode=3", "mode=x", "poll_us=0", "max_rate=0", "min_period=0",
	};
	const char *parameters = getenv("PMON_PARAMETERS") ?: "";

	check_errno(module_unload(), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		int error = module_load(bad[i]);

		if (!error)
			module_unload();
		if (error != EINVAL) {
			module_load(parameters);
			fail("insmod with %s: %s", bad[i], strerrorname_np(error));
		}
	}
	check_errno(module_load(parameters), 0);
}

/* A counter of CBo 0 that is nobody's here, its data register, and what enables it. */
#define C0_MSR_PMON_CTL2	0xd12
#define C0_MSR_PMON_CTR2	0xd18
#define FOREIGN_EVENT		(0x400000 | EV_CBOX_CLOCK)

/* The error of counting with CBo 0. */
static int count_with_box(void)
{
	struct session *s = session_open();
	struct pmon_counter counter = COUNTER(PMON_UNIT_CBOX, 0, 0, 0, EV_CBOX_CLOCK, 0);
	int error = device_call(s->fd, PMON_IOC_ADD, &counter);

	if (!error)
		error = device_call(s->fd, PMON_IOC_START, NULL);
	session_close(s);
	return error;
}

/* Somebody counts with a CBo when the module is loaded: told, refused, and left as it is. */
static void test_in_use_at_load(void)
{
	const char *parameters = getenv("PMON_PARAMETERS") ?: "";
	int loaded, error = 0;
	uint32_t flags = 0;
	uint64_t control;
	long mark;

	check_errno(module_unload(), 0);
	msr_write(0, C0_MSR_PMON_CTL2, FOREIGN_EVENT);
	mark = kernel_log_mark();
	loaded = module_load(parameters);
	if (!loaded) {
		flags = device_unit(PMON_UNIT_CBOX, 0, 0).flags;
		error = count_with_box();
		module_unload();
	}
	control = msr_read(0, C0_MSR_PMON_CTL2);
	msr_write(0, C0_MSR_PMON_CTL2, 0);
	msr_write(0, C0_MSR_PMON_CTR2, 0);
	check_errno(module_load(parameters), 0);

	check_errno(loaded, 0);
	check(flags & PMON_UNIT_IN_USE);
	check_errno(error, EBUSY);
	check_eq(control, FOREIGN_EVENT);
	check(kernel_log_count(mark, "0xd12") >= 1);
	check_errno(count_with_box(), 0);
}

/* The same, when it begins after the load. */
static void test_in_use_at_start(void)
{
	long mark = kernel_log_mark();
	uint64_t control;
	int error;

	msr_write(0, C0_MSR_PMON_CTL2, FOREIGN_EVENT);
	error = count_with_box();
	control = msr_read(0, C0_MSR_PMON_CTL2);
	msr_write(0, C0_MSR_PMON_CTL2, 0);
	msr_write(0, C0_MSR_PMON_CTR2, 0);
	check_errno(error, EBUSY);
	check_eq(control, FOREIGN_EVENT);
	check(kernel_log_count(mark, "0xd12") >= 1);
}

static void test_inherited_file(void)
{
	struct session *s = session_open();
	pid_t child;
	int status;

	set_rates(1000000);
	session_add(s, UBOX(0, 0, 1000));
	session_rings(s, 65536, 0, 0, 0);
	session_start(s);
	child = fork();
	if (!child)
		_exit(close(s->fd));
	check_eq(waitpid(child, &status, 0), child);
	sleep_us(5000);
	session_stop(s);
	session_verify(s);
	check(s->tally[0].periods >= 4);
	session_close(s);
}

static int shared_fd;

/* Calls what comes to its mind; each answer must be one of the contract. */
static void *call_at_random(void *seed)
{
	static const unsigned long commands[] = {
		PMON_IOC_START, PMON_IOC_STOP, PMON_IOC_RESET, PMON_IOC_READ, PMON_IOC_STATS,
	};
	unsigned int state = (uintptr_t)seed;
	struct pmon_count counts[4];

	for (int i = 0; i < 400; i++) {
		unsigned long command = commands[rand_r(&state) / 16 % ARRAY_SIZE(commands)];
		struct pmon_read read = { .size = sizeof(read), .nr = 4,
					  .counts = (uintptr_t)counts };
		struct pmon_stats stats = { .size = sizeof(stats) };
		const void *argument = command == PMON_IOC_READ	   ? (void *)&read
				       : command == PMON_IOC_STATS ? (void *)&stats
								   : NULL;
		int error = device_call(shared_fd, command, argument);

		if (error && error != EALREADY && error != EINPROGRESS)
			fail("command %#lx: %s", command, strerrorname_np(error));
	}
	return NULL;
}

static void test_threads(void)
{
	struct session *s = session_open();
	pthread_t threads[4];

	set_rates(3000000);
	session_add(s, UBOX(0, 0, 1000));
	session_add(s, PCU(1, 0, 1500));
	session_add(s, CORE(0, 0, 10000));
	session_rings(s, 65536, PMON_RINGS_OVERWRITE, 0, 0);
	shared_fd = s->fd;
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		check(!pthread_create(&threads[i], NULL, call_at_random, (void *)(i + 1)));
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		check(!pthread_join(threads[i], NULL));
	device_call(s->fd, PMON_IOC_STOP, NULL);
	session_read(s);
	session_close(s);
}

static const struct test tests[] = {
	{ "the node is root's alone", test_node },
	{ "CAP_PERFMON or CAP_SYS_ADMIN", test_rights },
	{ "two openers on one socket", test_two_openers },
	{ "two openers on one CPU", test_two_core_openers },
	{ "EBUSY: more openers than can count at a time", test_many_openers },
	{ "a file that is passed on", test_passed_file },
	{ "a file that a child inherits", test_inherited_file },
	{ "kill -9 while sampling", test_killed },
	{ "close while sampling", test_closed_while_running },
	{ "threads that call at random", test_threads },
	{ "rmmod is refused while there is a session", test_rmmod },
	{ "the module is loaded again", test_loaded_again },
	{ "EINVAL: parameters of the module", test_bad_parameters },
	{ "EBUSY: registers that are in use at load", test_in_use_at_load },
	{ "EBUSY: registers that are in use at a start", test_in_use_at_start },
};

int main(int argc, char **argv)
{
	return ktap_run(tests, ARRAY_SIZE(tests), argc > 1 ? argv[1] : NULL);
}
