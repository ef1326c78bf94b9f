// SPDX-License-Identifier: GPL-2.0-only
/*
 * modelctl: talk to the hardware model from inside the modelled machine.
 *
 *	modelctl COMMAND…	send one command, print the answer
 *	modelctl		send each line of the standard input, print each answer
 *	modelctl --nmi CPU	an NMI to that CPU, which no counter caused
 *
 * Exit status: 0, or 1 when an answer was an error, or 2 for a wrong use.
 * docs/model-control.md lists the commands, docs/machine.md the I/O ports.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/io.h>
#include <unistd.h>

#define PORT_DATA	0x5f0	/* bytes of a command, bytes of its answer */
#define PORT_WAITING	0x5f1	/* 1 while a byte of the answer is waiting */
#define PORT_NMI	0x5f2	/* a CPU's index: an NMI to it */

/**
 * command() - Send one command and print its answer
 * @text: the command, with or without its newline
 *
 * Return: 0, or 1 when the answer says that it failed.
 */
static int command(const char *text)
{
	static const char error[] = "error";
	size_t matched = 0;
	int byte;

	for (; *text && *text != '\n'; text++)
		outb(*text, PORT_DATA);
	outb('\n', PORT_DATA);

	for (size_t n = 0; inb(PORT_WAITING) == 1; n++) {
		byte = inb(PORT_DATA);
		putchar(byte);
		if (n < strlen(error) && byte == error[n])
			matched++;
		if (byte == '\n')
			break;
	}
	fflush(stdout);
	return matched == strlen(error);
}

int main(int argc, char **argv)
{
	/* Two programs that talk at once would mix their bytes. */
	int lock = open("/proc/self/exe", O_RDONLY);
	char line[4096] = "";
	int status = 0;

	if (lock < 0 || flock(lock, LOCK_EX) || ioperm(PORT_DATA, 3, 1)) {
		perror("modelctl");
		return 2;
	}
	if (argc > 1 && !strcmp(argv[1], "--nmi")) {
		if (argc != 3) {
			fprintf(stderr, "usage: modelctl --nmi CPU\n");
			return 2;
		}
		outb(atoi(argv[2]), PORT_NMI);
		return 0;
	}
	if (argc == 1) {
		while (fgets(line, sizeof(line), stdin))
			status |= command(line);
		return status;
	}
	for (int i = 1; i < argc; i++) {
		if (strlen(line) + strlen(argv[i]) + 2 > sizeof(line)) {
			fprintf(stderr, "modelctl: the command is too long\n");
			return 2;
		}
		strcat(line, argv[i]);
		if (i + 1 < argc)
			strcat(line, " ");
	}
	return command(line);
}
