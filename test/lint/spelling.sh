#!/bin/sh
# codespell, where it is installed.
. "$(dirname "$0")/lib.sh"

if ! command -v codespell >/dev/null; then
	skip "codespell is not installed"
	finish
fi
for path in common certs scheduler webhook test charts docs README.md CONTRIBUTING.md CHANGELOG.md Makefile run .ci; do
	[ -e "$path" ] && echo "$path"
done | xargs codespell --quiet-level=7 --ignore-words="$LINT/spelling.ignore" \
	--skip='*.crt,*.key,*.pem,*/corpus/*,*/go.sum' >"$FOUND" 2>&1
finish
