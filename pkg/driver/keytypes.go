package driver

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// What knows keys of type ceph.AES256; a kernel may also have a backport, which its version does not tell.
const (
	StrongKernel   = 7
	StrongReleases = "ceph-csi 3.16.3 or 3.17.1"
)

// strongPatches are the first patch releases of ceph-csi's minor ones that know keys of type ceph.AES256.
// Later minor releases all do, and earlier ones do not.
var strongPatches = map[int]int{16: 3, 17: 1}

// KnowsKeys says whether ceph-csi of an image knows keys of a type. An image that does not tell its
// release is taken for one that does.
func KnowsKeys(image string, kind ceph.KeyType) bool {
	minor, patch, told := releaseOf(image)
	if kind != ceph.AES256 || !told {
		return true
	}
	if first, some := strongPatches[minor]; some {
		return patch == newest || patch >= first
	}
	return minor > slices.Max(slices.Collect(maps.Keys(strongPatches)))
}

// WeakKernels are the nodes, with their kernels, that may not know keys of type ceph.AES256.
func WeakKernels(kernels map[string]string) []string {
	var out []string
	for _, node := range slices.Sorted(maps.Keys(kernels)) {
		text, _, _ := strings.Cut(kernels[node], ".")
		if major, err := strconv.Atoi(text); err != nil || major < StrongKernel {
			out = append(out, fmt.Sprintf("%s (%s)", node, kernels[node]))
		}
	}
	return out
}
