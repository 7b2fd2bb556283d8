// SPDX-License-Identifier: GPL-2.0
/*
 * The vCPUs of samples, as a BPF program tells them.
 */
#include <string.h>
#include <byteswap.h>

#include "vcpu-context.h"

/* Swaps the bytes of what a machine of the other byte order has written. */
static void swap_context(struct vcpu_context *context)
{
	context->magic = bswap_32(context->magic);
	context->flags = bswap_32(context->flags);
	context->time = bswap_64(context->time);
	context->pt_root = bswap_64(context->pt_root);
	context->exit_reason = bswap_64(context->exit_reason);
	context->vcpu_id = bswap_32(context->vcpu_id);
	context->vpid = bswap_32(context->vpid);
	context->task_root = bswap_64(context->task_root);
	context->tgid = bswap_32(context->tgid);
	context->tid = bswap_32(context->tid);
}

/* @raw: @size bytes. false: it is no such record */
bool vcpu_context__read(struct vcpu_context *context, const void *raw, size_t size)
{
	if (size < offsetof(struct vcpu_context, task_root))
		return false;
	*context = (struct vcpu_context) { };
	memcpy(context, raw, size < sizeof(*context) ? size : sizeof(*context));
	if (context->magic == bswap_32(VCPU_CONTEXT_MAGIC))
		swap_context(context);
	if (size < sizeof(*context))
		context->flags &= ~VCPU_CONTEXT_TASK;
	return context->magic == VCPU_CONTEXT_MAGIC;
}
