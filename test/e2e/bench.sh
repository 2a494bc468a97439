#!/bin/sh
# test/e2e/bench.sh [quota|fleet]: our daemons beside kube-scheduler (quota: beside Kueue; fleet: beside Kueue's manager of
# MultiKueue) on a real etcd and kube-apiserver. README.md says what it measures and which variables it knows. Expects the daemons
# in $BUILD/bin.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
case ${BUILD:-build} in
/*) E2E_BUILD=$BUILD ;;
*) E2E_BUILD=$root/${BUILD:-build} ;;
esac
export E2E_BUILD E2E_REPO="$root" E2E_WORK="$E2E_BUILD/e2e"
E2E_COMPONENTS=$("$root/test/e2e/build.sh" control-plane kwok helm)
export E2E_COMPONENTS
case ${1:-} in
quota) E2E_KUEUE=$("$root/test/e2e/kueue/build.sh" bench) ;;
fleet) E2E_KUEUE=$("$root/test/e2e/kueue/build.sh" manager) ;;
esac
export E2E_KUEUE="${E2E_KUEUE:-}"
command -v go >/dev/null || {
	echo "bench-e2e: Go 1.26 is needed to build it; there is no go on PATH" >&2
	exit 1
}
mkdir -p "$E2E_WORK"
CGO_ENABLED=0 GOFLAGS=-trimpath nice go -C "$root/test/e2e" build -o "$E2E_WORK/bench" ./bench
CGO_ENABLED=0 GOFLAGS=-trimpath nice go -C "$root/test/e2e" test ./bench
exec "$E2E_WORK/bench" "$@"
