# shellcheck shell=sh
# A sample that is another one in each run and can be drawn again: `. test/lib/draw.sh`.

# new_seed: a seed for `draw`.
new_seed() {
	od -An -N3 -tu4 /dev/urandom | tr -d ' '
}

# draw SEED PERCENT: this part of the lines of standard input, rounded up, in the order of their checksums with the
# seed.
draw() {
	while IFS= read -r line; do
		echo "$(echo "$1 $line" | cksum | cut -d ' ' -f 1) $line"
	done | sort -n | cut -d ' ' -f 2- | awk -v percent="$2" '
		{ lines[NR] = $0 }
		END {
			for (i = 1; 100 * (i - 1) < percent * NR; i++) {
				print lines[i]
			}
		}'
}
