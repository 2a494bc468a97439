#!/bin/sh
# A daemon that cannot start says which part failed and why, and ends with an error of its own accord. Rows:
# program, flags, a part of the message; DIR is a folder with the files made here.
set -u
BUILD=${BUILD:-build}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0

# config NAME SERVER: a kubeconfig for the API server at this address.
config() {
	cat >"$dir/$1" <<END
apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: a, user: u}}]
clusters: [{name: a, cluster: {server: "$2"}}]
users: [{name: u, user: {}}]
END
}

rows() {
	cat <<END
webhook|--offline --tls-cert-file=/nonexistent/c --tls-private-key-file=/nonexistent/k|"certificate" error="/nonexistent/c: No such file
webhook|--offline $files --tls-cert-file=DIR/broken|part="certificate"
webhook|$files --kubeconfig=DIR/broken|"kubeconfig" error="kubeconfig DIR/broken: invalid YAML
webhook|$files --kubeconfig=DIR/ftp|ftp://a
webhook|$files|in-cluster configuration: KUBERNETES_SERVICE_HOST
webhook|--offline $files --enabled-admission=/none|no such admission path: \"/none\"
webhook|--offline $files --healthz-address=127.0.0.1:99999|--healthz-address
scheduler|--kubeconfig=DIR/broken|kubeconfig DIR/broken: invalid YAML
scheduler|--kubeconfig=DIR/ftp|ftp://a
scheduler||in-cluster configuration: KUBERNETES_SERVICE_HOST
scheduler|--kubeconfig=DIR/good --scheduler-conf=/nonexistent|/nonexistent: No such file
scheduler|--kubeconfig=DIR/good --scheduler-conf=DIR/broken|DIR/broken: invalid YAML
END
}

printf 'x: [' >"$dir/broken"
config good http://127.0.0.1:1
config ftp ftp://a
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=x \
	-keyout "$dir/key" -out "$dir/cert" 2>/dev/null || exit 1
files="--tls-cert-file=DIR/cert --tls-private-key-file=DIR/key --listen-address=127.0.0.1 --port=0"
unset KUBECONFIG KUBERNETES_SERVICE_HOST
rows | sed "s|DIR|$dir|g" >"$dir/rows"
while IFS='|' read -r program flags want; do
	# shellcheck disable=SC2086
	HOME=$dir timeout 60 "$BUILD/bin/headgate-$program" $flags >"$dir/log" 2>&1 </dev/null
	code=$?
	if [ "$code" -ne 1 ] && [ "$code" -ne 2 ]; then
		echo "headgate-$program $flags: exit code $code"
		bad=1
	elif ! sed 's/\\"/"/g' "$dir/log" | grep -qF -- "$(printf '%s' "$want" | sed 's/\\"/"/g')"; then
		echo "headgate-$program $flags: does not say: $want"
		cat "$dir/log"
		bad=1
	fi
done <"$dir/rows"
exit $bad
