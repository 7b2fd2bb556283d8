-- SPDX-License-Identifier: GPL-2.0
-- What perf has seen on a fleet of hosts: clickhouse-client --multiquery <schema.sql
--
-- For ClickHouse 18.16, which Debian 12 has, and for today's versions: no LowCardinality (an
-- experiment in 18.16), no DateTime64, no window functions, no codecs, no TTL.

CREATE DATABASE IF NOT EXISTS kvm_fleet;

-- The rows as perf writes them, one each. The columns have the names of the members.
CREATE TABLE IF NOT EXISTS kvm_fleet.rows
(
	-- The day of UTC, whatever the server's time zone is: its number since 1970.
	-- Old days are dropped as whole partitions: ALTER TABLE ... DROP PARTITION '2026-11-30'.
	-- Not MATERIALIZED: 18.16 does not take such a column from a Distributed table.
	day Date DEFAULT toDate(toUInt16(intDiv(start, 86400000000000))),
	host String,
	-- ns since 1970. DateTime has seconds alone, and two windows may begin in one.
	start UInt64,
	duration UInt64,
	-- There are few of these, and an unknown one is an error. A new class is an ALTER.
	level Enum8('host' = 1, 'vcpu' = 2),
	vm String,
	vcpu Int32,
	class Enum8('OS' = 1, 'USER' = 2, 'IDLE' = 3, 'halt-poll' = 4, 'VM' = 5, 'HOST' = 6,
		'steal' = 7, 'exit' = 8, 'vmm' = 9, 'stopped' = 10, 'throttled' = 11,
		'blocked' = 12, 'lost' = 13, 'unknown' = 14),
	function String,
	module String,
	process String,
	pid Int32,
	cgroup String,
	build_id String,
	ns UInt64,
	samples UInt64,
	stack String
)
ENGINE = MergeTree
PARTITION BY day
-- All questions are of one level and of some classes. Next to each other are then the rows of one
-- function from all hosts: their names and build-ids are the same, and take little on disk.
ORDER BY (level, class, module, function, host, start);

-- How long what was in each class. Questions about VMs and hosts need no functions, and read this:
-- a row for each window, VM and class, where the table above has one for each function.
CREATE TABLE IF NOT EXISTS kvm_fleet.class_time
(
	day Date,
	level Enum8('host' = 1, 'vcpu' = 2),
	host String,
	vm String,
	start UInt64,
	class Enum8('OS' = 1, 'USER' = 2, 'IDLE' = 3, 'halt-poll' = 4, 'VM' = 5, 'HOST' = 6,
		'steal' = 7, 'exit' = 8, 'vmm' = 9, 'stopped' = 10, 'throttled' = 11,
		'blocked' = 12, 'lost' = 13, 'unknown' = 14),
	ns UInt64
)
ENGINE = SummingMergeTree
PARTITION BY day
-- Not all is summed up at any time: queries have to say sum(ns) and GROUP BY.
ORDER BY (level, host, vm, start, class);

CREATE MATERIALIZED VIEW IF NOT EXISTS kvm_fleet.class_time_of_rows TO kvm_fleet.class_time AS
SELECT toDate(toUInt16(intDiv(start, 86400000000000))) AS day, level, host, vm, start, class,
	sum(ns) AS ns
FROM kvm_fleet.rows
GROUP BY day, level, host, vm, start, class;
