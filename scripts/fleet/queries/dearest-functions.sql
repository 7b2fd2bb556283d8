-- SPDX-License-Identifier: GPL-2.0
-- Which functions of guests take most time of the fleet's CPUs?
--
-- Parameters:
--   from, until  the windows that begin from then on, and before that
--   module=      only functions of this one (none: all)
--   limit=20     how many functions
--
-- ns: of all vCPUs together; percent: of what guests executed (in all modules); hosts: with this
-- function in a row.
--
--   module           function                  ns         percent  hosts
--   libquantum.so.8  quantum_toffoli._omp_fn.0 5414000000 43.03    1

SELECT module, function, sum(ns) AS time_ns,
	round(100 * time_ns / (
		SELECT sum(ns) FROM kvm_fleet.class_time
		WHERE level = 'vcpu' AND class IN ('OS', 'USER')
			AND day >= toDate({from:DateTime('UTC')}, 'UTC')
			AND day <= toDate({until:DateTime('UTC')}, 'UTC')
			AND start >= toUInt64({from:DateTime('UTC')}) * 1000000000
			AND start < toUInt64({until:DateTime('UTC')}) * 1000000000), 2) AS percent,
	uniqExact(host) AS hosts
FROM kvm_fleet.rows
WHERE level = 'vcpu' AND class IN ('OS', 'USER')
	AND day >= toDate({from:DateTime('UTC')}, 'UTC')
	AND day <= toDate({until:DateTime('UTC')}, 'UTC')
	AND start >= toUInt64({from:DateTime('UTC')}) * 1000000000
	AND start < toUInt64({until:DateTime('UTC')}) * 1000000000
	AND ({module:String} = '' OR module = {module:String})
GROUP BY module, function
ORDER BY time_ns DESC, module, function
LIMIT {limit:UInt64};
