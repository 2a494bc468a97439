#!/bin/sh
# listed.sh [NUMBER]: each row of listed.txt makes a mutant of one file, and what the row names must
# fail (sim/sim_main where it names nothing): a simulation or a random test linked with it, or a test over
# sockets played with the scheduler linked with it. Speaks TAP. Run by `make mutants-listed`, which
# gives CC, CFLAGS, LDFLAGS, LIBS and BUILD.
# MUTANT_SEEDS: how many a mutant may survive in a simulation (400), and a third of those of another random
# test. LIMIT: seconds for one mutant (1800). JOBS: how many at a time. SAMPLE: how many rows (all of them);
# they are chosen by SAMPLE_SEED, which is another one each time and is printed.
set -u
# shellcheck source=test/mutants/build.sh
. test/mutants/build.sh
# shellcheck source=test/lib/draw.sh
. test/lib/draw.sh
BUILD=${BUILD:-build}
MUTANT_SEEDS=${MUTANT_SEEDS:-400}
JOBS=${JOBS:-$(nproc)}
LIMIT=${LIMIT:-1800}
export BUILD MUTANT_SEEDS JOBS LIMIT
ROWS=test/mutants/listed.txt
OUT=$BUILD/mutants-listed

row() {
	grep -v '^#' "$ROWS" | sed -n "$1p"
}

field() {
	printf '%s\n' "$1" | awk -F ' [|][|][|] ' -v n="$2" '{ print $n }'
}

# Puts the mutant of row $1 into file $2.
patch_file() {
	MUTANT_LINE=$(field "$1" 3) MUTANT_NEW=$(field "$1" 4) awk '
		{
			text = $0
			gsub(/^[ \t]+|[ \t]+$/, "", text)
			if (text == ENVIRON["MUTANT_LINE"]) {
				found++
				print ENVIRON["MUTANT_NEW"]
			} else {
				print
			}
		}
		END { exit found == 1 ? 0 : 1 }' "$(field "$1" 2)" >"$2"
}

# Links the scheduler with mutant $1.o, beside the other programs in $1.bin.
link_scheduler() {
	mkdir -p "$1.bin"
	for other in "$BUILD"/bin/*; do
		ln -sf "$(realpath "$other")" "$1.bin/"
	done
	rm -f "$1.bin/headgate-scheduler"
	link_with "$BUILD/obj/scheduler/app/main.o" "$1.o" "$1.bin/headgate-scheduler"
}

# Links mutant $1.o into what judges it, $2 of the row.
link_judge() {
	case $2 in
	integration/*) link_scheduler "$1" ;;
	*) link_with "$BUILD/obj/test/$2.o" "$1.o" "$1" ;;
	esac
}

# Plays it: a simulation, a random test, or PROGRAM and the pattern of a test's name.
play_judge() {
	case $2 in
	integration/*)
		# shellcheck disable=SC2086
		HEADGATE_BIN=$(realpath "$1.bin") CMOCKA_MESSAGE_OUTPUT=TAP timeout "$LIMIT" "$BUILD"/test/$2
		;;
	sim/*) timeout "$LIMIT" "$1" --seeds "1..$MUTANT_SEEDS" --quick ;;
	*) SEEDS=1..$((MUTANT_SEEDS * 3)) CMOCKA_MESSAGE_OUTPUT=TAP timeout "$LIMIT" "$1" ;;
	esac
}

# TAP of row number $1.
try() {
	text=$(row "$1")
	name=$(field "$text" 1)
	base=$OUT/$1
	program=$(field "$text" 5)
	program=${program:-sim/sim_main}
	if ! patch_file "$text" "$base.c"; then
		echo "not ok $1 - $name # the line is not there exactly once"
		return
	fi
	if ! compile "$base.c" "$base.o" 2>"$base.log" ||
		! link_judge "$base" "$program" 2>>"$base.log"; then
		echo "not ok $1 - $name # does not build: $base.log"
		return
	fi
	began=$(date +%s)
	play_judge "$base" "$program" >"$base.log" 2>&1
	code=$?
	took=$(($(date +%s) - began))
	why=$(sed -n -e 's/^\(# \)\{0,1\}\(seed [0-9]*: .*\)/\2/p' -e 's/^not ok [0-9]* - //p' "$base.log" | head -n 1)
	# Only a failing seed or test with a reason catches a mutant; running out of memory or time does not.
	case $code in
	0) echo "not ok $1 - $name # survived $program" ;;
	124) echo "not ok $1 - $name # survived $LIMIT s" ;;
	*)
		if [ -n "$why" ]; then
			echo "ok $1 - $name # $took s, $why"
		else
			echo "not ok $1 - $name # ended with $code: $base.log"
		fi
		;;
	esac
}

mkdir -p "$OUT"
if [ "${1:-}" = --one ]; then
	try "$2"
	exit 0
fi
if [ -z "${CC:-}" ]; then
	exec make BUILD="$BUILD" mutants-listed
fi
count=$(grep -vc '^#' "$ROWS")
rows=$(seq "${1:-1}" "${1:-$count}")
if [ -n "${SAMPLE:-}" ] && [ $# -eq 0 ]; then
	seed=${SAMPLE_SEED:-$(new_seed)}
	rows=$(echo "$rows" | draw "$seed" 100 | head -n "$SAMPLE" | sort -n)
	echo "# $SAMPLE of $count mutants, the same again: make mutants-listed SAMPLE=$SAMPLE SAMPLE_SEED=$seed"
fi
printf '%s\n' "$rows" | xargs -P "$JOBS" -n 1 "$0" --one >"$OUT/tap"
sed 's/^\(not ok\|ok\) \([0-9]*\)/\2 &/' "$OUT/tap" | sort -n | cut -d ' ' -f 2-
echo "1..$(wc -l <"$OUT/tap")"
! grep -q '^not ok' "$OUT/tap"
