package driver

import (
	"regexp"
	"strconv"
)

// released is the tag of an image that tells its release of ceph-csi.
var released = regexp.MustCompile(`:v?3\.(\d+)(?:[.-][^/]*)?(?:@|$)`)

// OffersGroupSnapshots says whether ceph-csi of an image does. An image that does not tell its release
// is taken for one that the arguments of the operands are for, which all do.
func (d Driver) OffersGroupSnapshots(image string) bool {
	found := released.FindStringSubmatch(image)
	if found == nil {
		return true
	}
	minor, _ := strconv.Atoi(found[1])
	return minor >= d.GroupSnapshots
}
