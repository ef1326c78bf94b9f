// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <stdio.h>

#include "ktap.h"
#include "model.h"
#include "plan.h"

void set_rates(uint64_t hz)
{
	model_do("rate ubox 0x42 0x08 %llu", (unsigned long long)hz);
	model_do("rate cbox 0x13 0x01 %llu", (unsigned long long)hz);
	model_do("rate pcu 0x42 * %llu", (unsigned long long)hz);
}

void add_all_units(struct session *s, uint64_t period)
{
	uint32_t sockets = device_info().nr_sockets;

	for (uint32_t socket = 0; socket < sockets; socket++) {
		session_add(s, UBOX(socket, PMON_COUNTER_ANY, period));
		session_add(s, PCU(socket, PMON_COUNTER_ANY, period));
		for (uint32_t box = 0; box < device_unit(PMON_UNIT_CBOX, socket, 0).nr_boxes; box++)
			session_add(s, CBOX(socket, box, PMON_COUNTER_ANY, period));
	}
}

uint32_t last_cbox(uint32_t socket)
{
	return device_unit(PMON_UNIT_CBOX, socket, 0).nr_boxes - 1;
}

int is_polled(const struct pmon_counter *counter)
{
	return device_unit(counter->unit, counter->socket, counter->box).mode == PMON_MODE_POLL;
}

int is_exact(const struct pmon_counter *counter)
{
	struct pmon_unit_info unit =
		device_unit(counter->unit, counter->socket, counter->box);

	return unit.mode == PMON_MODE_PMI && !(unit.flags & PMON_UNIT_NO_FREEZE);
}

uint64_t settle_us(void)
{
	return is_polled(&CLOCK(0, 0)) || is_polled(&CBOX(0, 0, 0, 0))
		       ? 2 * device_info().poll_interval_us + 200
		       : 200;
}

unsigned int apart_ns(void)
{
	return 50000 + (is_polled(&CLOCK(0, 0)) ? device_info().poll_interval_us * 1000 : 0);
}

const char *unit_word(uint32_t unit)
{
	static const char *const words[] = { "ubox", "cbox", "pcu", "core" };

	return words[unit];
}

/* The model's word for a counter of a box. */
static void counter_word(const struct pmon_counter *counter, char word[16])
{
	if (counter->counter & PMON_COUNTER_FIXED)
		snprintf(word, 16, "fixed%u", counter->counter & ~PMON_COUNTER_FIXED);
	else
		snprintf(word, 16, "%u", counter->counter);
}

uint64_t truth_of(const char *truth, const struct pmon_counter *counter)
{
	const char *at;
	char word[16];

	counter_word(counter, word);
	if (counter->unit == PMON_UNIT_CORE) {
		at = json_element(json_member(truth, "cpus"), counter->box);
		return json_u64(json_member(at, word));
	}
	at = json_element(json_member(truth, "sockets"), counter->socket);
	at = json_member(at, unit_word(counter->unit));
	if (counter->unit == PMON_UNIT_CBOX)
		at = json_element(at, counter->box);
	return json_u64(json_member(at, word));
}

const char *counter_words(const struct pmon_counter *counter)
{
	static char words[80];
	char word[16];

	counter_word(counter, word);
	if (counter->unit == PMON_UNIT_CORE)
		snprintf(words, sizeof(words), "counter=%s cpu=%u", word, counter->box);
	else
		snprintf(words, sizeof(words), "counter=%s socket=%u box=%u", word,
			 counter->socket, counter->box);
	return words;
}

void plan_overflow(const struct pmon_counter *counter, uint64_t delay_ns)
{
	model_do("burst %llu %s %llu %s", (unsigned long long)delay_ns, unit_word(counter->unit),
		 (unsigned long long)counter->period, counter_words(counter));
}
