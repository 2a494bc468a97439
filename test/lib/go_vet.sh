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
go -C test/e2e list -deps -test ./... >/dev/null 2>&1 || {
	echo "what test/e2e needs is not on this machine"
	exit "$SKIPPED"
}
go -C test/e2e vet ./...
