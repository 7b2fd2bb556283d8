-- SPDX-License-Identifier: GPL-2.0
-- Which containers (cgroups in guests) take most of the fleet's CPU time?
--
-- Parameters:
--   from, until  the windows that begin from then on, and before that
--   limit=20     how many containers
--
-- A container is known by its path; the same path on several VMs is one row. percent: of what
-- guests executed, in containers or not. Time of guests' kernels has no container.
--
--   cgroup      ns             percent  vms  hosts
--   /pods/shop  91200000000000 12.44    100  100

SELECT cgroup, sum(ns) AS time_ns,
	round(100 * time_ns / (
		SELECT sum(ns) FROM kvm_fleet.class_time
		WHERE level = 'vcpu' AND class IN ('OS', 'USER')
			AND day >= toDate({from:DateTime('UTC')}, 'UTC')
			AND day <= toDate({until:DateTime('UTC')}, 'UTC')
			AND start >= toUInt64({from:DateTime('UTC')}) * 1000000000
			AND start < toUInt64({until:DateTime('UTC')}) * 1000000000), 2) AS percent,
	uniqExact(host, vm) AS vms, uniqExact(host) AS hosts
FROM kvm_fleet.rows
WHERE level = 'vcpu' AND class IN ('OS', 'USER') AND cgroup != ''
	AND day >= toDate({from:DateTime('UTC')}, 'UTC')
	AND day <= toDate({until:DateTime('UTC')}, 'UTC')
	AND start >= toUInt64({from:DateTime('UTC')}) * 1000000000
	AND start < toUInt64({until:DateTime('UTC')}) * 1000000000
GROUP BY cgroup
ORDER BY time_ns DESC, cgroup
LIMIT {limit:UInt64};
