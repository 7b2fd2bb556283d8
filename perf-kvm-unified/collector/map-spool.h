/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_KVM_UNIFIED_COLLECTOR_MAP_SPOOL_H
#define __PERF_KVM_UNIFIED_COLLECTOR_MAP_SPOOL_H

/**
 * struct map_spool - what is kept in memory of a map that is being written
 * @fd: where it is written to meanwhile
 * @out: where it goes in the end
 */
struct map_spool {
	int fd;
	int out;
};

int map_spool__open(struct map_spool *spool, int out);
int map_spool__bound(struct map_spool *spool);
int map_spool__close(struct map_spool *spool, int ret);

#endif /* __PERF_KVM_UNIFIED_COLLECTOR_MAP_SPOOL_H */
