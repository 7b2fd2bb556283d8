#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The fleet's tables (scripts/fleet) on the ClickHouse that Debian has, and on today's: rows of 100
# hosts and a day are loaded, each question has the answer that the generator of the rows knows, and
# hostile names and bad lines do no harm. HOSTS, EVERY (s) make it smaller. It leaves
# build/fleet-sql.json, the figures that scripts/fleet/sizes.py takes.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/../tests/tap.sh"

FLEET=$TOP/scripts/fleet
# The library of today's ClickHouse, and what its packages hash to
CHDB=3.4.0 CHDB_LIB=26.7.3-stable.1
CHDB_SHA256=47bad24d64658bc3c84d9d7651f53290012ae78deb98912d6a06b84d858be26b
CHDB_LIB_SHA256=c0d32b129e988f2b9a9a31c9141aecf5e1e2453f9a079efc4d36ab8e3f92b2ad
NOW=$KVMU_CACHE/chdb-$CHDB

"$TOP/scripts/deps.sh" clickhouse >&2 || exit 1

# --- a server --------------------------------------------------------------------------------

servers=()
stop_servers()
{
	[ ${#servers[@]} -eq 0 ] || kill "${servers[@]}" 2>/dev/null
	servers=()
	wait
	tap_exit
}
trap stop_servers EXIT
trap 'exit 1' INT TERM
chmod 711 "$TMP"

# start NAME [PORT...]: a server in $TMP/NAME; load and query ask it from now on
start()
{
	local dir=$TMP/$1
	shift

	mkdir -p "$dir"
	rm -f "$dir/env"
	nice "$FLEET/server" "$dir" "$@" >"$dir/log" 2>&1 &
	servers+=($!)
	until_answer "$dir" $!
}

until_answer()
{
	local i

	for ((i = 0; i < 300; i++)); do
		if [ -s "$1/env" ]; then
			# shellcheck disable=SC1091 # made at run time
			. "$1/env"
			export CLICKHOUSE_URL
			sql 'SELECT 1' >/dev/null 2>&1 && return
		fi
		kill -0 "$2" 2>/dev/null || break
		sleep 0.1
	done
	tail -n 5 "$1/log"
	return 1
}

sql()
{
	clickhouse-client --port "$TCP_PORT" --query "$1" </dev/null
}
schema()
{
	clickhouse-client --port "$TCP_PORT" --multiquery <"$FLEET/$1"
}
nr_rows()
{
	sql 'SELECT count() FROM kvm_fleet.rows'
}

ok "a server starts" start one
note "ClickHouse $(sql 'SELECT version()')"
ok "... it is not root" test "$(id -u)" -ne 0 -o "$(ps -o uid= -p "${servers[0]}" | tr -d ' ')" -ne 0
ok "the schema" schema schema.sql
ok "... and again" schema schema.sql

# --- a fleet ---------------------------------------------------------------------------------

ok "rows of a fleet are made" nice "$FLEET/generate.py" --hosts "${HOSTS:-100}" --every "${EVERY:-600}" \
	"$TMP/rows" "$TMP/answers"
# known NAME: a number that the generator knows
known()
{
	sed -n "s/^ \"$1\": \([0-9]*\),\$/\1/p" "$TMP/answers"
}
note "$(known rows) rows of $(known hosts) hosts, $(($(stat -c %s "$TMP/rows") / 1000000)) MB of JSON"
# A part of it first: the last load goes on from there.
head -n $((279 * 40)) "$TMP/rows" >"$TMP/whole"
load()
{
	nice "$FLEET/load.py" "$@"
}
sed '5000s/"ns": /"ns": "/' "$TMP/whole" >"$TMP/bad"
# refused MESSAGE FILE...: load fails, and says so
refused()
{
	local said

	said=$(load "${@:2}" 2>&1) && return 1
	echo "$said"
	grep -qF -- "$1" <<<"$said"
}
ok "a bad line is refused, by its number" refused 'line 5000: not JSON. Nothing was loaded.' "$TMP/bad"
ok "... nothing was loaded" test "$(nr_rows)" -eq 0
ok "some windows are loaded" load "$TMP/whole"
ok "... they are there" test "$(nr_rows)" -eq $((279 * 40))
ok "the same again is refused" refused 'has 40 of these 40 windows already' "$TMP/whole"
ok "... nothing was loaded" test "$(nr_rows)" -eq $((279 * 40))
before=$EPOCHREALTIME
ok "the rest is loaded, without what is there" load --again "$TMP/rows"
after=$EPOCHREALTIME
loaded=$(($(known rows) - 279 * 40))
rate=$(awk -v rows=$loaded -v a="$before" -v b="$after" 'BEGIN { printf "%d", rows / (b - a) }')
note "loaded $rate rows/s, by one process, with all checks"
ok "each row is there once" test "$(nr_rows)" -eq "$(known rows)"
ok "... with its time" test "$(sql 'SELECT sum(ns) FROM kvm_fleet.rows')" -eq "$(known ns)"
ok "... and the small table has it, too" test "$(sql 'SELECT sum(ns) FROM kvm_fleet.class_time')" -eq "$(known ns)"
ok "a partition a day" test "$(sql "SELECT countDistinct(partition) FROM system.parts
	WHERE database = 'kvm_fleet' AND table = 'rows' AND active")" -eq 2

# hand_on_answers PREFIX COMMAND...: its TAP
hand_on_answers()
{
	"${@:2}" >"$TMP/answers.tap" 2>"$TMP/answers.err"
	hand_on "$TMP/answers.tap" "$TMP/answers.err" "$1: "
}
hand_on_answers "18.16" "$TESTS/fleet-answers.py" "$TMP/answers" --ask

as_reader()
{
	CLICKHOUSE_USER=reader CLICKHOUSE_PASSWORD=${PASSWORD:-$READER_PASSWORD} "$@"
}
ok "who may only read can ask" as_reader "$FLEET/query.py" waiting-hosts from=2026-11-29 until=2026-12-01
PASSWORD=guessed ok "... with the password alone" not as_reader "$FLEET/query.py" waiting-hosts \
	from=2026-11-29 until=2026-12-01
sed 's/"host": "/&other-/' "$TMP/whole" >"$TMP/other"
ok "... and not load" as_reader refused '0 of 11160 rows were loaded' --again "$TMP/other"
ok "... nothing was" test "$(nr_rows)" -eq "$(known rows)"

# --- how much, how long ----------------------------------------------------------------------

sql 'OPTIMIZE TABLE kvm_fleet.class_time'
for table in rows class_time; do
	note "$(sql "SELECT concat('table $table: ', toString(sum(rows)), ' rows, ',
		toString(round(sum(bytes_on_disk) / sum(rows), 2)), ' bytes each on disk, ',
		toString(count()), ' parts')
		FROM system.parts WHERE database = 'kvm_fleet' AND table = '$table' AND active")"
done
bytes=$(sql "SELECT sum(bytes_on_disk) FROM system.parts WHERE database = 'kvm_fleet' AND active")
slowest=0 slowest_name=
while read -r name; do
	values=$(python3 -c 'import json, sys
for one in json.load(open(sys.argv[1]))["questions"]:
	if one["query"] == sys.argv[2]:
		print(*("%s=%s" % item for item in one["values"].items()), sep="\n")
		break' "$TMP/answers" "$name")
	mapfile -t values <<<"$values"
	# The best of three: others use the machine.
	took=$(for _ in 1 2 3; do
		before=$EPOCHREALTIME
		"$FLEET/query.py" "$name" "${values[@]}" >/dev/null
		awk -v a="$before" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f\n", b - a }'
	done | sort -n | head -n 1)
	note "$name: $took s"
	if awk -v a="$took" -v b="$slowest" 'BEGIN { exit !(a > b) }'; then
		slowest=$took slowest_name=$name
	fi
done < <("$FLEET/query.py" | awk '{ print $1 }')
mkdir -p "$TOP/build"
awk -v rows="$(known rows)" -v windows="$(known windows)" -v hours="$(known host_hours)" \
	-v bytes="$bytes" -v json="$(stat -c %s "$TMP/rows")" -v rate="$rate" -v slowest="$slowest" \
	-v version="$(sql 'SELECT version()')" 'BEGIN {
		printf "{\"clickhouse\": \"%s\", \"rows_of_window\": %d, \"windows_of_hour\": %d,\n", version, rows / windows, windows / hours
		printf " \"bytes_of_row\": %.2f, \"json_bytes_of_row\": %d, \"rows_loaded_a_second\": %d,\n", bytes / rows, json / rows, rate
		printf " \"rows_of_question_second\": %d}\n", rows / slowest }' >"$TOP/build/fleet-sql.json"
note "the slowest question, $slowest_name, with the start of query: $(known rows) rows in $slowest s"
note "bytes for a host and hour: $((bytes / $(known host_hours)))"
while read -r line; do note "$line"; done <"$TOP/build/fleet-sql.json"
while read -r line; do note "$line"; done < <("$FLEET/sizes.py" "$TOP/build/fleet-sql.json")
# Rows of one fleet are as large each time, but for how parts were merged.
figure()
{
	sed -n "s/.*\"$1\": \([0-9.]*\).*/\1/p" "$2"
}
document=$TOP/Documentation/fleet/figures.json
what="bytes of a row, here and in the document"
if [ -z "${HOSTS:-}${EVERY:-}" ]; then
	within 1 "$what" "$(figure bytes_of_row "$TOP/build/fleet-sql.json")" "$(figure bytes_of_row "$document")"
else
	skip "$what" "a fleet of another size"
fi

# --- hostile names ---------------------------------------------------------------------------

"$TESTS/fleet-hostile.py" write >"$TMP/hostile"
ok "hostile names are loaded" load "$TMP/hostile"
hand_on_answers "hostile names" "$TESTS/fleet-hostile.py" check
ok "all else is still there" test "$(sql 'SELECT sum(ns) FROM kvm_fleet.rows WHERE day > toDate(20000)')" -eq "$(known ns)"

# --- a fleet on two servers ------------------------------------------------------------------

"$FLEET/generate.py" --hosts 10 --every 3600 "$TMP/few" "$TMP/answers"
read -r port2 port1 < <(python3 -c 'import socket
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(one.getsockname()[1] for one in held))')
local_schema()
{
	sed 's/kvm_fleet\./kvm_fleet_local./g; s/EXISTS kvm_fleet;/EXISTS kvm_fleet_local;/' \
		"$FLEET/schema.sql" | clickhouse-client --port "$TCP_PORT" --multiquery &&
		schema schema-cluster.sql
}
for shard in 2 1; do
	port=port$shard
	PORT=${!port} ok "shard $shard" start "shard$shard" "$port1" "$port2"
	ok "... its schema" local_schema
done
ok "rows of a fleet are loaded through one of them" load "$TMP/few"
ok "... each is there once" test "$(nr_rows)" -eq "$(known rows)"
ok "... and refused again" refused 'windows already' "$TMP/few"
here=$(sql 'SELECT count() FROM kvm_fleet_local.rows')
note "rows of shard 1: $here"
ok "... some are here, and some on the other" test "$here" -gt 0 -a "$here" -lt "$(known rows)"
# Ten windows of the first day, fourteen of the second, of 279 rows each
ok "a host's day is on one" test "$(sql 'SELECT count() FROM (SELECT count() AS n
	FROM kvm_fleet_local.rows GROUP BY host, day HAVING n NOT IN (2790, 3906))')" = 0
hand_on_answers "two shards" "$TESTS/fleet-answers.py" "$TMP/answers" --ask
# --- today's ClickHouse ----------------------------------------------------------------------

get_chdb()
{
	local dir=$TMP/chdb

	mkdir -p "$dir" && cd "$dir" || return
	npm pack --silent "chdb@$CHDB" "@chdb/lib-linux-x64-gnu@$CHDB_LIB" &&
		sha256sum -c - <<-END &&
			$CHDB_SHA256  chdb-$CHDB.tgz
			$CHDB_LIB_SHA256  chdb-lib-linux-x64-gnu-$CHDB_LIB.tgz
		END
		npm install --ignore-scripts --no-audit --no-fund ./*.tgz && rm -f ./*.tgz && mv "$dir" "$NOW"
}
command -v node >/dev/null || "$TOP/scripts/deps.sh" node >&2
command -v npm >/dev/null || "$TOP/scripts/deps.sh" npm >&2
[ -d "$NOW" ] || ok "today's ClickHouse, as a library, is there" get_chdb
# A fleet that is smaller: the questions are the same.
"$FLEET/generate.py" --hosts 10 --every 3600 "$TMP/few" "$TMP/answers"
ask_now()
{
	nice node "$TESTS/fleet-now.js" "$NOW/node_modules/chdb" "$FLEET/schema.sql" "$TMP/few" \
		"$TMP/answers" "$FLEET/queries" >"$TMP/now.out" 2>"$TMP/now.err"
}
ok "today's ClickHouse takes the files as they are" ask_now
note "ClickHouse $(head -n 1 "$TMP/now.err")"
answers_now()
{
	"$TESTS/fleet-answers.py" "$TMP/answers" <"$TMP/now.out"
}
hand_on_answers "today" answers_now
done_testing
