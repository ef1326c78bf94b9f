/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hardware model, as docs/model-control.md describes it, and what its answers need of JSON.
 */
#ifndef PMON_MODEL_H
#define PMON_MODEL_H

#include <stdint.h>

/** model_open() - Get the right to use the model's I/O ports, or end the program */
void model_open(void);

/**
 * model_ask() - Send one command
 * @format: the command, as for printf(), without a newline
 *
 * Ends the program when the model answers with an error: the test is wrong then.
 *
 * Return: the answer, to be given to free().
 */
char *model_ask(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * model_do() - Send one command whose answer is of no interest
 * @format: the command, as for printf(), without a newline
 */
void model_do(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * model_is() - Whether a setting of the model has this value
 * @setting: its key
 * @value: the value, as text
 */
int model_is(const char *setting, const char *value);

/**
 * model_nmi() - Send an NMI that no counter caused
 * @cpu: the CPU that gets it
 */
void model_nmi(unsigned int cpu);

/**
 * json_member() - The value of a member
 * @object: text that begins with the object
 * @key: the member's name
 *
 * Return: text that begins with the value. Ends the program when there is no such member.
 */
const char *json_member(const char *object, const char *key);

/**
 * json_element() - An element of an array
 * @array: text that begins with the array
 * @index: which, from 0
 *
 * Return: text that begins with the element. Ends the program when the array is shorter.
 */
const char *json_element(const char *array, unsigned int index);

/**
 * json_u64() - A number, or a string with a decimal or hexadecimal number
 * @value: text that begins with it
 */
uint64_t json_u64(const char *value);

/**
 * json_has() - Whether an object has a member
 * @object: text that begins with the object
 * @key: the member's name
 */
int json_has(const char *object, const char *key);

#endif
