#!/bin/sh
# image/check.sh IMAGE.tar BUILD: the demo (API server, webhook, scheduler, gated pods, all promises
# checked) with both daemons confined to the image's file system, read-only, and a headgatectl run
# from it, too. Needs root or user namespaces.
set -eu
image=$1
build=$2
here=$(cd "$(dirname "$0")" && pwd)

if ! unshare -rm true 2>/dev/null && [ "$(id -u)" -ne 0 ]; then
	echo "image-check: neither root nor user namespaces: skipped"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$here/unpack.sh" "$image" "$work/root"
mkdir "$work/bin"

# Each program's stand-in enters the image's root. Only the folder of the run's files (kubeconfig,
# certificates) is visible besides it.
cat >"$work/confined" <<'EOF'
#!/bin/sh
# confined ROOT PROGRAM ARGS...
set -eu
root=$1
shift
mount --bind "$root" "$root"
mount --rbind /proc "$root/proc"
mount --bind /tmp "$root/tmp"
mount -o remount,bind,ro "$root"
if touch "$root/etc/passwd" 2>/dev/null; then
	echo "the root file system can be written to" >&2
	exit 1
fi
cd /
exec env -i PATH=/usr/bin "$(command -v chroot)" "$root" "$@"
EOF
chmod +x "$work/confined"
for program in headgate-webhook headgate-scheduler headgatectl; do
	cat >"$work/bin/$program" <<EOF
#!/bin/sh
exec unshare -rm "$work/confined" "$work/root" /usr/bin/$program "\$@"
EOF
	chmod +x "$work/bin/$program"
done
ln -s "$(cd "$build" && pwd)/bin/headgate-apiserver" "$work/bin/headgate-apiserver"

"$work/bin/headgatectl" version
HEADGATE_BIN=$work/bin "$build/test/demo/demo" >"$work/log" 2>&1 || {
	cat "$work/log"
	echo "image-check: the demo does not hold with the programs of the image"
	exit 1
}
tail -n 1 "$work/log"
echo "image-check: both daemons ran from the image alone"
