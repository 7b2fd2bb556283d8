# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by guest-extra.sh: Debian's MariaDB server with a filled database, and sysbench,
# as a root directory for a guest, in which no more is left to do than to start the server.
#
# The packages are taken apart, not installed: the installed one would start a server here.

MARIADB=$GUEST/packages-mariadb
MARIADB_START_SECONDS=60

# With the packages they need that this machine does not have.
fetch_mariadb()
{
	local new=$MARIADB.new deb

	rm -rf "$new"
	mkdir -p "$new/debs"
	apt_download_all "$new/debs" mariadb-server-core sysbench
	for deb in "$new"/debs/*.deb; do
		dpkg-deb -x "$deb" "$new/files"
		basename "$deb" >>"$new/names"
	done
	rm -r "$new/debs"
	mv "$new" "$MARIADB"
}

# with_libraries COMMAND...: with those that came with the packages.
with_libraries()
{
	LD_LIBRARY_PATH=$MARIADB/files/usr/lib/$(gcc -print-multiarch) "$@"
}

# add_program ROOT PROGRAM: with all its libraries, those that the usual initrd has, too:
# who wants names for a profile has all files in ROOT.
add_program()
{
	local root=$1 program=$2 file

	install -D "$MARIADB/files$program" "$root$program"
	with_libraries ldd "$root$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
		while read -r file; do
			install -D "$file" "$root${file#"$MARIADB/files"}"
		done
}

# mariadbd_here OPTION...: the server of $root on this machine, with its files in $work. It
# need not wait for the disk: what comes of it goes into an archive. It takes the place of the
# shell that calls this.
mariadbd_here()
{
	local share=$root/usr/share/mysql

	with_libraries exec "$root/usr/sbin/mariadbd" --defaults-file="$root/etc/mariadb.cnf" \
		--user="$(id -un)" --basedir="$root/usr" --lc-messages-dir="$share" \
		--character-sets-dir="$share/charsets" --datadir="$work/data" \
		--tmpdir="$work" --socket="$work/socket" --pid-file="$work/pid" \
		--innodb-flush-method=nosync --sync-frm=OFF "$@"
}

create_database()
{
	local share=$MARIADB/files/usr/share/mysql

	{
		printf '%s;\n' 'CREATE DATABASE mysql' 'USE mysql' 'SET @auth_root_socket=NULL'
		cat "$share"/mysql_{system_tables,performance_tables,system_tables_data}.sql
		printf '%s;\n' 'CREATE DATABASE sbtest' 'FLUSH PRIVILEGES' \
			'CREATE USER sbtest@localhost' 'GRANT ALL ON sbtest.* TO sbtest@localhost'
	} | mariadbd_here --bootstrap
}

wait_for_mariadbd()
{
	local end=$((SECONDS + MARIADB_START_SECONDS))

	until [ -S "$work/socket" ]; do
		if [ "$SECONDS" -ge "$end" ]; then
			echo "the database server does not start"
			return 1
		fi
		sleep 0.1
	done
}

# In a subshell, which leaves nothing of it on this machine, whatever happens.
fill_database()
(
	root=$1
	# Not in the cache: a socket's path has room for 107 characters.
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	mkdir "$work/data"
	create_database
	# Nothing shall be left for the guest to do in the background.
	mariadbd_here --innodb-fast-shutdown=0 &
	server=$!
	trap 'kill "$server" 2>/dev/null || :; wait "$server" || :; rm -rf "$work"' EXIT
	wait_for_mariadbd
	# It looks for its Lua files in the directory it runs in, too.
	cd "$root/usr/share/sysbench" || exit
	PATH=$root/usr/bin:$PATH with_libraries oltp --mysql-socket="$work/socket" prepare
	kill "$server"
	wait "$server"
	mkdir -p "$root/var/lib"
	mv "$work/data" "$root/var/lib/mysql"
)

pack_mariadb()
{
	local root=$1 program
	local share=$MARIADB/files/usr/share

	for program in /usr/sbin/mariadbd /usr/bin/sysbench; do
		add_program "$root" "$program"
	done
	mkdir -p "$root/usr/share/mysql" "$root/usr/share/sysbench"
	cp -r "$share"/mysql/{english,charsets} "$root/usr/share/mysql/"
	cp "$share"/sysbench/oltp_{common,read_write}.lua "$root/usr/share/sysbench/"
	install -D -m 644 "$LAB/guest/mariadb.cnf" "$root/etc/mariadb.cnf"
	install "$LAB/guest/oltp" "$root/usr/bin/oltp"
	fill_database "$root"
}
