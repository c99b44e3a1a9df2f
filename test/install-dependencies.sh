#!/bin/bash
# Installs what the operator is built with (librados, libcephfs; tests need librbd) and what the
# embedded cluster runs (the Ceph daemons), from the distribution's packages. Does nothing when all are there. The
# daemons are neither enabled nor started: the embedded cluster starts its own.
set -euo pipefail

programs=(gcc ceph ceph-mon ceph-mgr ceph-osd ceph-mds ceph-authtool monmaptool)
missing=()
for program in "${programs[@]}"; do
	command -v "$program" >/dev/null || missing+=("$program")
done
for header in rados/librados.h cephfs/libcephfs.h rbd/librbd.h; do
	[ -e "/usr/include/$header" ] || missing+=("$header")
done
[ ${#missing[@]} -gt 0 ] || exit 0
command -v go >/dev/null || { echo "Go is missing: install Go 1.26 or newer (https://go.dev/dl)" >&2; exit 1; }

sudo=()
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || { echo "missing: ${missing[*]}; run 'make dependencies' as root, there is no sudo here" >&2; exit 1; }
	sudo=(sudo)
fi
if command -v apt-get >/dev/null; then
	packages=(gcc libc6-dev ceph-mon ceph-mgr ceph-osd ceph-mds ceph-common librados-dev libcephfs-dev librbd-dev)
	install=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}")
	refresh=("${sudo[@]}" apt-get update)
elif command -v dnf >/dev/null; then
	packages=(gcc ceph-mon ceph-mgr ceph-osd ceph-mds ceph-common librados-devel libcephfs-devel librbd-devel)
	install=("${sudo[@]}" dnf install -y "${packages[@]}")
	refresh=(true)
else
	echo "missing: ${missing[*]}; neither apt-get nor dnf is here: install librados, libcephfs and librbd with headers and the Ceph daemons by hand" >&2
	exit 1
fi

echo "Missing: ${missing[*]}"
echo "Installing from the distribution: ${packages[*]}"

# While packages are installed, nothing may start their daemons; afterwards, what they
# enabled is disabled again.
policy=/usr/sbin/policy-rc.d
guarded=
if command -v apt-get >/dev/null && [ ! -e $policy ]; then
	printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" tee $policy >/dev/null
	"${sudo[@]}" chmod +x $policy
	guarded=yes
fi
trap '[ -z "$guarded" ] || "${sudo[@]}" rm -f $policy' EXIT
units() { find /etc/systemd/system -name 'ceph*' -printf '%f\n' 2>/dev/null | sort -u; }
before=$(units)
log=$(mktemp)
if ! { "${refresh[@]}" && "${install[@]}"; } >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	echo "could not install the packages; the whole output is in $log" >&2
	exit 1
fi
rm -f "$log"
mapfile -t enabled < <(comm -13 <(printf '%s\n' "$before") <(units) | grep -E '\.(target|service)$' || true)
if [ ${#enabled[@]} -gt 0 ] && command -v systemctl >/dev/null; then
	"${sudo[@]}" systemctl disable --quiet "${enabled[@]}" 2>/dev/null || true
fi
echo "Installed."
