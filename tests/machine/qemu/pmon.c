/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Joins the PMON model (a Rust library, see pmon_model.h) to the machine: the
 * CPU's performance-monitoring registers, the local APIC's performance-counter
 * interrupt, the virtual clock, and a control channel for the guest.
 *
 * -device pmon[,config=KEY=VALUE,,KEY=VALUE...][,iobase=0x5f0]
 *
 * Ports, one byte each:
 *   iobase      write: next byte of a command; read: next byte of the answer,
 *               0xff when there is none
 *   iobase + 1  read: 1 while a byte of an answer is waiting, else 0
 *   iobase + 2  write: an NMI to the CPU of that index
 *
 * The machine has one such device at most, and without it the CPU is QEMU's
 * own. The model wants the BQL held, which CPU helpers do not hold.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qemu/timer.h"
#include "hw/core/cpu.h"
#include "hw/i386/apic.h"
#include "hw/i386/pmon.h"
#include "hw/isa/isa.h"
#include "hw/qdev-properties.h"
#include "qom/object.h"
#include "system/cpu-timers.h"
#include "system/system.h"
#include "system/tcg.h"

#define TYPE_PMON "pmon"
OBJECT_DECLARE_SIMPLE_TYPE(PmonState, PMON)

struct PmonState {
    ISADevice parent_obj;

    char *config;
    uint32_t iobase;
    MemoryRegion io;
    QEMUTimer *deadline;
    Notifier exit;
    /* byte of an answer that port iobase + 1 has looked at, or -1 */
    int ahead;
};

/* For the CPU's hooks, which have no other way to the device. Set once. */
static PmonState *pmon;

/* What the model asks of the machine */

static int64_t pmon_now_ns(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static int64_t pmon_insns(uint32_t cpu)
{
    if (!icount_enabled()) {
        return -1;
    }
    /* adds what the running CPU has executed since it was last asked */
    icount_get_raw();
    return qatomic_read_i64(&qemu_get_cpu(cpu)->icount_total);
}

static int64_t pmon_insns_to_ns(int64_t n)
{
    /* 100 days are as good as never, and no icount shift makes them overflow */
    return icount_to_ns(MIN(n, 100 * 86400 * NANOSECONDS_PER_SECOND));
}

static bool pmon_halted(uint32_t cpu)
{
    return qemu_get_cpu(cpu)->halted;
}

static void pmon_arm(int64_t ns)
{
    if (ns < 0) {
        timer_del(pmon->deadline);
    } else {
        timer_mod(pmon->deadline, ns);
    }
}

static bool pmon_pmi(uint32_t cpu)
{
    return apic_deliver_lvtpc(X86_CPU(qemu_get_cpu(cpu))->apic_state);
}

static const struct pmon_host pmon_host = {
    .now_ns = pmon_now_ns,
    .insns = pmon_insns,
    .insns_to_ns = pmon_insns_to_ns,
    .halted = pmon_halted,
    .arm = pmon_arm,
    .pmi = pmon_pmi,
};

static void pmon_deadline(void *opaque)
{
    pmon_model_timer();
}

/* What the CPU asks of the model */

bool pmon_claims_msr(uint32_t msr)
{
    return pmon && pmon_model_claims_msr(msr);
}

enum pmon_access pmon_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    if (!pmon_claims_msr(msr)) {
        return PMON_NOT_MINE;
    }
    BQL_LOCK_GUARD();
    return pmon_model_rdmsr(env_cpu(env)->cpu_index, msr, val);
}

enum pmon_access pmon_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    if (!pmon_claims_msr(msr)) {
        return PMON_NOT_MINE;
    }
    BQL_LOCK_GUARD();
    return pmon_model_wrmsr(env_cpu(env)->cpu_index, msr, val);
}

enum pmon_access pmon_rdpmc(CPUX86State *env, uint32_t index, uint64_t *val)
{
    if (!pmon) {
        return PMON_NOT_MINE;
    }
    BQL_LOCK_GUARD();
    return pmon_model_rdpmc(env_cpu(env)->cpu_index, index, val);
}

bool pmon_cpuid_0a(uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    uint32_t regs[4];

    if (!pmon) {
        return false;
    }
    pmon_model_cpuid_0a(regs);
    *eax = regs[0];
    *ebx = regs[1];
    *ecx = regs[2];
    *edx = regs[3];
    return true;
}

/* Control channel */

static bool pmon_look_ahead(PmonState *s)
{
    if (s->ahead < 0) {
        s->ahead = pmon_model_ctl_read();
    }
    return s->ahead >= 0;
}

static uint64_t pmon_io_read(void *opaque, hwaddr addr, unsigned size)
{
    PmonState *s = opaque;
    bool waiting = pmon_look_ahead(s);
    uint8_t byte = 0xff;

    switch (addr) {
    case 0:
        if (waiting) {
            byte = s->ahead;
            s->ahead = -1;
        }
        return byte;
    case 1:
        return waiting;
    default:
        return 0xff;
    }
}

static void pmon_io_write(void *opaque, hwaddr addr, uint64_t val,
                          unsigned size)
{
    CPUState *cs;

    switch (addr) {
    case 0:
        pmon_model_ctl_write(val);
        break;
    case 2:
        cs = qemu_get_cpu(val);
        if (cs) {
            cpu_interrupt(cs, CPU_INTERRUPT_NMI);
        }
        break;
    }
}

static const MemoryRegionOps pmon_io_ops = {
    .read = pmon_io_read,
    .write = pmon_io_write,
    .impl.max_access_size = 1,
    .valid.max_access_size = 1,
    .endianness = DEVICE_LITTLE_ENDIAN,
};

/* The device */

static void pmon_exit(Notifier *n, void *data)
{
    pmon_model_finish();
}

static void pmon_realize(DeviceState *dev, Error **errp)
{
    PmonState *s = PMON(dev);
    const char *error;
    CPUState *cs;

    if (pmon) {
        error_setg(errp, "there is a pmon device already");
        return;
    }
    if (!tcg_enabled()) {
        error_setg(errp, "the pmon device needs -accel tcg");
        return;
    }
    s->ahead = -1;
    s->deadline = timer_new_ns(QEMU_CLOCK_VIRTUAL, pmon_deadline, s);
    pmon = s;

    error = pmon_model_init(&pmon_host, s->config ?: "");
    if (error) {
        error_setg(errp, "%s", error);
        return;
    }
    CPU_FOREACH(cs) {
        X86CPU *cpu = X86_CPU(cs);

        pmon_model_add_cpu(cs->cpu_index, cpu->socket_id, cpu->core_id,
                           cpu->thread_id);
    }

    memory_region_init_io(&s->io, OBJECT(s), &pmon_io_ops, s, TYPE_PMON, 3);
    isa_register_ioport(ISA_DEVICE(s), &s->io, s->iobase);
    s->exit.notify = pmon_exit;
    qemu_add_exit_notifier(&s->exit);
}

static void pmon_reset(DeviceState *dev)
{
    pmon_model_reset();
}

static const Property pmon_properties[] = {
    DEFINE_PROP_STRING("config", PmonState, config),
    DEFINE_PROP_UINT32("iobase", PmonState, iobase, 0x5f0),
};

static void pmon_class_init(ObjectClass *oc, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);

    dc->realize = pmon_realize;
    dc->desc = "model of the Xeon E5/E7 v2 performance-monitoring units";
    /* the CPU's hooks keep a pointer to it */
    dc->hotpluggable = false;
    device_class_set_legacy_reset(dc, pmon_reset);
    device_class_set_props(dc, pmon_properties);
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
}

static const TypeInfo pmon_info = {
    .name = TYPE_PMON,
    .parent = TYPE_ISA_DEVICE,
    .instance_size = sizeof(PmonState),
    .class_init = pmon_class_init,
};

static void pmon_register_types(void)
{
    type_register_static(&pmon_info);
}

type_init(pmon_register_types)
