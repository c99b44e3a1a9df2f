package driver

import (
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// GivesRight says that a pool carries a claim that gives its driver's users their right.
func GivesRight(p ceph.Pool, claim string) bool {
	for _, keys := range p.Metadata {
		if keys[claim] == ClaimInUse || keys[claim] == ClaimUnprotected {
			return true
		}
	}
	return false
}
