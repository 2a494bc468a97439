#!/bin/sh
# The report of `make coverage`: lines and branches of our own files are summed for folders and parts, those of
# headers are left out, and a part below its floor fails.
. "$(dirname "$0")/lib.sh"
report=$(cd "$LINT/../coverage" && pwd)/report.sh
work=$(mktemp -d)
trap 'rm -rf "$work" "$FOUND"' EXIT

mkdir -p "$work/obj/common/base" "$work/obj/common/net" "$work/obj/certs" "$work/obj/webhook" "$work/obj/scheduler"
: >"$work/obj/common/base/a.gcno"
: >"$work/obj/common/net/b.gcno"
# gcov's output for an object: the source, a header, and the sum over both.
cat >"$work/gcov" <<'END'
#!/bin/sh
for notes; do :; done
source=${notes#*/obj/}
cat <<EOF
File '${source%.gcno}.c'
Lines executed:75.00% of 40
Branches executed:90.00% of 10
Taken at least once:50.00% of 10
No calls
File 'common/collections/list.h'
Lines executed:100.00% of 100
No branches
Lines executed:92.86% of 140
EOF
END
chmod +x "$work/gcov"

# expect RC FLOORS: the exit code with these floors.
expect() {
	echo "$2" >"$work/floors"
	GCOV=$work/gcov FLOORS=$work/floors "$report" "$work/obj" >"$work/out" 2>&1
	got=$?
	[ "$got" -eq "$1" ] || echo "test/coverage/report.sh:1: exit code $got with floors $2" >>"$FOUND"
}

# says TEXT: the output has this line, whatever its spaces.
says() {
	tr -s ' ' <"$work/out" | grep -qxF "$1" || echo "test/coverage/report.sh:1: lacks: $1" >>"$FOUND"
}

expect 0 'common 75 50'
says 'common/base 40 75.0 % 10 50.0 %'
says 'common 80 75.0 % 20 50.0 %'
expect 1 'common 75.1 50'
says 'FAILED common: lines 75.00 %, below the floor of 75.1 %'
expect 1 'common 75 50.1'
says 'FAILED common: branches 50.00 %, below the floor of 50.1 %'
expect 1 'nothing 0 0'
expect 1 ''
finish
