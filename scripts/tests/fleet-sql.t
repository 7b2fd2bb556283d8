#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The fleet's tables (scripts/fleet), as far as that goes without a database: what load takes, what
# query asks, and what the generator makes. The rest is fleet-sql in test-long.

# shellcheck disable=SC2317 # functions are called by name, through ok
# shellcheck source=scripts/tests/tap.sh
. "$(dirname "$0")/tap.sh"

FLEET=$TOP/scripts/fleet
SAMPLE=$FLEET/sample.rows
# Nobody listens there.
export CLICKHOUSE_URL=http://127.0.0.1:1

# --- rows ------------------------------------------------------------------------------------

"$TESTS/fleet-rows.py" >"$TMP/rows.tap" 2>"$TMP/rows.err"
hand_on "$TMP/rows.tap" "$TMP/rows.err"
sed -n '/^const char \*profile_class__name/,/^}/s/.*\][[:space:]]*= "\(.*\)",/\1/p' \
	"$TOP/perf-kvm-unified/report/profile.c" | sort >"$TMP/classes"
ok "perf has classes" test "$(wc -l <"$TMP/classes")" -ge 14
PYTHONDONTWRITEBYTECODE=1 python3 -c 'import sys
sys.path.insert(0, sys.argv[1])
import rows
print(*sorted(rows.CLASSES), sep="\n", file=open(sys.argv[2], "w"))
print(*rows.MEMBERS, sep="\n", file=open(sys.argv[3], "w"))' "$FLEET" "$TMP/load-classes" "$TMP/members"
ok "load has the same" diff "$TMP/classes" <(sort "$TMP/load-classes")
# table_classes TABLE: those that its column knows
table_classes()
{
	sed -n "/^CREATE TABLE IF NOT EXISTS kvm_fleet.$1\$/,/;\$/p" "$FLEET/schema.sql" |
		sed -n '/class Enum8/,/)/p' | grep -o "'[^']*'" | tr -d "'" | sort
}
for table in rows class_time; do
	ok "... and so has the table $table" diff "$TMP/classes" <(table_classes $table)
done
ok "the table has the members, in their order" diff "$TMP/members" \
	<(sed -n '/kvm_fleet.rows$/,/^)/s/^\t\([a-z_]*\) .*/\1/p' "$FLEET/schema.sql" | grep -vx day)

# --- load ------------------------------------------------------------------------------------

# says MESSAGE COMMAND...: it fails, and says so
says()
{
	local said

	said=$("${@:2}" 2>&1) && return 1
	echo "$said"
	grep -qF -- "$1" <<<"$said"
}
# From standard input
load()
{
	"$FLEET/load.py" "$@" <"$TMP/in"
}
cp "$SAMPLE" "$TMP/in"
ok "rows are checked" grep -qx '279 rows of 1 windows are well-formed.' <(load --check)
sed '7s/"ns": /"ns": -/' "$SAMPLE" >"$TMP/in"
ok "a bad line has its number" says "standard input, line 7: ns is out of range" load --check
ok "... and its file" says "$TMP/in, line 7: ns is" "$FLEET/load.py" --check "$TMP/in"
ok "a file that is not there" says "No such file" "$FLEET/load.py" --check "$TMP/none"
cat "$SAMPLE" "$SAMPLE" >"$TMP/in"
ok "the same rows twice" says "line 349: vCPU 0 of VM 'guest1'" load --check
sed 's/"start": [0-9]*/"start": 0/' "$SAMPLE" >"$TMP/in"
ok "a window without a beginning" says "line 1: it is not known when this window began" load --check
ok "... unless the user says it" load --check --window 2026-11-30T10:00:00
ok "... which is a time" says "no time: 'noon'" load --check --window noon
cp "$SAMPLE" "$TMP/in"
ok "no server" says "nothing was loaded" load

# serve INSERTS: a server that takes so many
serve()
{
	rm -f "$TMP/taken" "$TMP/url"
	"$TESTS/fleet-stub.py" "$1" "$TMP/taken" >"$TMP/url" &
	server=$!
	until [ -s "$TMP/url" ] || ! kill -0 $server 2>/dev/null; do sleep 0.02; done
	CLICKHOUSE_URL=$(cat "$TMP/url")
}
for host in a b c d; do
	sed "s/\"host\": \"host1\"/\"host\": \"$host\"/" "$SAMPLE"
done >"$TMP/four"
# Windows of hosts that send at the same time
awk '{ print NR % 279, NR, $0 }' "$TMP/four" | sort -n -k1,1 -k2,2 | cut -d' ' -f3- >"$TMP/in"
serve 2
\
	ok "a server that fails: how much it has" says "558 of 1116 rows were loaded before that; the 279 at which" load --batch 100
ok "... that is whole windows" test "$(grep -o '"host":"."' "$TMP/taken" | sort | uniq -c | tr -d ' "\n')" = \
	279host:a279host:b
kill $server
serve 9
ok "a server that does not" grep -qx '1116 rows of 4 windows were loaded.' <(load --batch 300)
same_rows()
{
	python3 -c 'import json, sys
taken, sent = (sorted(json.dumps(json.loads(line)) for line in open(path)) for path in sys.argv[1:])
sys.exit(taken != sent)' "$TMP/taken" "$TMP/four"
}
ok "... has all rows as they are" same_rows
sed 's/"start": [0-9]*/"start": 0/' "$SAMPLE" >"$TMP/in"
rm "$TMP/taken"
load --window 1970-01-01T00:00:01 >"$TMP/out"
ok "... and when the window began" test "$(grep -c '"start":1000000000,' "$TMP/taken")" -eq 279
kill $server
wait 2>/dev/null

# --- query -----------------------------------------------------------------------------------

query()
{
	"$FLEET/query.py" "$@"
}
questions=("$FLEET"/queries/*.sql)
ok "there are questions" test ${#questions[@]} -ge 6
# documented FILE: the parameters in its head are those in its text
documented()
{
	diff <(sed -n 's/^--   \([a-z_, ]*[a-z_]\)\(=[^ ]*\)\?  .*/\1/p' "$1" | tr -d ' ' | tr , '\n' | sort -u |
			grep -xf <(grep -o '{[a-z_]*:' "$1" | tr -d '{:' | sort -u)) \
		<(grep -o '{[a-z_]*:' "$1" | tr -d '{:' | sort -u)
}
for file in "${questions[@]}"; do
	name=$(basename "$file" .sql)
	ok "$name: its head has its parameters" documented "$file"
	ok "$name: a question in one line" grep -qE '^-- .*\?$' <(sed -n 2p "$file")
done
when=(from=2026-11-30 'until=2026-11-30 12:00:00')
query --sql thieves "${when[@]}" vm="it's \\ {vm:String}" >"$TMP/sql"
ok "values are literals" grep -qF "vm = 'it\\'s \\\\ {vm:String}'" "$TMP/sql"
ok "... also of times" grep -qF "toDateTime('2026-11-30 12:00:00', 'UTC')" "$TMP/sql"
ok "... and what need not be said is there" grep -qx 'LIMIT 20' "$TMP/sql"
ok "no other parameter is left" not grep -q '{' <(grep -v "it\\\\'s" "$TMP/sql")
ok "a parameter is missing" says "wants until=" query --sql thieves from=2026-11-30
ok "one that is not there" says "no parameter 'who'" query --sql thieves "${when[@]}" who=me
ok "a number that is none" says "no UInt64: '1; DROP'" query --sql thieves "${when[@]}" 'limit=1; DROP'
ok "a time that is none" says "no DateTime" query --sql thieves "from=now()" until=2026-11-30
ok "a fraction that is none" says "no Float64" query --sql halts-to-steal "${when[@]}" \
	old_from=2026-11-29 old_until=2026-11-30 points=1e9
ok "a question that is not there" says "there is no question" query ../schema
ok "a format that is more" says "no format" query --format 'TSV; DROP' thieves "${when[@]}"

# --- generate --------------------------------------------------------------------------------

generate()
{
	"$FLEET/generate.py" --hosts 8 --hours 4 --every 3600 "$@"
}
ok "a fleet is made" generate "$TMP/1.rows" "$TMP/1.json"
ok "... whose rows load takes" grep -qx '8928 rows of 32 windows are well-formed.' \
	<("$FLEET/load.py" --check "$TMP/1.rows")
ok "... and add up" "$TESTS/fleet-sums.py" 4 <"$TMP/1.rows"
generate "$TMP/2.rows" "$TMP/2.json"
ok "the same again" cmp "$TMP/1.rows" "$TMP/2.rows"
generate --seed 2 "$TMP/2.rows" "$TMP/2.json"
ok "another one with another seed" not cmp -s "$TMP/1.json" "$TMP/2.json"
python3 - "$TMP/1.json" ${#questions[@]} >"$TMP/known.tap" 2>"$TMP/known.err" <<-'END'
	import json, sys
	known = json.load(open(sys.argv[1]))
	of = {}
	for one in known["questions"]:
	    of.setdefault(one["query"], one["rows"])
	slower = next(r[4] / r[3] for r in of["build-ids"] if r[0] == "ngx_http_parse_uri")
	for number, (what, holds) in enumerate((
	        ("the rows' number", known["rows"] == 8928 and known["windows"] == 32),
	        ("VMs whose halts became steal", len(of["halts-to-steal"]) == 2 and
	         all(row[-1] > 10 for row in of["halts-to-steal"])),
	        ("a function that a build has made slower", 1.8 < slower < 2.2),
	        ("answers to all questions", all(of.values()) and len(of) == int(sys.argv[2]))), 1):
	    print("%s %d %s" % ("ok" if holds else "not ok", number, what))
	print("1..4")
END
hand_on "$TMP/known.tap" "$TMP/known.err" "the generator knows "

# --- sizes -----------------------------------------------------------------------------------

figures=$TOP/Documentation/fleet/figures.json
"$FLEET/sizes.py" "$figures" >"$TMP/sizes"
ok "fleet.md has the sizes of its figures" diff "$TMP/sizes" \
	<(sed -n '/^| 10000 hosts/,/^$/p' "$TOP/Documentation/fleet.md" | sed '/^$/d')
# number NAME FILE: of a line
number()
{
	sed -n "s/^| $1 | \([0-9.]*\).*/\1/p" "$2"
}
"$FLEET/sizes.py" --hosts 20000 --price-gb 1 --price-machine 1 "$figures" >"$TMP/twice"
within 1 "twice the hosts, twice the rows" "$((2 * $(number 'rows a second' "$TMP/sizes")))" \
	"$(number 'rows a second' "$TMP/twice")"
at_least 1 "what a month costs" "$(number 'cost of a month' "$TMP/twice")"
done_testing
