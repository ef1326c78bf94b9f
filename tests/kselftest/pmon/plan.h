/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is to happen in the hardware, by the model, and what the module makes of it.
 */
#ifndef PMON_PLAN_H
#define PMON_PLAN_H

#include "session.h"

/**
 * set_rates() - Give the tests' events a rate on all boxes
 * @hz: times per second; 0 for silence
 */
void set_rates(uint64_t hz);

/**
 * add_all_units() - Add one counter of each kind of box on each socket
 * @s: the session
 * @period: of each
 */
void add_all_units(struct session *s, uint64_t period);

/** last_cbox() - The last CBo of a socket; the only one on a part with one core */
uint32_t last_cbox(uint32_t socket);

/** is_polled() - Whether a timer looks at the counter */
int is_polled(const struct pmon_counter *counter);

/** is_exact() - Whether an overflow of the counter is seen at the event that caused it */
int is_exact(const struct pmon_counter *counter);

/** settle_us() - Long enough for an overflow to be handled, by interrupt or by timer, µs */
uint64_t settle_us(void);

/**
 * apart_ns() - Time between two events of a plan, ns
 *
 * None falls into the freeze by the one before: what happens then is not counted. Where the
 * interrupt never comes, a CBo's overflow freezes the socket all the same (329468 table 2-13: bit
 * 17 of BOX_CTL must be 1), until the timer looks.
 */
unsigned int apart_ns(void);

/**
 * truth_of() - Events that a counter has counted since `truth clear`, by the model
 * @truth: the answer to `truth`
 * @counter: which
 */
uint64_t truth_of(const char *truth, const struct pmon_counter *counter);

/**
 * counter_words() - A counter in the words of the model's command `burst`
 * @counter: which
 *
 * Return: a static string, from "socket=" on; good until the next call.
 */
const char *counter_words(const struct pmon_counter *counter);

/**
 * plan_overflow() - Give a counter a whole period at one moment
 * @counter: one that stands at a multiple of its period
 * @delay_ns: time from now
 *
 * What comes while it is frozen is not counted, and it stands there still.
 */
void plan_overflow(const struct pmon_counter *counter, uint64_t delay_ns);

/** unit_word() - The model's word for enum pmon_unit */
const char *unit_word(uint32_t unit);

#endif
