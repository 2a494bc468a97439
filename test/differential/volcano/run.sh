#!/bin/sh
# run.sh [N [SEED]] [OPTION...]: N random clusters (100), the first one from SEED (1), are decided by
# Volcano's scheduler (its sources: VOLCANO_SRC) and by headgatectl simulate. Options: those that the
# program's -help lists. Skips (exit 77) without sources.
set -eu
here=$(dirname "$0")
if [ ! -f "${VOLCANO_SRC:-}/pkg/scheduler/scheduler.go" ]; then
	echo "differential-volcano: skipped: VOLCANO_SRC names no folder with the sources of Volcano v1.15.1"
	exit 77
fi
n=${1:-100}
[ $# -eq 0 ] || shift
seed=1
case ${1:-} in
[0-9]*)
	seed=$1
	shift
	;;
esac
program=$("$here/build.sh")
exec "$program" -headgatectl "${BUILD:-build}/bin/headgatectl" -n "$n" -seed "$seed" "$@"
