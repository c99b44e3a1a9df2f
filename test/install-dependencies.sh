#!/bin/bash
# Installs what the operator is built with (librados, librbd, libcephfs) and what the
# embedded cluster runs (the Ceph daemons, what mounts volumes), from the distribution's packages; with the
# argument nodes, what its real nodes run too. Does nothing when all are there. The daemons are neither
# enabled nor started: the embedded cluster starts its own.
set -euo pipefail

# install takes what dnf installs, and what apt-get does, for root in an image.
install() {
	if command -v dnf >/dev/null; then
		dnf install -y "centos-release-ceph-$CEPH_RELEASE"
		dnf install -y $1
		dnf clean all
	else
		apt-get update
		DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $2
		apt-get clean
		rm -rf /var/lib/apt/lists/*
	fi
}
# With a word, it is about the image. The Dockerfile's stages run the first two: for what the operator
# is compiled with, and for what it loads. The third is for what builds the image in a test.
case ${1-} in
image-builder)
	install "gcc librados-devel librbd-devel libcephfs-devel" "gcc libc6-dev librados-dev librbd-dev libcephfs-dev"
	exit
	;;
image-runtime)
	install "librados2 librbd1 libcephfs2" "librados2 librbd1 libcephfs2"
	version=$(dpkg-query -W -f='${Version}' librados2 2>/dev/null || rpm -q --qf '%{VERSION}' librados2)
	version=${version#*:}
	oldest=$(printf '%s\n' "$CEPH_MINIMUM" "$version" | sort -V | head -n 1)
	[ "$oldest" = "$CEPH_MINIMUM" ] || { echo "librados is $version, and must be $CEPH_MINIMUM or newer: choose another CEPH_RELEASE, or a lower CEPH_MINIMUM" >&2; exit 1; }
	exit
	;;
image-tools)
	if command -v buildah >/dev/null && command -v mmdebstrap >/dev/null; then
		exit
	fi
	command -v apt-get >/dev/null || { echo "no apt-get: the image is tried on Debian and Ubuntu only" >&2; exit 1; }
	echo "Installing from the distribution: buildah mmdebstrap"
	sudo=()
	[ "$(id -u)" = 0 ] || sudo=(sudo)
	"${sudo[@]}" apt-get update >/dev/null
	"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends buildah mmdebstrap >/dev/null
	exit
	;;
esac

programs=(gcc ceph ceph-mon ceph-mgr ceph-osd ceph-mds ceph-authtool monmaptool rbd-fuse rbd-nbd ceph-fuse fusermount3 mkfs.ext4 mkfs.xfs modprobe)
if [ "${1:-}" = nodes ]; then
	programs+=(containerd ctr runc nft iptables conntrack ip nsenter losetup)
fi
missing=()
for program in "${programs[@]}"; do
	PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || missing+=("$program")
done
for header in rados/librados.h cephfs/libcephfs.h rbd/librbd.h; do
	[ -e "/usr/include/$header" ] || missing+=("$header")
done
if [ "${1:-}" = nodes ]; then
	[ -e /usr/lib/cni/bridge ] || [ -e /usr/libexec/cni/bridge ] || [ -e /opt/cni/bin/bridge ] || missing+=("CNI's plugins")
fi
[ ${#missing[@]} -gt 0 ] || exit 0
command -v go >/dev/null || { echo "Go is missing: install Go 1.26 or newer (https://go.dev/dl)" >&2; exit 1; }

sudo=()
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || { echo "missing: ${missing[*]}; run 'make dependencies' as root, there is no sudo here" >&2; exit 1; }
	sudo=(sudo)
fi
if command -v apt-get >/dev/null; then
	packages=(gcc libc6-dev ceph-mon ceph-mgr ceph-osd ceph-mds ceph-common librados-dev libcephfs-dev librbd-dev rbd-fuse rbd-nbd ceph-fuse fuse3 e2fsprogs xfsprogs kmod)
	[ "${1:-}" != nodes ] || packages+=(containerd runc containernetworking-plugins nftables iptables conntrack iproute2 util-linux mount)
	install=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}")
	refresh=("${sudo[@]}" apt-get update)
elif command -v dnf >/dev/null; then
	packages=(gcc ceph-mon ceph-mgr ceph-osd ceph-mds ceph-common librados-devel libcephfs-devel librbd-devel rbd-fuse rbd-nbd ceph-fuse fuse3 e2fsprogs xfsprogs kmod)
	[ "${1:-}" != nodes ] || packages+=(containerd runc containernetworking-plugins nftables iptables-nft conntrack-tools iproute util-linux)
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
units() { find /etc/systemd/system \( -name 'ceph*' -o -name 'containerd*' -o -name 'nftables*' \) -printf '%f\n' 2>/dev/null | sort -u; }
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
