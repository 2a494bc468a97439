#!/bin/sh
# run.sh [ARGUMENT...]: replays the recorded cases of CONFORMANCE with its replay.py through headgatectl and compares
# with test/conformance/open.txt, where each case that comes out otherwise has the name of its reason in
# docs/deviations.md: a failure that is not listed is an error, and so are a listed case that passes and a name that the
# page does not have. Arguments go to replay.py (default: both suites). Cases that are records only do not count.
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=test/lib/count.sh
. test/lib/count.sh
BUILD=${BUILD:-build}
open=test/conformance/open.txt
reasons=docs/deviations.md
log=$(mktemp)
trap 'rm -f "$log"' EXIT

unexplained=$(awk -v reasons="$reasons" '
BEGIN { while ((getline line < reasons) > 0) { split(line, cell, " *[|] *"); explained[cell[2]] = 1 } }
!/^(#|$)/ && (NF != 2 || !($2 in explained)) { print "no row of " reasons " has the reason of " $0 }' "$open")
if [ -n "$unexplained" ]; then
	echo "$unexplained"
	count_line 0 "$(echo "$unexplained" | wc -l)" 0
	exit 1
fi
if [ ! -f "$CONFORMANCE/replay.py" ]; then
	echo "conformance: skipped: no recorded cases in $CONFORMANCE (set CONFORMANCE to their folder)"
	count_line 0 0 1
	exit
fi
[ $# -gt 0 ] || set -- -j 2
began=$(date +%s)
python3 "$CONFORMANCE/replay.py" --cli "$BUILD/bin/headgatectl" "$@" >"$log"
counts=$(awk -v open="$open" '
BEGIN {
	while ((getline line < open) > 0) {
		split(line, word, " ")
		if (line !~ /^(#|$)/) { listed[word[1]] = 1 }
	}
}
/^(ok  |FAIL|SKIP) / { failing = $1 == "FAIL" && !($2 in listed) }
$1 == "ok" && $2 in listed { print "passes, but is listed in " open ": " $2 >"/dev/stderr"; bad++; next }
$1 == "ok" { good++ }
$1 == "FAIL" { if ($2 in listed) { known++ } else { bad++ } }
/ passed/ { failing = 0 }
/^[0-9]+ passed, / { ended = 1 }
failing { print >"/dev/stderr" }
END {
	if (!ended || good + bad == 0) { print "conformance: replay.py gave no result" >"/dev/stderr"; bad++ }
	print good + known, bad + 0, known + 0
}' "$log")
read -r good bad known <<-EOF
	$counts
EOF
echo "conformance: $known cases come out otherwise, as $open says; $(($(date +%s) - began)) s"
count_line "$good" "$bad" 0
[ "$bad" -eq 0 ]
