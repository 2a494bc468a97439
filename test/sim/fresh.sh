#!/bin/sh
# fresh.sh [MINUTES]: plays random new seeds in both simulations, for about MINUTES (3), and
# prints which. A seed that fails is printed with the command that plays it again; it fails the run
# only when fresh_seeds.txt says that the program has held 50,000 seeds. BUILD: the build folder (build).
set -u
# shellcheck source=test/lib/count.sh
. test/lib/count.sh
BUILD=${BUILD:-build}
minutes=${1:-3}
out=$(mktemp)
trap 'rm -f "$out"' EXIT
failed=0

# play PROGRAM FIRST: twenty seeds from FIRST on; prints what fails.
play() {
	program=$BUILD/test/sim/$1
	"$program" --seeds "$2..$(($2 + 19))" >"$out" 2>/dev/null && return
	if ! grep -q '^# seed [0-9]*: ' "$out"; then
		echo "a seed ends $1: $program --seeds $2..$(($2 + 19))"
	fi
	sed -n "s|^# seed \([0-9]*\): \(.*\)|\2: $program --seed \1 -v|p" "$out"
}

for name in sim_main sim_quota_main; do
	first=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
	seed=$first
	end=$(($(date +%s) + minutes * 30))
	found=
	while [ "$(date +%s)" -lt "$end" ]; do
		failing=$(play "$name" "$seed")
		found=$found${failing:+$failing
}
		seed=$((seed + 20))
	done
	held=$(awk -v name="$name" '$1 == name { print $2 }' test/sim/fresh_seeds.txt)
	echo "$name: fresh seeds $first to $((seed - 1))"
	[ -n "$found" ] || continue
	printf '%s' "$found"
	if [ "$held" -ge 50000 ]; then
		failed=$((failed + 1))
	fi
done
count_line "$((2 - failed))" "$failed" 0
[ "$failed" -eq 0 ]
