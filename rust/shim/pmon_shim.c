// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel inlines and macros made callable from Rust. Nothing else belongs here.
 */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/ptrace.h>
#include <linux/topology.h>
#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/cpuid/api.h>
#include <asm/msr.h>
#include <asm/processor.h>
#include "pmon_shim.h"

int pmon_shim_rdmsr(u32 msr, u64 *val)
{
	return rdmsrq_safe(msr, val);
}

int pmon_shim_wrmsr(u32 msr, u64 val)
{
	return wrmsrq_safe(msr, val);
}

/* apic_read() and apic_write() are static calls that are not exported; the APIC's driver is. */
u32 pmon_shim_lvtpc_read(void)
{
	return apic->read(APIC_LVTPC);
}

void pmon_shim_lvtpc_write(u32 val)
{
	apic->write(APIC_LVTPC, val);
}

u32 pmon_shim_lvtpc_nmi(void)
{
	return APIC_DM_NMI;
}

void pmon_shim_cpu(u32 cpu, struct pmon_shim_cpu *out)
{
	out->package = topology_logical_package_id(cpu);
	out->core = topology_core_id(cpu);
	out->first_sibling = cpumask_first(topology_sibling_cpumask(cpu));
}

void pmon_shim_model(struct pmon_shim_model *out)
{
	out->intel = boot_cpu_data.x86_vendor == X86_VENDOR_INTEL;
	out->family = boot_cpu_data.x86;
	out->model = boot_cpu_data.x86_model;
	out->stepping = boot_cpu_data.x86_stepping;
}

void pmon_shim_cpuid(u32 leaf, u32 *regs)
{
	regs[0] = 0;
	regs[1] = 0;
	regs[2] = 0;
	regs[3] = 0;
	if (leaf <= cpuid_eax(0))
		cpuid(leaf, &regs[0], &regs[1], &regs[2], &regs[3]);
}

bool pmon_shim_cpu_online(u32 cpu)
{
	return cpu < nr_cpu_ids && cpu_online(cpu);
}

bool pmon_shim_has_pdcm(void)
{
	return boot_cpu_has(X86_FEATURE_PDCM);
}

bool pmon_shim_perfmon_capable(void)
{
	return perfmon_capable();
}

void pmon_shim_init_irq_work(struct irq_work *work, void (*func)(struct irq_work *work))
{
	init_irq_work(work, func);
}

u64 pmon_shim_regs_ip(struct pt_regs *regs, bool *user)
{
	*user = user_mode(regs);
	return instruction_pointer(regs);
}
