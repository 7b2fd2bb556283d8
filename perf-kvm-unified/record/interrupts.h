/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_INTERRUPTS_H
#define __PERF_KVM_UNIFIED_RECORD_INTERRUPTS_H

#include <signal.h>
#include <stdbool.h>

/* What SIGINT and SIGTERM do */
struct interrupt_handlers {
	sighandler_t on_int;
	sighandler_t on_term;
};

bool interrupts__came(void);
struct interrupt_handlers interrupts__note(void);
void interrupts__leave_to(const struct interrupt_handlers *before);

#endif /* __PERF_KVM_UNIFIED_RECORD_INTERRUPTS_H */
