#!/bin/sh
# The pages agree with the code: docs/quota.md and docs/reference/headgatectl.md show the output of their commands,
# docs/reference/workload-metrics.md lists the events of the code, docs/troubleshooting.md quotes its verdicts, the tests
# that docs/threat-model.md names exist, links lead somewhere. With --write the commands' output is put into the pages
# instead. BUILD: the build folder (build).
set -eu
cd "$(dirname "$0")/../.."
events=docs/reference/workload-metrics.md
bin=$(cd "${BUILD:-build}/bin" && pwd)
new=$(mktemp)
trap 'rm -f "$new"' EXIT
unset ARGP_HELP_FMT COLUMNS

# In a fenced block, all between a command and the next one, or the end, is its output.
for shows in docs/quota.md docs/reference/headgatectl.md; do
	PATH=$bin:$PATH awk '
	/^```/ { fenced = !fenced; shown = 0 }
	fenced && /^\$ headgatectl / {
		if (shown) {
			print ""
		}
		print
		command = substr($0, 3) " 2>&1"
		while ((command | getline line) > 0) {
			print line
		}
		close(command)
		shown = 1
		commands++
		next
	}
	!shown { print }
	END { exit commands == 0 }' "$shows" >"$new" || {
		echo "FAILED: $shows shows no command"
		exit 1
	}
	if [ "${1:-}" = --write ]; then
		cat "$new" >"$shows"
	elif ! diff -u "$shows" "$new"; then
		echo "FAILED: $shows does not show what its commands print: make docs"
		exit 1
	fi
done

# Metrics are those that the daemons register. A name in the sources that the page lacks is one that
# metrics_table does not make.
"${BUILD:-build}/test/docs/metrics_table" test/docs/metrics.md | cmp -s - docs/reference/metrics.md || {
	echo "FAILED: docs/reference/metrics.md is not what make docs writes"
	exit 1
}
for metric in $(grep -rhoE '"(headgate|volcano)_[a-z_0-9]+"' common scheduler webhook --include='*.c' | tr -d '"'); do
	grep -q "^| .$metric" docs/reference/metrics.md || {
		echo "FAILED: docs/reference/metrics.md lacks $metric"
		exit 1
	}
done

# Each verb has a section.
for verb in $("$bin/headgatectl" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do
	grep -qx "## $verb" docs/reference/headgatectl.md || {
		echo "FAILED: docs/reference/headgatectl.md lacks $verb"
		exit 1
	}
done

# Links lead to files that there are, and to headings that these have.
anchors() {
	sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}
for from in *.md docs/*.md docs/reference/*.md; do
	# shellcheck disable=SC2013 # no link has a blank in it
	for link in $(grep -oE '\]\([^)]+\)' "$from" | sed 's/^..//; s/)$//' | grep -v '^http'); do
		file=${link%%#*}
		to=$(dirname "$from")/$file
		[ -n "$file" ] || to=$from
		[ -e "$to" ] || {
			echo "FAILED: $from links to $link: there is no such file"
			exit 1
		}
		case $link in
		*#*) anchors "$to" | grep -qxF -e "${link#*#}" || {
			echo "FAILED: $from links to $link: there is no such heading"
			exit 1
		} ;;
		esac
	done
done

# Events: those of the page's tables are those that the code records. Names that are put together
# (EvictedDueTo...) are only looked for by their beginning, those of kueue_keys.h by their macros.
keys=common/api/kueue/kueue_keys.h
recorded=$(cat scheduler/workloads/status/*.c scheduler/workloads/engine/*.c scheduler/workloads/owners/*.c \
	scheduler/workloads/writes/preemption_cost.c | tr '\n\t' '  ' |
	sed "$(awk '/^#define KUEUE_[A-Z_]+ "[A-Za-z]+"/ { print "s|\\<" $2 "\\>|" $3 "|g" }' $keys)" |
	grep -oE '(tell|_event|plan_pod_delete)\([^;]*;' | grep -oE '"[A-Z][A-Za-z]+"' |
	tr -d '"' | grep -vxE 'Job|Pod|Workload' | sort -u)
shown=$(awk '/^## /{ on = $0 == "## Events" } on && /^\| `/' $events | cut -d'|' -f2 |
	tr '\140' '\n' | grep -xE '[A-Z][A-Za-z]+' | sort -u)
for event in $recorded; do
	echo "$shown" | grep -qx "$event" || {
		echo "FAILED: $events does not show the event $event"
		exit 1
	}
done
for event in $shown; do
	case $event in EvictedDueTo*) event=EvictedDueTo ;; esac
	grep -rqE "\"$event(%s|[A-Za-z]*)\"" scheduler/workloads $keys || {
		echo "FAILED: $events shows an event that the code does not record: $event"
		exit 1
	}
done

# Pages name tests, files of tests, scenarios and fuzz targets that there are.
for names in docs/threat-model.md docs/known-defects.md; do
	for name in $(tr '\140' ' ' <$names | grep -oE ' (test_[a-z0-9_]+|Test[A-Za-z0-9]+|fuzz_[a-z0-9_]+|[a-z0-9_]+[.]yaml)[ ,]' |
		tr -d ' ,' | sort -u); do
		case $name in
		*.yaml) found=$(find test/scenario test/admission -name "$name") ;;
		Test*) found=$(grep -rl "^func $name(" test/e2e) || true ;;
		*) found=$(find test -name "$name.c" -o -name "$name.sh" -o -name "$name.txt"
			grep -rlE "^(static void )?$name\(" test/unit test/integration) || true ;;
		esac
		[ -n "$found" ] || {
			echo "FAILED: $names names a test that is not there: $name"
			exit 1
		}
	done
done

# So does the page of MultiKueue, on which each name with an underscore is that of a test.
page=docs/known-defects-multikueue.md
for name in $(tr '\140' '\n' <$page | grep -xE '[a-z0-9]+(_[a-z0-9]+)+([.]yaml)?|Test[A-Za-z0-9]+|verdicts|modes|gates|classes' |
	sort -u); do
	case $name in
	*.yaml) found=$(find test/scenario -name "$name") ;;
	Test*) found=$(grep -rl "^func $name(" test/e2e) || true ;;
	*) found=$(grep -rlE "^static void $name\(" test/unit) || true ;;
	esac
	[ -n "$found" ] || {
		echo "FAILED: $page names a test that is not there: $name"
		exit 1
	}
done
[ "$(grep -cE '^[|] 5[.][0-9]+ [|]' $page)" -eq 34 ] || {
	echo "FAILED: $page does not have 34 defects"
	exit 1
}
holes=$(grep -rhoE '^static void hole_5_[a-z0-9_]+' test/unit | sed 's/^static void //' | sort -u)
for name in $holes; do
	grep -qF "\`$name\`" $page || {
		echo "FAILED: $page lacks $name"
		exit 1
	}
done

# The page of defects has 27, and every test that is named after one.
[ "$(grep -cE '^[|] [0-9]+ [|]' docs/known-defects.md)" -eq 27 ] || {
	echo "FAILED: docs/known-defects.md does not have 27 rows"
	exit 1
}
for name in $( (find test/scenario -name 'hole_*.yaml' -exec basename {} \;
	grep -rhoE 'void test_hole_[a-z0-9_]+' test/unit test/integration | sed 's/^void //') | sort -u); do
	grep -qF "\`$name\`" docs/known-defects.md || {
		echo "FAILED: docs/known-defects.md lacks $name"
		exit 1
	}
done

# Verdicts and messages that the first columns of the troubleshooting page quote are those of the sources: literals are
# joined, and a quotation is compared piece by piece, between its names, amounts and dots. Not ours: messages of the API
# server, commands, values.
page=docs/troubleshooting.md
find common scheduler webhook -name '*.[ch]' -exec cat {} + | tr '\n\t' '  ' |
	sed -E 's/" *[A-Z_]+ *"/%s/g; s/" *"//g; s/\\"/"/g' >"$new"
# shellcheck disable=SC2016
grep '^|' $page | cut -d'|' -f2 | grep -oE '`[A-Za-z][^`]* [^`]*`' | tr -d '\140' |
	grep -vE '^(kubectl|headgatectl|explain|failed calling|connection refused|no endpoints|x509|no matches|quota[.])' |
	sed -E 's/[.]{3}|\<(NAME|Q|N|X|cpu)\>|[0-9]+|[;,"]|needed by/\n/g' | sed 's/^ *//; s/ *$//' |
	awk 'length >= 7' | sort -u | while IFS= read -r piece; do
	grep -qF -e "$piece" "$new" || {
		echo "FAILED: $page quotes what no program says: $piece"
		exit 1
	}
done

# Events that pages name are events that the code records, or the autoscalers'.
for page in docs/troubleshooting.md docs/gate.md docs/preemption.md docs/multikueue.md docs/getting-started.md; do
	# shellcheck disable=SC2016
	for event in $(tr '\n' ' ' <$page | grep -oE 'events? `[A-Z][A-Za-z]+`((,| and| or) `[A-Z][A-Za-z]+`)*' |
		grep -oE '`[A-Za-z]+`' | tr -d '\140' | sort -u); do
		grep -qF -e "\"$event\"" "$new" || {
			echo "FAILED: $page names an event that the code does not record: $event"
			exit 1
		}
	done
done

# README shows the terminal of the page that test/demo/test_pages.sh plays.
awk '/^```/ { fenced = !fenced; next } fenced' README.md >"$new"
awk 'FNR == NR { want[++n] = $0; next } at < n && $0 == want[at + 1] { at++; next } { at = $0 == want[1] ? 1 : at == n ? n : 0 }
	END { exit at < n || n == 0 }' "$new" docs/getting-started.md || {
	echo "FAILED: README.md shows another terminal than docs/getting-started.md"
	exit 1
}
