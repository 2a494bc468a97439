#!/bin/sh
# go_vet.sh MODULE...: go vet over the modules in these folders. Where Go is not installed, or what
# the modules need is not on this machine (the e2e and differential tests fetch it), it says so.
set -u
command -v go >/dev/null || {
	echo "go is not installed: go vet skipped"
	exit 0
}
export GOPROXY=off GOTOOLCHAIN=local
for module; do
	if ! go -C "$module" list -deps -test ./... >/dev/null 2>&1; then
		echo "$module: its modules are not on this machine: go vet skipped"
		continue
	fi
	go -C "$module" vet ./... || exit 1
done
