#!/bin/sh
# Every Go file is as gofmt writes it (where that is installed). `make analyze` runs go vet.
. "$(dirname "$0")/lib.sh"

if ! command -v gofmt >/dev/null; then
	skip "gofmt is not installed"
	finish
fi
sources '*.go' | xargs -r gofmt -l 2>&1 | sed 's/$/: not as gofmt writes it/' >"$FOUND"
finish
