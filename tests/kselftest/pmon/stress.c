// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many processes at once, for a machine whose CPUs truly run side by side: sessions that count and
 * verify, sessions that are killed, and readers that race with the producer.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktap.h"
#include "model.h"
#include "plan.h"

/* Ends a child of its own well, or the test fails. */
static void join(pid_t child)
{
	int status;

	check_eq(waitpid(child, &status, 0), child);
	check(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* The sessions of the children do not collide: each has the counters of its number. */
static struct session *numbered_session(uint32_t n)
{
	struct session *s = session_open();

	session_add(s, UBOX(n / 2 % 2, n % 2, 5000));
	session_add(s, CBOX(n / 2 % 2, 0, n % 2, 7000));
	session_add(s, PCU(n / 2 % 2, n % 2, 9000));
	session_add(s, CORE(n, n, 1000000));
	return s;
}

/* Reads its rings while they are written, and accounts for each record. The model is not asked:
 * its answers go to one process at a time.
 */
static void count_and_read(uint32_t n)
{
	struct session *s = numbered_session(n);

	session_rings(s, 65536, 0, 1, 0);
	for (int round = 0; round < 5; round++) {
		session_start(s);
		for (int i = 0; i < 40; i++) {
			session_drain(s);
			session_read(s);
			sleep_us(500);
		}
		session_stop(s);
		session_drain(s);
		session_read(s);
		if (session_lost(s))
			continue;
		for (unsigned int id = 0; id < s->nr; id++)
			check_eq(s->tally[id].periods,
				 s->count[id].total / s->counter[id].period);
	}
	session_close(s);
}

static void test_many_sessions(void)
{
	pid_t children[4];

	if (device_info().nr_sockets < 2 || device_info().nr_cpus < 4)
		ktap_skip("this needs two sockets and four CPUs");
	set_rates(3000000);
	for (uint32_t n = 0; n < ARRAY_SIZE(children); n++) {
		children[n] = fork();
		if (!children[n]) {
			count_and_read(n);
			_exit(0);
		}
	}
	for (uint32_t n = 0; n < ARRAY_SIZE(children); n++)
		join(children[n]);
}

/* Opens, samples, and is killed at some moment of that. */
static void test_killed_at_any_moment(void)
{
	unsigned int seed = 1;

	set_rates(3000000);
	for (int i = 0; i < 40; i++) {
		pid_t child = fork();

		if (!child) {
			count_and_read(i % 4);
			_exit(0);
		}
		sleep_us(rand_r(&seed) / 16 % 15000);
		check(!kill(child, SIGKILL));
		check_eq(waitpid(child, NULL, 0), child);
	}
}

/* A session that is never read, at the highest rate, beside one that is exact. */
static void test_storm_beside(void)
{
	struct session *s = numbered_session(0);
	struct session *storm = session_open();

	set_rates(3000000);
	session_add(storm, PCU(0, 3, device_info().min_period));
	session_add(storm, COUNTER(PMON_UNIT_CORE, 0, 1, 3, EV_INSTRUCTIONS,
				   device_info().min_period));
	session_rings(storm, PMON_RING_MIN_BYTES, PMON_RINGS_OVERWRITE, 0, 0);
	session_rings(s, 1 << 20, 0, 0, 0);
	session_start(storm);
	session_start(s);
	for (int i = 0; i < 200; i++) {
		sleep_us(500);
		session_drain(s);
	}
	session_stop(s);
	session_stop(storm);
	session_verify(s);
	session_close(storm);
	session_close(s);
}

/* An overwriting ring that is read at full speed while it is written. */
static void test_racing_reader(void)
{
	struct session *s = session_open();
	uint64_t end = now_ns() + 300000000;

	set_rates(20000000);
	session_add(s, UBOX(0, 0, 2000));
	session_rings(s, PMON_RING_MIN_BYTES, PMON_RINGS_OVERWRITE, 0, 0);
	session_start(s);
	while (now_ns() < end)
		session_drain(s);
	session_stop(s);
	session_verify(s);
	check(s->tally[0].samples >= 100);
	session_close(s);
}

static const struct test tests[] = {
	{ "four sessions side by side", test_many_sessions },
	{ "kill -9 at any moment", test_killed_at_any_moment },
	{ "a storm beside an exact session", test_storm_beside },
	{ "a reader that races with the producer", test_racing_reader },
};

int main(int argc, char **argv)
{
	return ktap_run(tests, ARRAY_SIZE(tests), argc > 1 ? argv[1] : NULL);
}
