#!/bin/sh
# go_vet.sh: go vet over our Go modules. It is skipped where Go is not installed, or what a module needs
# is not on this machine (the e2e test fetches it). test/differential/build.sh does it for its module, which
# needs a changed copy of Kueue.
set -u
# shellcheck source=test/lib/count.sh
. test/lib/count.sh
command -v go >/dev/null || {
	echo "go is not installed"
	exit "$SKIPPED"
}
export GOPROXY=off GOTOOLCHAIN=local
absent=
for module in test/e2e; do
	if ! go -C "$module" list -deps -test ./... >/dev/null 2>&1; then
		absent="$absent $module"
		continue
	fi
	go -C "$module" vet ./... || exit 1
done
[ -z "$absent" ] || {
	echo "what these need is not on this machine:$absent"
	exit "$SKIPPED"
}
