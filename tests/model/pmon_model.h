/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * C interface of the PMON hardware model (crate `pmon-model`, static library).
 *
 * QEMU's glue calls the model and the model calls back through struct
 * pmon_host. Every call but pmon_model_claims_msr() is made with QEMU's big
 * lock held, so the model needs no locks of its own. Times are nanoseconds of
 * QEMU's virtual clock.
 */
#ifndef PMON_MODEL_H
#define PMON_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Result of a register access. */
enum pmon_access {
	PMON_NOT_MINE = 0,	/* the model does not know the register: QEMU goes on */
	PMON_OK = 1,
	PMON_GP = -1,		/* the part would raise #GP(0) */
};

/** What the model needs of the machine. */
struct pmon_host {
	/** Virtual clock, ns. */
	int64_t (*now_ns)(void);
	/** Instructions executed by @cpu, or -1 when they are not counted (no -icount). */
	int64_t (*insns)(uint32_t cpu);
	/** Shortest virtual time, ns, in which @n instructions can run. Only called with icount. */
	int64_t (*insns_to_ns)(int64_t n);
	/** Whether @cpu is halted (asleep). */
	bool (*halted)(uint32_t cpu);
	/** Ask for one pmon_model_timer() at virtual time @ns; -1 cancels. Replaces the last request. */
	void (*arm)(int64_t ns);
	/**
	 * Deliver the local APIC's performance-counter LVT entry of @cpu. Returns false, and does
	 * nothing, when the entry is masked; else delivers it and sets the mask bit.
	 */
	bool (*pmi)(uint32_t cpu);
};

/**
 * Start the model. @config is "key=value" pairs separated by commas: plan=FILE, out=FILE and any
 * key of the control command `set`. Returns NULL, or an error message that stays valid.
 */
const char *pmon_model_init(const struct pmon_host *host, const char *config);
/** Add one logical CPU, in order of @cpu; all are added before the guest runs. */
void pmon_model_add_cpu(uint32_t cpu, uint32_t socket, uint32_t core, uint32_t thread);
/** Machine reset: all registers to their reset values; truth, access counts and settings stay. */
void pmon_model_reset(void);
/** Write the `out=` file (the answer of control command `report`). Called once, at exit. */
void pmon_model_finish(void);

/** Whether the model owns @msr. Pure: may be called without the lock, on each access. */
bool pmon_model_claims_msr(uint32_t msr);
int pmon_model_rdmsr(uint32_t cpu, uint32_t msr, uint64_t *val);
int pmon_model_wrmsr(uint32_t cpu, uint32_t msr, uint64_t val);
int pmon_model_rdpmc(uint32_t cpu, uint32_t index, uint64_t *val);
/** Registers of CPUID leaf 0AH: regs[0..3] = EAX, EBX, ECX, EDX. */
void pmon_model_cpuid_0a(uint32_t regs[4]);
/**
 * The deadline of pmon_host.arm has come; the request is used up. Calls at any other time do no harm:
 * one when a CPU wakes up lets the model see the CPU's next overflow in time.
 */
void pmon_model_timer(void);

/**
 * Configuration space of a PMON PCI function of @socket, named by its device id. @addr is the
 * offset, @len 1, 2 or 4. PMON_NOT_MINE: QEMU's own configuration space answers.
 */
int pmon_model_pci_read(uint32_t socket, uint16_t device, uint32_t addr, uint32_t len, uint32_t *val);
int pmon_model_pci_write(uint32_t socket, uint16_t device, uint32_t addr, uint32_t len, uint32_t val);

/*
 * Control channel: a byte stream of commands, one a line, and of answers, one line each. A command
 * runs when its newline is written, at that very moment of virtual time. docs/model-control.md
 * lists the commands.
 */
void pmon_model_ctl_write(uint8_t byte);
/** Next byte of the answer, or -1 when there is none. */
int pmon_model_ctl_read(void);

#endif
