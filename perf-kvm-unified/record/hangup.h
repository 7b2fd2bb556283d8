/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_RECORD_HANGUP_H
#define __PERF_KVM_UNIFIED_RECORD_HANGUP_H

void hangup__ends_measurement(void);
void hangup__ends_nothing(void);
void closed_pipe__ends_nothing(void);

#endif /* __PERF_KVM_UNIFIED_RECORD_HANGUP_H */
