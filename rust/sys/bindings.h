/* SPDX-License-Identifier: GPL-2.0-only */
/* Input of bindgen for rust/sys/bindings.rs. */
#include <linux/types.h>
#include <linux/cpu.h>
#include <linux/irq_work.h>
#include <linux/timekeeping.h>
#include <asm/nmi.h>
#include "../shim/pmon_shim.h"
