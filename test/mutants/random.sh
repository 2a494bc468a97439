#!/bin/sh
# random.sh [COUNT [SEED]]: COUNT (20) random mutants of the product's sources; each is one line changed by an
# operator of sites.awk, and some test must fail on it. First a line is drawn, then one of its mutants. A mutant
# does not count if it does not compile without a warning (`make test` has -Werror, so it cannot get that far), if its
# object file is that of the original, or if equivalent.txt has it. Run by `make mutants`, which builds all programs and
# gives the environment.
#
# A mutant meets the tests that contain the object, the nearest first: the unit tests of its folder, scenarios and
# admission, a sample of the simulations, other unit tests, then the programs over sockets. The first that fails
# ends it; so does one that takes three times as long as otherwise, and half a minute. The original must pass,
# so neither a busy machine nor a test that fails by itself ends a mutant.
#
# Prints the seed, each mutant with what killed it or its diff, and the rate. The run fails below FLOOR per
# cent (0) of twenty or more. MINUTES: no mutant begins later (no limit). JOBS: how many at a time (1).
# QUICK=1: without the tests over sockets, which take a minute and more for each mutant that survives; those of the
# HTTP client and server still run for their own folders. FILES: only sources with a path that matches one of these
# patterns, which spaces separate.
# ONLY: only tests with a path that matches this regular expression, of those that QUICK leaves: ONLY=/sim/ says what
# the simulations notice by themselves.
set -u
# shellcheck source=test/mutants/build.sh
. test/mutants/build.sh
# shellcheck source=test/lib/draw.sh
. test/lib/draw.sh
OUT=$BUILD/mutants
FLOOR=${FLOOR:-0}
JOBS=${JOBS:-1}
export OUT

sources() {
	set -f # find expands the patterns
	for pattern in ${FILES:-*}; do
		find common scheduler webhook -name '*.c' -path "$pattern"
	done
	set +f
}

# Seconds that the test program or script $1 takes otherwise.
usual() {
	ms=$(cut -d ' ' -f 1 "$BUILD/test-logs/$(printf '%s' "$1" | tr -c 'A-Za-z0-9._-' '_').ms" 2>/dev/null)
	echo $(((${ms:-1000} + 999) / 1000))
}

# Runs $1, the test program $2 or what is made of it, with the programs of build folder $3 and a limit of time.
run_limited() {
	usual=$(usual "$2")
	(
		# shellcheck disable=SC3045
		ulimit -t $((10 + 10 * usual))
		BUILD=$3 SIM_SAMPLE=${SIM_SAMPLE:-40} CMOCKA_MESSAGE_OUTPUT=TAP \
			timeout -k 5 $((30 + 3 * usual)) "$1" >"$dir/log.$(basename "$2")" 2>&1 </dev/null &
		group=$!
		echo "$group" >>"$dir/groups"
		wait "$group"
		code=$?
		kill -9 -- "-$group" 2>/dev/null
		# cmocka leaves a failure of the tear-down of a group out of its code.
		if [ "$code" -eq 0 ] && grep -av '# SKIP' "$dir/log.$(basename "$2")" | grep -aq '^not ok '; then
			code=1
		fi
		exit "$code"
	)
}

# The original of test program or script $1 passes, within the same limit.
passes() {
	run_limited "$1" "$1" "$BUILD"
}

# Test program $1, linked with the mutant in folder $dir, fails.
fails() {
	case $1 in
	*.sh) program=$1 ;;
	*)
		program=$dir/build/${1#"$BUILD/"}
		mkdir -p "${program%/*}"
		link_with "$BUILD/obj/${1#"$BUILD/"}.o" "$dir/mutant.o" "$program" || return 1
		;;
	esac
	run_limited "$program" "$1" "$dir/build"
	code=$?
	[ "${program%.sh}" != "$program" ] || rm -f "$program"
	case $code in
	0 | 77) return 1 ;;
	124 | 137) # a busy machine may be the reason
		[ ! -f "$dir/killer" ] && passes "$1"
		;;
	*) # the test may fail by itself
		sound=$OUT/sound.$(printf '%s' "$1" | tr / _)
		[ -f "$sound" ] || { passes "$1" && : >"$sound"; }
		;;
	esac
}

# The programs of $PROGRAMS, "NAME=MAIN", and those that make the pages, with the mutant in folder $1 of source $2.
link_programs() {
	mkdir -p "$1/build/bin" "$1/build/test/docs"
	for pair in $PROGRAMS; do
		main=${pair#*=}
		first=$BUILD/obj/${main%.c}.o
		[ "$main" != "$2" ] || first=
		# shellcheck disable=SC2086
		link_with $first "$1/mutant.o" "$1/build/bin/${pair%%=*}" || return 1
	done
	for program in $DOCS; do
		link_with "$BUILD/obj/${program#"$BUILD/"}.o" "$1/mutant.o" "$1/build/${program#"$BUILD/"}" || return 1
	done
}

# The tests that contain the object of source $1, the nearest first; of those over sockets, those of client and server.
tests_of() {
	folder=${1%/*}
	case $1 in
	*/main.c) : ;;
	*) nm -g --defined-only "$BUILD/obj/${1%.c}.o" | awk '{ print $3 }' ;;
	esac >"$2/symbols"
	awk 'NR == FNR { defined[$1]; next } $2 in defined { print $1 }' "$2/symbols" "$OUT/symbols" | uniq |
		awk -v build="$BUILD/test" -v folder="$folder" -v name="test_$(basename "$1" .c)" '
		function place(test,    near, n, i, a, b) {
			if (test ~ "/unit/") {
				n = split(folder, a, "/")
				split(substr(test, length(build "/unit/") + 1), b, "/")
				for (i = 1; i <= n && a[i] == b[i]; i++) {
					near = i
				}
				return near < n ? 40 - near : test ~ "/" name "$" ? 1 : 2
			}
			return test ~ "/(scenario|admission)/" ? 10 : test ~ "/sim/" ? 20 : test ~ "/integration/" ? 30 : 50
		}
		!/\/integration\// || folder ~ "^common/(net|kube)" && /\/test_(http|kube)[^\/]*$/ { print place($1) " " $1 }' | sort -n | cut -d ' ' -f 2
}

# Every daemon has nearly all of the product in it.
tests_over_sockets() {
	for program in $TESTS $SCRIPTS; do
		case $program in
		*/integration/*) echo "$program" ;;
		esac
	done
}

# is_equivalent SOURCE LINE NEW: the list has this mutant of the line, with its reason.
is_equivalent() {
	NEW=$3 awk -v row_file="$1" -v line="$2" '
		function bare(text) {
			gsub(/^[ \t]+|[ \t]+$/, "", text)
			return text
		}
		NR == FNR {
			if (split($0, row, " [|][|][|] ") == 5 && row[1] == row_file && row[4] == bare(ENVIRON["NEW"])) {
				listed[row[2] SUBSEP row[3]]
			}
			next
		}
		FNR == line { found = (before SUBSEP bare($0)) in listed }
		{ before = bare($0) }
		END { exit !found }' test/mutants/equivalent.txt "$1"
}

# Judges the mutant of line $1 in $OUT/drawn, and notes the result.
try() {
	number=$1
	if [ "$(grep -c '^[ks]' "$OUT/results")" -ge "$COUNT" ] || [ "$(date +%s)" -ge "$END" ]; then
		exit 255 # xargs begins no other
	fi
	text=$(sed -n "${number}p" "$OUT/drawn")
	file=$(printf '%s\n' "$text" | cut -f 1)
	line=$(printf '%s\n' "$text" | cut -f 2)
	operator=$(printf '%s\n' "$text" | cut -f 3)
	new=$(printf '%s\n' "$text" | cut -f 4-)
	old=$(sed -n "${line}p" "$file")
	if is_equivalent "$file" "$line" "$new"; then
		echo "equivalent $file:$line $operator" >>"$OUT/results"
		return
	fi
	dir=$OUT/$number
	mkdir -p "$dir"
	source=$dir/$(basename "$file")
	cp "$file" "$source"
	compile "$source" "$dir/original.o"
	NEW=$new awk -v line="$line" 'FNR == line { print ENVIRON["NEW"]; next } { print }' "$file" >"$source"
	if (CFLAGS="$CFLAGS -Werror" compile "$source" "$dir/mutant.o") 2>/dev/null && ! cmp -s "$dir/original.o" "$dir/mutant.o"; then
		judge
	fi
	rm -rf "$dir"
}

# The tests over sockets mostly wait, so a few run at a time.
judge() {
	killer=
	began=$(date +%s)
	tests_of "$file" "$dir" | grep -E "${ONLY:-.}" >"$dir/tests"
	while read -r test; do
		if fails "$test" <&-; then
			killer=$test
			break
		fi
	done <"$dir/tests"
	if [ -z "$killer" ] && [ -z "${QUICK:-}${ONLY:-}" ]; then
		link_programs "$dir" "$file" || return
		tests_over_sockets | xargs -P 4 -n 1 "$0" --fails "$dir"
		[ ! -f "$dir/killer" ] || killer=$(head -n 1 "$dir/killer")
	fi
	if [ -n "$killer" ]; then
		echo "killed $file:$line $operator, by $killer, $(($(date +%s) - began)) s" | tee -a "$OUT/results"
		return
	fi
	echo "survived $file:$line $operator" >>"$OUT/results"
	printf 'SURVIVED %s:%s %s, %s s\n' "$file" "$line" "$operator" $(($(date +%s) - began))
	printf '%s\n%s\n' "$old" "$new" | sed 's/^\t*//; 1s/^/  - /; 2s/^/  + /'
}

if [ "${1:-}" = --fails ]; then
	dir=$2
	if [ ! -f "$dir/killer" ] && fails "$3"; then
		echo "$3" >>"$dir/killer"
		while read -r group; do
			kill -9 -- "-$group" 2>/dev/null # the others need not end
		done <"$dir/groups"
	fi
	exit 0
fi
if [ "${1:-}" = --one ]; then
	try "$2"
	exit 0
fi
COUNT=${1:-20}
seed=${2:-$(new_seed)}
END=$(($(date +%s) + ${MINUTES:-100000} * 60))
export COUNT END
echo "# $COUNT mutants, the same again: make mutants ARGS=\"$COUNT $seed\""
rm -rf "$OUT"
mkdir -p "$OUT"
: >"$OUT/results"
for program in $TESTS; do
	nm -g --defined-only "$program" | awk -v program="$program" '{ print program " " $3 }'
done >"$OUT/symbols"
# shellcheck disable=SC2046
awk -f test/mutants/sites.awk $(sources | sort -u) >"$OUT/sites"
# The product of 16807 and a number below 2^31 is exact in awk.
awk -F '\t' -v seed="$seed" '
	function draw(n) {
		state = state * 16807 % 2147483647
		return state % n
	}
	{
		at = $1 ":" $2
		if (at != last) {
			first[++lines] = NR
			last = at
		}
		count[lines]++
		text[NR] = $0
	}
	END {
		state = seed % 2147483646 + 1
		for (i = 0; i < 10; i++) {
			draw(1)
		}
		for (i = lines; i > 0; i--) {
			k = draw(i) + 1
			print text[first[k] + draw(count[k])]
			first[k] = first[i]
			count[k] = count[i]
		}
	}' "$OUT/sites" >"$OUT/drawn"
seq "$(wc -l <"$OUT/drawn")" | xargs -P "$JOBS" -n 1 "$0" --one 2>"$OUT/xargs.log"
awk -v floor="$FLOOR" -v again="$COUNT $seed" '
	{ n[$1]++ }
	END {
		all = n["killed"] + n["survived"]
		rate = all ? 100 * n["killed"] / all : 100
		printf "# %d killed, %d survived: %.1f %%; %d more judged equivalent; seed: %s\n", n["killed"],
			n["survived"], rate, n["equivalent"], again
		exit all >= 20 && rate < floor # fewer say little
	}' "$OUT/results"
