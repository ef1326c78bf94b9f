/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel inlines and macros that Rust cannot call. */
#ifndef PMON_SHIM_H
#define PMON_SHIM_H

#include <linux/types.h>

struct irq_work;
struct pt_regs;

/**
 * struct pmon_shim_cpu - a logical CPU's place and identity
 * @package: physical package
 * @core: core of the package, as its local APIC counts
 * @first_sibling: first CPU of the same core
 */
struct pmon_shim_cpu {
	u32 package;
	u32 core;
	u32 first_sibling;
};

/**
 * struct pmon_shim_model - what CPUID says of the boot CPU
 */
struct pmon_shim_model {
	bool intel;
	u32 family;
	u32 model;
	u32 stepping;
};

int pmon_shim_rdmsr(u32 msr, u64 *val);
int pmon_shim_wrmsr(u32 msr, u64 val);
u32 pmon_shim_lvtpc_read(void);
void pmon_shim_lvtpc_write(u32 val);
void pmon_shim_cpu(u32 cpu, struct pmon_shim_cpu *out);
void pmon_shim_model(struct pmon_shim_model *out);
void pmon_shim_cpuid(u32 leaf, u32 *regs);
bool pmon_shim_cpu_online(u32 cpu);
bool pmon_shim_has_pdcm(void);
bool pmon_shim_perfmon_capable(void);
void pmon_shim_init_irq_work(struct irq_work *work, void (*func)(struct irq_work *work));
u64 pmon_shim_regs_ip(struct pt_regs *regs, bool *user);
u32 pmon_shim_lvtpc_nmi(void);

#endif /* PMON_SHIM_H */
