#!/bin/sh
# report.sh OBJECTS: prints the shares of lines and branches that were executed, for each folder of the
# sources compiled into folder OBJECTS and for each part of the program. Fails when a part is below its
# floor in floors.txt. A branch counts as covered when it was taken at least once. GCOV: the gcov of
# the compiler (gcov). FLOORS: another list of floors.
set -eu
objects=$1
floors=${FLOORS:-$(dirname "$0")/floors.txt}

# gcov prints a "File" line for each source, then its lines and branches; an object's headers are left
# out, because they would count once for each file that includes them.
find "$objects/common" "$objects/certs" "$objects/webhook" "$objects/scheduler" -name '*.gcno' |
	LC_ALL=C sort | while read -r notes; do
	source=${notes#"$objects/"}
	echo "source ${source%.gcno}.c"
	# Its warnings are of files without functions and of what no test ran.
	"${GCOV:-gcov}" --no-output --branch-probabilities "$notes" 2>/dev/null
done | awk -v floors="$floors" '
	function percent(taken, of) {
		return of ? 100 * taken / of : 100
	}
	function add(place) {
		of[place, kind] += $2
		taken[place, kind] += $1 * $2 / 100
	}
	function row(place) {
		printf "%-26s %6d  %5.1f %%   %6d  %5.1f %%\n", place, of[place, "lines"],
			percent(taken[place, "lines"], of[place, "lines"]), of[place, "branches"],
			percent(taken[place, "branches"], of[place, "branches"])
	}
	$1 == "source" {
		source = $2
		folder = source
		sub("/[^/]*$", "", folder)
		part = source
		sub("/.*", "", part)
		if (!(folder in seen)) {
			seen[folder] = 1
			folders[++n] = folder
		}
	}
	/^File / {
		is_ours = index($0, source "\047") == length($0) - length(source)
		has_lines = 0
	}
	# The last line of an object is the sum over all its files.
	/^Lines executed:/ && has_lines++ { is_ours = 0 }
	/^(Lines executed|Taken at least once):/ && is_ours {
		kind = /^Lines/ ? "lines" : "branches"
		gsub(/.*:|%/, "")
		gsub(/ of /, " ")
		add(folder)
		add(part)
	}
	END {
		printf "%-26s %6s  %7s   %6s  %7s\n", "folder", "lines", "", "branches", ""
		for (i = 1; i <= n; i++)
			row(folders[i])
		print ""
		while ((getline line < floors) > 0) {
			if (line ~ /^(#|$)/)
				continue
			split(line, word)
			row(word[1])
			for (k = 2; k <= 3; k++) {
				kind = k == 2 ? "lines" : "branches"
				share = percent(taken[word[1], kind], of[word[1], kind])
				if (of[word[1], kind] == 0 || share < word[k]) {
					low[++lows] = sprintf("FAILED %s: %s %.2f %%, below the floor of %s %%", word[1], kind, share, word[k])
				}
			}
			checked++
		}
		for (i = 1; i <= lows; i++)
			print low[i]
		exit lows > 0 || checked == 0
	}'
