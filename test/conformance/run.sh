#!/bin/sh
# run.sh [ARGUMENT...]: replays the recorded cases of CONFORMANCE with its replay.py through
# headgatectl and compares with test/conformance/open.txt, where each case that is not passed yet
# has its reason: a failure that is not listed is an error, and so is a listed case that passes.
# Arguments go to replay.py (default: both suites).
set -u
# shellcheck source=test/lib/count.sh
. test/lib/count.sh
BUILD=${BUILD:-build}
open=$(dirname "$0")/open.txt

if [ ! -f "$CONFORMANCE/replay.py" ]; then
	echo "conformance: no cases in $CONFORMANCE (set CONFORMANCE to their folder): nothing replayed"
	count_line 0 0 1
	exit 0
fi
[ $# -gt 0 ] || set -- -j 2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
python3 "$CONFORMANCE/replay.py" --cli "$BUILD/bin/headgatectl" "$@" >"$log"
awk -v open="$open" '
BEGIN {
	while ((getline line < open) > 0) {
		if (line !~ /^(#|$)/) {
			split(line, word, /[ \t]+/)
			listed[word[1]] = 1
		}
	}
}
/^(ok  |FAIL|SKIP) / { failing = $1 == "FAIL" && !($2 in listed) }
$1 == "ok" { if ($2 in listed) { print "passes, but is listed in " open ": " $2; bad = 1 } next }
$1 == "FAIL" { if ($2 in listed) { known++ } else { bad = 1 } }
failing || / passed/ { print; last = $0 }
END {
	if (last !~ /passed/) { print "conformance: replay.py gave no result"; bad = 1 }
	if (known) { print known " of the failed ones are listed in " open }
	exit bad
}' "$log"
