/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What QEMU's x86 CPU asks of the PMON model. Each call may be made without
 * the BQL.
 */
#ifndef HW_I386_PMON_H
#define HW_I386_PMON_H

#include "cpu.h"
#include "hw/i386/pmon_model.h"

#ifdef CONFIG_USER_ONLY
static inline bool pmon_claims_msr(uint32_t msr)
{
    return false;
}

static inline enum pmon_access pmon_rdpmc(CPUX86State *env, uint32_t index,
                                          uint64_t *val)
{
    return PMON_NOT_MINE;
}

static inline bool pmon_cpuid_0a(uint32_t *eax, uint32_t *ebx, uint32_t *ecx,
                                 uint32_t *edx)
{
    return false;
}
#else
/* Whether there is a model, and it owns @msr. */
bool pmon_claims_msr(uint32_t msr);

/* Registers, as the CPU of @env sees them. */
enum pmon_access pmon_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val);
enum pmon_access pmon_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val);
enum pmon_access pmon_rdpmc(CPUX86State *env, uint32_t index, uint64_t *val);

/* CPUID leaf 0AH; false without a model. */
bool pmon_cpuid_0a(uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx);
#endif

#endif
