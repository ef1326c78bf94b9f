/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Test programs in KTAP, for the modelled machine.
 *
 * Each test runs in a process of its own, so that a failure ends that test only and whatever it had
 * open is closed as by a crash. Around each one the hardware model is asked whether a rule of the
 * manual was broken, and whether every register has its old value.
 */
#ifndef PMON_KTAP_H
#define PMON_KTAP_H

#include <stddef.h>
#include <string.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/**
 * struct test - one line of the result
 * @name: what must hold, as a phrase
 * @run: returns if it does; does not return otherwise
 */
struct test {
	const char *name;
	void (*run)(void);
};

/**
 * ktap_run() - Run the tests and print their results
 * @tests: the tests, in order
 * @nr: their number
 * @only: a part of the names of those to run, or NULL for all
 *
 * Return: exit status for main(): 0, or 1 when a test failed.
 */
int ktap_run(const struct test *tests, size_t nr, const char *only);

/**
 * ktap_note() - Print a line of diagnostics
 * @format: as for printf(), without a newline
 */
void ktap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * ktap_skip() - End the test: it cannot be done on this machine
 * @format: why, as for printf()
 */
void ktap_skip(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/**
 * ktap_fail() - End the test: what must hold does not
 * @file: source file
 * @line: its line
 * @format: what is wrong, as for printf()
 */
void ktap_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4), noreturn));

#define fail(...)	ktap_fail(__FILE__, __LINE__, __VA_ARGS__)

/** The condition holds, or the test fails. */
#define check(condition) \
	do { \
		if (!(condition)) \
			fail("not so: %s", #condition); \
	} while (0)

/** Both are the same number, or the test fails and shows them. */
#define check_eq(got, want) \
	do { \
		unsigned long long got_ = (got), want_ = (want); \
\
		if (got_ != want_) \
			fail("%s is %llu, not %llu (%s)", #got, got_, want_, #want); \
	} while (0)

/** The error number is the wanted one, or the test fails and names both. */
#define check_errno(got, want) \
	do { \
		int got_ = (got), want_ = (want); \
\
		if (got_ != want_) \
			fail("%s: %s, not %s", #got, strerrorname_np(got_), \
			     strerrorname_np(want_)); \
	} while (0)

#endif
