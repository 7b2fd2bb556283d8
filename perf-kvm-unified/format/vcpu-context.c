// SPDX-License-Identifier: GPL-2.0
/*
 * The vCPUs of samples, as a BPF program tells them.
 */
#include <string.h>
#include <byteswap.h>

#include "vcpu-context.h"

/* What a machine of the other byte order has written */
static void swap_context(struct vcpu_context *context)
{
	context->magic = bswap_32(context->magic);
	context->flags = bswap_32(context->flags);
	context->time = bswap_64(context->time);
	context->pt_root = bswap_64(context->pt_root);
	context->exit_reason = bswap_64(context->exit_reason);
	context->vcpu_id = bswap_32(context->vcpu_id);
	context->vpid = bswap_32(context->vpid);
}

/* @raw: @size bytes. false: it is no such record */
bool vcpu_context__read(struct vcpu_context *context, const void *raw, size_t size)
{
	if (size < sizeof(*context))
		return false;
	memcpy(context, raw, sizeof(*context));
	if (context->magic == bswap_32(VCPU_CONTEXT_MAGIC))
		swap_context(context);
	return context->magic == VCPU_CONTEXT_MAGIC;
}
