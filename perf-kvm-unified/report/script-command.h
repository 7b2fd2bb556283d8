/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_REPORT_SCRIPT_COMMAND_H
#define __PERF_KVM_UNIFIED_REPORT_SCRIPT_COMMAND_H

#include "util/strbuf.h"

struct report_options;

int script_command__set(struct strbuf *text, const struct report_options *opts);

#endif /* __PERF_KVM_UNIFIED_REPORT_SCRIPT_COMMAND_H */
