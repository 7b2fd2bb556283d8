-- SPDX-License-Identifier: GPL-2.0
-- On which hosts do guests wait most for a CPU?
--
-- Parameters:
--   from, until  the windows that begin from then on, and before that
--   limit=20     how many hosts
--
-- percent: of the time of the host's vCPUs, stolen by others or throttled by their own limits;
-- worst_vm: which VM waited for the largest part of its own time.
--
--   host      steal_ns      throttled_ns  percent  worst_vm  worst_percent
--   host-042  9120000000000 0             17.31    shop-2    28.90

SELECT host, sum(vm_steal_ns) AS steal_ns, sum(vm_throttled_ns) AS throttled_ns,
	round(100 * (steal_ns + throttled_ns) / sum(vm_ns), 2) AS percent,
	argMax(vm, vm_percent) AS worst_vm, round(max(vm_percent), 2) AS worst_percent
FROM
(
	SELECT host, vm, sum(ns) AS vm_ns, sumIf(ns, class = 'steal') AS vm_steal_ns,
		sumIf(ns, class = 'throttled') AS vm_throttled_ns,
		100 * (vm_steal_ns + vm_throttled_ns) / vm_ns AS vm_percent
	FROM kvm_fleet.class_time
	WHERE level = 'vcpu'
		AND day >= toDate({from:DateTime('UTC')}, 'UTC')
		AND day <= toDate({until:DateTime('UTC')}, 'UTC')
		AND start >= toUInt64({from:DateTime('UTC')}) * 1000000000
		AND start < toUInt64({until:DateTime('UTC')}) * 1000000000
	GROUP BY host, vm
)
GROUP BY host
ORDER BY (steal_ns + throttled_ns) / sum(vm_ns) DESC, host
LIMIT {limit:UInt64};
