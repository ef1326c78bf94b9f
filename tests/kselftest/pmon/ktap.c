// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktap.h"
#include "model.h"

/* Exit status of a test's process. */
#define STATUS_PASS	0
#define STATUS_FAIL	1
#define STATUS_SKIP	4

/* Longest time of one test, seconds of the machine's time. */
#define LIMIT_S		120

static void print(const char *prefix, const char *format, va_list args)
{
	fputs(prefix, stdout);
	vprintf(format, args);
	putchar('\n');
}

void ktap_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print("# ", format, args);
	va_end(args);
}

void ktap_skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print("# skipped: ", format, args);
	va_end(args);
	_exit(STATUS_SKIP);
}

void ktap_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	printf("# %s:%d: ", file, line);
	va_start(args, format);
	print("", format, args);
	va_end(args);
	_exit(STATUS_FAIL);
}

/* Shows the first difference of two register dumps. */
static void show_difference(const char *before, const char *after)
{
	size_t at = 0, start = 0;

	for (; before[at] && before[at] == after[at]; at++) {
		if (before[at] == ',')
			start = at + 1;
	}
	ktap_note("a register was %.*s, is %.*s", (int)strcspn(before + start, ",}"),
		  before + start, (int)strcspn(after + start, ",}"), after + start);
}

/* What must hold after each test, whatever it did. */
static int is_clean(const char *before)
{
	char *violations = model_ask("violations");
	char *after = model_ask("regs");
	int clean = 1;

	if (json_u64(json_member(violations, "total"))) {
		ktap_note("rules of the manual were broken: %.240s", violations);
		clean = 0;
	}
	if (strcmp(before, after)) {
		show_difference(before, after);
		clean = 0;
	}
	free(violations);
	free(after);
	return clean;
}

static int run_one(const struct test *test)
{
	char *before;
	int status;
	pid_t pid;

	/* A test that ended early may have left these. */
	model_do("only-socket all");
	model_do("storm ubox off");
	model_do("storm pcu off");
	model_do("truth clear");
	model_do("violations clear");
	model_do("overflows clear");
	model_do("accesses clear");
	before = model_ask("regs");

	pid = fork();
	if (!pid) {
		alarm(LIMIT_S);
		test->run();
		_exit(STATUS_PASS);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		perror("# fork");
		status = STATUS_FAIL << 8;
	}
	if (WIFSIGNALED(status)) {
		ktap_note("ended by signal %d (%s)", WTERMSIG(status),
			  strsignal(WTERMSIG(status)));
		status = STATUS_FAIL << 8;
	}
	status = WEXITSTATUS(status);
	if (!is_clean(before))
		status = STATUS_FAIL;
	free(before);
	return status;
}

int ktap_run(const struct test *tests, size_t nr, const char *only)
{
	size_t number = 0, planned = 0, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	model_open();
	for (size_t i = 0; i < nr; i++)
		planned += !only || strstr(tests[i].name, only);

	printf("KTAP version 1\n1..%zu\n", planned);
	for (size_t i = 0; i < nr; i++) {
		int status;

		if (only && !strstr(tests[i].name, only))
			continue;
		status = run_one(&tests[i]);
		failed += status != STATUS_PASS && status != STATUS_SKIP;
		printf("%s %zu %s%s\n",
		       status == STATUS_PASS || status == STATUS_SKIP ? "ok" : "not ok",
		       ++number, tests[i].name, status == STATUS_SKIP ? " # SKIP" : "");
	}
	return failed != 0;
}
