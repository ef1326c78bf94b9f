// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>

#include "model.h"

#define PORT_DATA	0x5f0	/* bytes of a command, bytes of its answer */
#define PORT_WAITING	0x5f1	/* 1 while a byte of the answer is waiting */
#define PORT_NMI	0x5f2	/* a CPU's index: an NMI to it */

static void die(const char *what, const char *detail)
{
	printf("Bail out! %s: %.400s\n", what, detail);
	exit(2);
}

void model_open(void)
{
	if (ioperm(PORT_DATA, 3, 1))
		die("no right to use the model's ports", "run this as root in the machine");
}

/* Reads an answer: one line. */
static char *read_answer(void)
{
	size_t size = 4096, len = 0;
	char *text = malloc(size);

	while (text && inb(PORT_WAITING) == 1) {
		int byte = inb(PORT_DATA);

		if (byte == '\n')
			break;
		text[len++] = byte;
		if (len == size) {
			size *= 2;
			text = realloc(text, size);
		}
	}
	if (!text)
		die("no memory", "for the model's answer");
	text[len] = '\0';
	return text;
}

static char *ask(const char *format, va_list args)
{
	char command[256], *answer;

	vsnprintf(command, sizeof(command), format, args);
	for (const char *c = command; *c; c++)
		outb(*c, PORT_DATA);
	outb('\n', PORT_DATA);
	answer = read_answer();
	if (!strncmp(answer, "error", 5))
		die(command, answer);
	return answer;
}

char *model_ask(const char *format, ...)
{
	va_list args;
	char *answer;

	va_start(args, format);
	answer = ask(format, args);
	va_end(args);
	return answer;
}

void model_do(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	free(ask(format, args));
	va_end(args);
}

int model_is(const char *setting, const char *value)
{
	char *all = model_ask("settings");
	const char *now = json_member(all, setting);
	size_t quote = *now == '"', len = strlen(value);
	int is = !strncmp(now + quote, value, len) && strchr("\",}", now[quote + len]);

	free(all);
	return is;
}

void model_nmi(unsigned int cpu)
{
	outb(cpu, PORT_NMI);
}

/* The end of a value. Strings of the model have no escapes. */
static const char *skip_value(const char *text)
{
	int depth = 0, quoted = 0;

	for (; *text; text++) {
		if (*text == '"')
			quoted = !quoted;
		if (quoted)
			continue;
		if (!depth && (*text == ',' || *text == '}' || *text == ']'))
			return text;
		depth += (*text == '{' || *text == '[') - (*text == '}' || *text == ']');
	}
	return text;
}

static const char *find_member(const char *object, const char *key)
{
	size_t len = strlen(key);
	const char *text = object;

	if (*text != '{')
		die("not an object", object);
	while (*++text == '"') {
		const char *value = strchr(text + 1, '"') + 2;

		if ((size_t)(value - text) == len + 3 && !strncmp(text + 1, key, len))
			return value;
		text = skip_value(value);
	}
	return NULL;
}

const char *json_member(const char *object, const char *key)
{
	const char *value = find_member(object, key);

	if (!value)
		die(key, object);
	return value;
}

int json_has(const char *object, const char *key)
{
	return find_member(object, key) != NULL;
}

const char *json_element(const char *array, unsigned int index)
{
	const char *text = array + 1;

	if (*array != '[')
		die("not an array", array);
	while (index--) {
		text = skip_value(text);
		if (*text++ != ',')
			die("array too short", array);
	}
	return text;
}

uint64_t json_u64(const char *value)
{
	return strtoull(value + (*value == '"'), NULL, 0);
}
