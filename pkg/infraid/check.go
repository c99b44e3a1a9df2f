package infraid

import (
	"fmt"
	"strings"
)

// Check refuses what no cluster may be called: Rook numbers the Ceph users of its drivers, whose names would
// be those of such a cluster's.
func Check(infraID string) error {
	if infraID != "" && strings.Trim(infraID, "0123456789") == "" {
		return fmt.Errorf("infra ID %q: digits alone are none: Ceph users such as client.csi-rbd-node.%s are Rook's", infraID, infraID)
	}
	return nil
}
