#!/bin/sh
# Prints go-ceph's build tag for the librados that is installed: the release's name up to
# squid, nothing for newer ones, which go-ceph compiles for by default.
set -eu
version=$(dpkg-query -W -f='${Version}' librados-dev 2>/dev/null || rpm -q --qf '%{VERSION}' librados-devel 2>/dev/null || true)
version=${version#*:}
case ${version%%.*} in
16) echo pacific ;;
17) echo quincy ;;
18) echo reef ;;
19) echo squid ;;
esac
