#!/bin/sh
# main() of each program seeds the hash of tables before anything else: keys are names that tenants choose,
# and without a random key they could choose names that collide.
. "$(dirname "$0")/lib.sh"

sources 'main.c' | grep -v '^test/' | while read -r c; do
	# The first call of a function.
	awk '
		/^int main\(/ { at = FNR; next }
		at && /\(/ && !/^\t(\/\*| \*)/ { first = $0; exit }
		END {
			if (at && first !~ /^\thash_seed\(rng_entropy\(\), rng_entropy\(\)\);$/) {
				print FILENAME ":" at ": main() does not begin with hash_seed() of a random key"
			}
		}' "$c"
done >"$FOUND"
finish
