#!/bin/sh
# The tables of the lints name folders and files that exist: a rule for a folder that was renamed holds no more.
. "$(dirname "$0")/lib.sh"

# rows TABLE: "LINE WORD..." of each row.
rows() {
	[ ! -e "$1" ] || awk '!/^(#|$)/ { print FNR, $0 }' "$1"
}

# missing PLACE WORD: the finding.
missing() {
	echo "$1: there is no $2" >>"$FOUND"
}

# A row of layers.txt: a folder or files, then folders, with /* or /** for those below.
set -f
rows test/lint/layers.txt | while read -r line words; do
	for word in $words; do
		path=${word%/\*}
		path=${path%/\*\*}
		case $path in
		\*) ;;
		*.\[ch\]) [ -e "${path%.\[ch\]}.h" ] || missing "test/lint/layers.txt:$line" "$path" ;;
		*) [ -d "$path" ] || missing "test/lint/layers.txt:$line" "$path" ;;
		esac
	done
done
rows test/lint/pure.txt | while read -r line path; do
	[ -d "$path" ] || missing "test/lint/pure.txt:$line" "$path"
done
rows test/coverage/floors.txt | while read -r line path _; do
	[ -d "$path" ] || missing "test/coverage/floors.txt:$line" "$path"
done
finish
