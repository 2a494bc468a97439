#!/bin/sh
# Reviews per second of headgate-webhook, beside a bare server of the same library with the same
# certificate, threads, request and size of answer, one after the other in the same run. Needs wrk.
#   BUILD (build), SECONDS_EACH (5), ROUNDS (3), THREADS (2), CONNECTIONS (25)
set -eu

BUILD=${BUILD:-build}
EACH=${SECONDS_EACH:-5}
ROUNDS=${ROUNDS:-3}
THREADS=${THREADS:-2}
CONNECTIONS=${CONNECTIONS:-25}
here=$(dirname "$0")
dir=$(mktemp -d)
webhook='' echo_pid=''
REVIEW=$here/review_pod.json
export REVIEW

stop() {
	[ -z "$webhook" ] || kill "$webhook" 2>/dev/null || true
	[ -z "$echo_pid" ] || kill "$echo_pid" 2>/dev/null || true
	wait 2>/dev/null || true
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' INT TERM

command -v wrk >/dev/null || {
	echo "bench_webhook: wrk is not installed" >&2
	exit 1
}

# Waits for a pattern in a file, without guessing a time.
await() {
	n=0
	until grep -q "$1" "$2" 2>/dev/null; do
		n=$((n + 1))
		[ $n -lt 200 ] || {
			cat "$2" >&2
			exit 1
		}
		read -r _ </dev/null || true
		timeout 0.05 tail -f /dev/null || true
	done
}

measure() { # name url -> "rate p50 p99 errors"
	wrk -t1 -c"$CONNECTIONS" -d"$EACH" -s "$here/webhook.lua" "$2" |
		awk -v name="$1" '$1 == "RESULT" { print name, $2, $3, $4, $5 }' | tee -a "$dir/results" |
		awk '{ printf "%-8s %8d/s  p50 %6.3f ms  p99 %6.3f ms  errors %d\n", $1, $2, $3, $4, $5 }'
}

"$BUILD/bin/headgatectl" certs --out "$dir" --dns localhost --ip 127.0.0.1 >/dev/null
"$BUILD/bin/headgate-webhook" --offline --port 0 --listen-address 127.0.0.1 --enable-healthz=false \
	--threads "$THREADS" --tls-cert-file "$dir/tls.crt" --tls-private-key-file "$dir/tls.key" \
	2>"$dir/webhook.log" &
webhook=$!
await 'serving admission' "$dir/webhook.log"
port=$(sed -n 's/.*"serving admission" port=\([0-9]*\).*/\1/p' "$dir/webhook.log")
mkfifo "$dir/hold"
"$BUILD/test/bench/echo_main" "$dir/tls.crt" "$dir/tls.key" "$THREADS" 317 <"$dir/hold" \
	>"$dir/echo.port" &
echo_pid=$!
exec 3>"$dir/hold"
await '^[0-9]' "$dir/echo.port"

printf 'review of %d bytes, %d connections, %d threads, TLS keep-alive\n' \
	"$(wc -c <"$REVIEW")" "$CONNECTIONS" "$THREADS"
i=0
while [ $i -lt "$ROUNDS" ]; do
	measure webhook "https://127.0.0.1:$port/pods/mutate"
	measure echo "https://127.0.0.1:$(cat "$dir/echo.port")/"
	i=$((i + 1))
done
awk '{ if ($2 > best[$1]) best[$1] = $2 }
	END { printf "webhook / echo: %.2f (best of each)\n", best["webhook"] / best["echo"] }' "$dir/results"
grep -E 'VmRSS|RssAnon' "/proc/$webhook/status"
