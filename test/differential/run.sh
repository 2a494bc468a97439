#!/bin/sh
# run.sh [N [SEED]] [OPTION...]: N random clusters (100), the first one from SEED (1), are decided by
# Kueue's scheduler and by headgatectl simulate. Options: those that differential -help lists.
set -eu
here=$(dirname "$0")
n=${1:-100}
[ $# -eq 0 ] || shift
seed=1
case ${1:-} in
[0-9]*)
	seed=$1
	shift
	;;
esac
# build.sh downloads the sources that are missing; a download may fail once.
program=$("$here/build.sh") || program=$("$here/build.sh")
exec "$program" -headgatectl "${BUILD:-build}/bin/headgatectl" -n "$n" -seed "$seed" "$@"
