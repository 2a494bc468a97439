#!/bin/sh
# Values of the chart against the daemons: each bad value of values.txt is refused by its name, and it is
# one for which the daemon would exit; with each good value the daemon starts. The names in the chart that
# stand for names in the sources are all there.
. "$(dirname "$0")/../lint/lib.sh"
chart=charts/headgate
bin=${BUILD:-build}/bin
# On PATH, or the one that the end-to-end scenarios built.
helm=$(command -v helm || printf '%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}"/headgate/e2e-*/helm | tail -n 1)
table=$(dirname "$0")/values.txt

# same WHAT: the names in the files work/chart and work/source agree.
same() {
	LC_ALL=C sort -u -o "$work/chart" "$work/chart"
	LC_ALL=C sort -u -o "$work/source" "$work/source"
	diff "$work/chart" "$work/source" >"$work/diff" ||
		echo "$chart:1: $1 differ from the sources: $(grep '^[<>]' "$work/diff" | tr '\n' ' ')" >>"$FOUND"
}

# known KEY: names in a list of known-names.yaml.
known() {
	sed -n "/^$1:\$/,/^[a-z#]/s/^- //p" $chart/files/known-names.yaml
}

# flags_of N: names in the pattern of the Nth extraArgs of the schema.
flags_of() {
	grep -o '"pattern": "^(-v=[^"]*' $chart/values.schema.json | sed -n "$1p" |
		grep -o -- '--([^)]*)' | tr -d '()' | sed 's/^--//' | tr '|' '\n'
}

work=$(mktemp -d)
trap 'rm -rf "$work" "$FOUND"' EXIT
for list in plugins actions; do
	known $list >"$work/chart"
	grep -oE '\{ (\.name = )?"[a-z-]*"' scheduler/pods/$list/registry.c | sed 's/.*"\(.*\)"/\1/' >"$work/source"
	same "$list in known-names.yaml"
done
known frameworks >"$work/chart"
sed -n 's/^\t{ "\([a-z0-9./-]*\)",\( { ".*\)*$/\1/p' scheduler/workloads/conf/kueue_conf_owners.c >"$work/source"
same 'frameworks in known-names.yaml'
sed -n '/^gateNeeds:/,/^#/s/^  \([A-Za-z]*\): \[\(.*\)\]$/\1 \2/p' $chart/files/known-names.yaml | tr -d ',' |
	awk '{ for (i = 2; i <= NF; i++) print $1, $i }' >"$work/chart"
sed -n '/needs\[\]/,/^}/s/^\t{ "\([A-Za-z]*\)", "\([A-Za-z]*\)" },/\1 \2/p' scheduler/workloads/conf/kueue_gates.c \
	>"$work/source"
same 'gates that need others in known-names.yaml'
sed -n '/^configuration:/,$s/^  *\(- \)\{0,1\}\([a-zA-Z]*\):.*/\2/p' $chart/files/known-names.yaml >"$work/chart"
cat scheduler/workloads/conf/kueue_conf*.c |
	grep -oE '\{ "[a-zA-Z]+",($| (CONFIG_CUSTOM_AT|CONFIG_CHOICE_AT|CONFIG_AT|CONFIG_ITEMS_AT|CONFIG_OBJECT_AT|AT|CHOICE|ITEMS|OBJECT|OBJECT_OF|IGNORED|\.type = CONFIG))' |
	sed 's/{ "//; s/".*//' >"$work/source"
same 'fields of the Configuration in known-names.yaml'
grep -o '"pattern": "^((AllAlpha[^)]*' $chart/values.schema.json | sed 's/.*((//' | tr '|' '\n' >"$work/chart"
sed -n 's/^\t{ "\([A-Za-z]*\)", .*/\1/p' common/process/feature_gates.c >"$work/source"
same 'feature gates in the schema'
number=1
for options in scheduler/app/options.c webhook/main/webhook_options.c; do
	flags_of $number >"$work/chart"
	for file in $options common/obs/daemon_flags.c common/process/flags.c; do
		sed -n '/struct flags_row/,$s/^\t{ "\([a-z][a-z0-9-]*\)",.*/\1/p' "$file"
	done | grep -vx -e help -e version >"$work/source"
	same "flags of extraArgs ($options)"
	number=2
done
"${BUILD:-build}/test/docs/flags_table" chart | cmp -s - $chart/files/flags.yaml ||
	echo "$chart/files/flags.yaml:1: is not what make docs writes" >>"$FOUND"
if [ ! -x "$helm" ]; then
	skip "helm is not installed: values not tried"
	finish
fi
mkfifo "$work/log"

complain() { # row, what
	echo "test/chart/values.txt:1: $1: $2" >>"$FOUND"
}

# starts DAEMON ARGS...: 0 when it serves, else its exit code.
starts() {
	daemon=$1
	shift
	# Nothing listens there: a daemon that serves has accepted its flags and its configuration.
	env -u KUBECONFIG "$bin/headgate-$daemon" --master=http://127.0.0.1:9 --healthz-address=127.0.0.1:0 \
		"$@" 2>"$work/log" >/dev/null &
	pid=$!
	if grep -q -m 1 serving "$work/log"; then
		kill $pid
		wait $pid
		return 0
	fi
	wait $pid
}

# plain NAME="text": the text.
plain() {
	text=${1#*=\"}
	printf '%s\n' "${text%\"}" | tr '~' ' '
}

# The options of helm for the values of a row.
options() {
	for value; do
		printf -- '--set-json\n%s\n' "$(printf '%s' "$value" | tr '~' ' ')"
	done
}

helm_template() { # values...
	options "$@" >"$work/options"
	set --
	while read -r option; do
		set -- "$@" "$option"
	done <"$work/options"
	"$helm" template headgate $chart --namespace default "$@" >"$work/rendered" 2>"$work/err"
}

# bad FLAG VALUE...
bad() {
	flag=$1
	shift
	for last; do :; done
	name=${last%%=*}
	if helm_template "$@"; then
		complain "$*" "not refused by the chart"
	elif ! grep -qF "${name##*.}" "$work/err" && ! grep -qF "$(echo "$name" | tr . /)" "$work/err"; then
		complain "$*" "refused without its name: $(tr '\n' ' ' <"$work/err")"
	fi
	case $flag in
	-) return ;;
	scheduler-conf | quota-conf)
		plain "$last" >"$work/conf"
		starts scheduler --controllers='*,workload' --listen-address=127.0.0.1:0 "--$flag=$work/conf"
		;;
	scheduler\ *) starts scheduler --listen-address=127.0.0.1:0 "${flag#* }" ;;
	webhook\ *) starts webhook --cert-mode=secret --webhook-service-name=x --webhook-namespace=x --port=0 "${flag#* }" ;;
	*) complain "$*" "what is $flag?" ;;
	esac
	code=$?
	[ $code -eq 2 ] || complain "$*" "the daemon takes $flag (exit code $code)"
}

# Arguments of a Deployment in what was rendered, with files and ports of this machine.
args_of() {
	awk -v daemon="$1" '
		/^kind: / { deployment = $2 == "Deployment" }
		deployment && /command: / { in_it = index($0, "headgate-" daemon) > 0 }
		/^        ports:/ { in_it = 0 }
		in_it && /^        - --?/ { sub(/^ *- /, ""); gsub(/^"|"$/, ""); print }' "$work/rendered" |
		grep -v -e '^--healthz-address' -e '^--listen-address' -e '^--port' -e '^--metrics-token-file' |
		sed "s|/etc/headgate/|$work/|"
}

# A text of the ConfigMap: config_of KEY.
config_of() {
	awk -v key="  $1: |" '$0 == key { on = 1; next } on && !/^    / { exit } on { print substr($0, 5) }' "$work/rendered"
}

# good DAEMON VALUE...
good() {
	daemon=$1
	shift
	if ! helm_template "$@"; then
		complain "$*" "refused by the chart: $(tr '\n' ' ' <"$work/err")"
		return
	fi
	config_of scheduler.yaml >"$work/scheduler.yaml"
	config_of quota.yaml >"$work/quota.yaml"
	args_of "$daemon" >"$work/args"
	set --
	while read -r arg; do
		set -- "$@" "$arg"
	done <"$work/args"
	[ "$daemon" != scheduler ] || set -- "$@" --listen-address=127.0.0.1:0
	[ "$daemon" != webhook ] || set -- "$@" --port=0
	starts "$daemon" "$@" || complain "$*" "the daemon exits with code $?"
}

sed -e '/^#/d' -e '/^$/d' "$table" >"$work/table"
while IFS='|' read -r values what; do
	# shellcheck disable=SC2086
	set -- $values
	kind=$1
	shift
	"$kind" "${what# }" "$@"
done <"$work/table"
finish
