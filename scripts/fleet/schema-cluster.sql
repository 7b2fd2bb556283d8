-- SPDX-License-Identifier: GPL-2.0
-- A fleet of more rows than one server holds. On each server of a cluster that the servers' config
-- calls "fleet", the tables of schema.sql go into a database of another name, and these stand
-- before them under the first name. load and queries do not know the difference:
--
--   sed 's/kvm_fleet\./kvm_fleet_local./g; s/EXISTS kvm_fleet;/EXISTS kvm_fleet_local;/' schema.sql |
--   	clickhouse-client --multiquery
--   clickhouse-client --multiquery <schema-cluster.sql

CREATE DATABASE IF NOT EXISTS kvm_fleet;

-- All rows of a host and day are on one shard: a window is whole there or not at all, and a day is
-- dropped on each shard alone. Hosts are many, so that shards are alike.
CREATE TABLE IF NOT EXISTS kvm_fleet.rows AS kvm_fleet_local.rows
ENGINE = Distributed(fleet, kvm_fleet_local, rows, cityHash64(host, intDiv(start, 86400000000000)));

-- To read: each shard fills its own.
CREATE TABLE IF NOT EXISTS kvm_fleet.class_time AS kvm_fleet_local.class_time
ENGINE = Distributed(fleet, kvm_fleet_local, class_time);
