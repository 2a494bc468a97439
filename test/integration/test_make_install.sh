#!/bin/sh
# `make install` puts programs that start, manual pages that a man program can format and completions that their
# shells accept below DESTDIR and PREFIX, and `make uninstall` removes all of it. BUILD: the build folder
# (build). Skipped where that folder was not filled by make, as for a mutant: all would be compiled again.
set -u
# shellcheck source=test/lib/count.sh
. test/lib/count.sh
BUILD=${BUILD:-build}
if [ ! -e "$BUILD/flags" ]; then
	echo "$BUILD was not filled by make"
	exit "$SKIPPED"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root="$work/a root"
failed=0
# Variables of the calling shell would come before PREFIX.
unset BINDIR MANDIR

# fails TEXT...: the test goes on, to report all that is wrong.
fails() {
	echo "FAILED: $*"
	failed=1
}

# places: what there is below the root, sorted.
places() {
	(cd "$root" && find . -type f | LC_ALL=C sort)
}

# accepts SHELL FLAG FILE: the shell, if there is one, reads the file without complaint.
accepts() {
	command -v "$1" >/dev/null 2>&1 || return 0
	"$1" "$2" "$3" || fails "$1 $2 $3"
}

make BUILD="$BUILD" DESTDIR="$root" PREFIX=/opt/h install >"$work/log" 2>&1 || {
	cat "$work/log"
	exit 1
}
cat >"$work/want" <<'END'
./opt/h/bin/headgate-scheduler
./opt/h/bin/headgate-webhook
./opt/h/bin/headgatectl
./opt/h/share/bash-completion/completions/headgatectl
./opt/h/share/fish/vendor_completions.d/headgatectl.fish
./opt/h/share/man/man1/headgatectl.1
./opt/h/share/man/man8/headgate-scheduler.8
./opt/h/share/man/man8/headgate-webhook.8
./opt/h/share/zsh/site-functions/_headgatectl
END
places | diff "$work/want" - || fails "other files were installed"

for program in headgate-scheduler headgate-webhook headgatectl; do
	"$root/opt/h/bin/$program" --version | grep -qx "$program [0-9.]*" || fails "$program --version"
	page=$(find "$root/opt/h/share/man" -name "$program.?")
	head -n 1 "$page" | grep -qi "^\.TH $program ${page##*.} " || fails "$page does not begin with its name"
	command -v groff >/dev/null 2>&1 || continue
	groff -man -Tascii -ww -z "$page" >"$work/log" 2>&1 || fails "groff $page"
	[ ! -s "$work/log" ] || fails "groff: $(cat "$work/log")"
done
accepts bash -n "$root/opt/h/share/bash-completion/completions/headgatectl"
accepts zsh -n "$root/opt/h/share/zsh/site-functions/_headgatectl"
accepts fish -n "$root/opt/h/share/fish/vendor_completions.d/headgatectl.fish"

make BUILD="$BUILD" DESTDIR="$root" PREFIX=/opt/h uninstall >"$work/log" 2>&1 || fails "$(cat "$work/log")"
[ -z "$(places)" ] || fails "uninstall left $(places)"
exit $failed
