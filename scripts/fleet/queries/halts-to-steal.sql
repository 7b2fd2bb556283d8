-- SPDX-License-Identifier: GPL-2.0
-- Which VMs' halts have become steal since yesterday?
--
-- Parameters:
--   from, until          now: the windows that begin from then on, and before that
--   old_from, old_until  what to compare with: the same time of yesterday
--   points=1             how much, at least, in percent of the VM's time
--   limit=20             how many VMs
--
-- A VM that had idle time and now waits for a CPU: its idle part (IDLE, halt-poll) has become less
-- and its stolen part more. became is the smaller of the two, in points of percent. It has lost
-- its reserve: what comes next is that it gets less done.
--
--   host      vm      old_idle  idle   old_steal  steal  became
--   host-007  shop-3  41.20     12.70  1.10       28.90  27.8

SELECT host, vm,
	round(old_idle_percent, 2) AS old_idle, round(idle_percent, 2) AS idle,
	round(old_steal_percent, 2) AS old_steal, round(steal_percent, 2) AS steal,
	round(became_points, 2) AS became
FROM
(
	SELECT host, vm,
		100 * sumIf(ns, old AND class IN ('IDLE', 'halt-poll')) / sumIf(ns, old) AS old_idle_percent,
		100 * sumIf(ns, new AND class IN ('IDLE', 'halt-poll')) / sumIf(ns, new) AS idle_percent,
		100 * sumIf(ns, old AND class = 'steal') / sumIf(ns, old) AS old_steal_percent,
		100 * sumIf(ns, new AND class = 'steal') / sumIf(ns, new) AS steal_percent,
		least(old_idle_percent - idle_percent, steal_percent - old_steal_percent) AS became_points
	FROM
	(
		SELECT host, vm, class, ns,
			start >= toUInt64({old_from:DateTime('UTC')}) * 1000000000
				AND start < toUInt64({old_until:DateTime('UTC')}) * 1000000000 AS old,
			start >= toUInt64({from:DateTime('UTC')}) * 1000000000
				AND start < toUInt64({until:DateTime('UTC')}) * 1000000000 AS new
		FROM kvm_fleet.class_time
		WHERE level = 'vcpu'
			AND day >= toDate({old_from:DateTime('UTC')}, 'UTC')
			AND day <= toDate({until:DateTime('UTC')}, 'UTC')
	)
	WHERE old OR new
	GROUP BY host, vm
	-- Of one that was not there, or is not any more, nothing can be said.
	HAVING sumIf(ns, old) > 0 AND sumIf(ns, new) > 0
)
WHERE became_points >= {points:Float64}
ORDER BY became_points DESC, host, vm
LIMIT {limit:UInt64};
