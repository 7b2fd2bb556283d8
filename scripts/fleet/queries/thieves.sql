-- SPDX-License-Identifier: GPL-2.0
-- Who steals CPU time from whom, over all hosts?
--
-- Parameters:
--   from, until  the windows that begin from then on, and before that
--   vm=          only what was stolen from VMs of this name (none: all)
--   limit=20     how many pairs
--
-- A row is a pair: what the VMs of a name lost to one thief, on all hosts that have both. Tasks of
-- one name are one thief whatever their pids, and the threads of a VM are that VM. percent: of the
-- time of these VMs' vCPUs, on all hosts.
--
--   vm      thief       ns         percent  hosts
--   shop-3  VM search-1 3005000000 4.99     12
--   shop-3  task rsync  92000000   0.15     100

SELECT vm, thief, time_ns, round(100 * time_ns / all_ns, 2) AS percent, hosts
FROM
(
	SELECT vm,
		-- The longest beginning that fits, so that a name may look like the end of one.
		multiIf(
			match(function, '(?s)^\\[steal\\] \\(on VM .*: [^:]*\\)$'),
				extract(function, '(?s)^\\[steal\\] \\(on (VM .*): [^:]*\\)$'),
			match(function, '(?s)^\\[steal\\] \\(on task .*, pid [0-9]+(?:, in .*)?\\)$'),
				extract(function, '(?s)^\\[steal\\] \\(on (task .*), pid [0-9]+(?:, in .*)?\\)$'),
			match(function, '(?s)^\\[steal\\] \\(on [0-9]+ tasks .*\\)$'),
				concat('task ', extract(function, '(?s)^\\[steal\\] \\(on [0-9]+ tasks (.*)\\)$')),
			match(function, '^\\[steal\\] \\(on vcpu[0-9]+\\)$'), 'its other vCPUs',
			match(function, '(?s)^\\[steal\\] \\(on its VMM: .*\\)$'), 'its VMM',
			match(function, '(?s)^\\[steal\\] \\(.*\\)$'),
				extract(function, '(?s)^\\[steal\\] \\((?:on )?(.*)\\)$'),
			function) AS thief,
		sum(ns) AS time_ns, uniqExact(host) AS hosts
	FROM kvm_fleet.rows
	WHERE level = 'vcpu' AND class = 'steal'
		AND day >= toDate({from:DateTime('UTC')}, 'UTC')
		AND day <= toDate({until:DateTime('UTC')}, 'UTC')
		AND start >= toUInt64({from:DateTime('UTC')}) * 1000000000
		AND start < toUInt64({until:DateTime('UTC')}) * 1000000000
		AND ({vm:String} = '' OR vm = {vm:String})
	GROUP BY vm, thief
) AS lost
ANY LEFT JOIN
(
	SELECT vm, sum(ns) AS all_ns
	FROM kvm_fleet.class_time
	WHERE level = 'vcpu'
		AND day >= toDate({from:DateTime('UTC')}, 'UTC')
		AND day <= toDate({until:DateTime('UTC')}, 'UTC')
		AND start >= toUInt64({from:DateTime('UTC')}) * 1000000000
		AND start < toUInt64({until:DateTime('UTC')}) * 1000000000
	GROUP BY vm
) AS whole USING (vm)
ORDER BY time_ns DESC, vm, thief
LIMIT {limit:UInt64};
