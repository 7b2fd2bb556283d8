-- SPDX-License-Identifier: GPL-2.0
-- What has a roll-out changed: functions of one file, by build-id, before and after?
--
-- Parameters:
--   from, until  the windows that begin from then on, and before that
--   old, new     the build-ids, in hex
--   limit=20     how many functions, those with the greatest change first
--
-- old_ppm, new_ppm: millionths of the time of the vCPUs, in those windows of VMs in which the file
-- with that build-id was seen. So it does not count how many VMs have which, or for how long. A
-- window in which one VM had both counts for both. The row "(all)" is the file as a whole.
--
--   function            old_ns       new_ns       old_ppm  new_ppm  change_ppm
--   (all)               912000000000 401000000000 81200    93100    11900
--   ngx_http_parse_uri  104000000000 88000000000  9260     20430    11170

SELECT function, old_ns, new_ns,
	round(old_part) AS old_ppm, round(new_part) AS new_ppm,
	round(new_part - old_part) AS change_ppm
FROM
(
	SELECT function, old_ns, new_ns,
		if(old_all = 0, 0, 1000000 * old_ns / old_all) AS old_part,
		if(new_all = 0, 0, 1000000 * new_ns / new_all) AS new_part
	FROM
	(
		SELECT arrayJoin([function, '(all)']) AS function,
			sumIf(ns, build_id = {old:String}) AS old_ns,
			sumIf(ns, build_id = {new:String}) AS new_ns,
			(
				SELECT sum(ns) FROM kvm_fleet.class_time
				WHERE level = 'vcpu'
					AND day >= toDate({from:DateTime('UTC')}, 'UTC')
					AND day <= toDate({until:DateTime('UTC')}, 'UTC')
					AND (host, vm, start) GLOBAL IN
					(
						SELECT host, vm, start FROM kvm_fleet.rows
						WHERE level = 'vcpu' AND build_id = {old:String}
							AND day >= toDate({from:DateTime('UTC')}, 'UTC')
							AND day <= toDate({until:DateTime('UTC')}, 'UTC')
							AND start >= toUInt64({from:DateTime('UTC')}) * 1000000000
							AND start < toUInt64({until:DateTime('UTC')}) * 1000000000
					)
			) AS old_all,
			(
				SELECT sum(ns) FROM kvm_fleet.class_time
				WHERE level = 'vcpu'
					AND day >= toDate({from:DateTime('UTC')}, 'UTC')
					AND day <= toDate({until:DateTime('UTC')}, 'UTC')
					AND (host, vm, start) GLOBAL IN
					(
						SELECT host, vm, start FROM kvm_fleet.rows
						WHERE level = 'vcpu' AND build_id = {new:String}
							AND day >= toDate({from:DateTime('UTC')}, 'UTC')
							AND day <= toDate({until:DateTime('UTC')}, 'UTC')
							AND start >= toUInt64({from:DateTime('UTC')}) * 1000000000
							AND start < toUInt64({until:DateTime('UTC')}) * 1000000000
					)
			) AS new_all
		FROM kvm_fleet.rows
		WHERE level = 'vcpu' AND build_id IN ({old:String}, {new:String})
			AND build_id != ''
			AND day >= toDate({from:DateTime('UTC')}, 'UTC')
			AND day <= toDate({until:DateTime('UTC')}, 'UTC')
			AND start >= toUInt64({from:DateTime('UTC')}) * 1000000000
			AND start < toUInt64({until:DateTime('UTC')}) * 1000000000
		GROUP BY function
	)
)
ORDER BY abs(new_part - old_part) DESC, function
LIMIT {limit:UInt64};
