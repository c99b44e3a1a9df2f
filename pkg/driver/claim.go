package driver

import (
	"cmp"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Claims are what drivers of OpenShift clusters leave in the application metadata of pools that
// they use. A claim keeps the pool from removal, gives the driver's users their rights to it, and
// tells other clusters and a teardown. Claims die with the pool, survive its renaming and the loss
// of an OpenShift cluster, and every operator can read them. The ceph tool takes no other
// characters in keys: an administrator must be able to remove the claim of a lost cluster.
const (
	// ProtectionKey says that the pool's nodelete flag was set by an operator, not by an
	// administrator.
	ProtectionKey = "storage.openshift.io.nodelete"
	// ClaimPrefix starts the keys of claims: one for each driver of each OpenShift cluster.
	ClaimPrefix = ProtectionKey + "."

	// changePrefix starts the keys of who is about to change the flag and ProtectionKey. It is no ClaimPrefix.
	changePrefix = "storage.openshift.io.changing-nodelete."

	// ClaimInUse is the value of a claim that keeps the pool, ClaimUnprotected that of one whose
	// cluster does not ask for that. ClaimOthers keeps the pool for volumes of the cluster that another
	// CSI driver serves, or none any more, and gives no right: this driver's users have nothing to do there.
	ClaimInUse       = "in-use"
	ClaimUnprotected = "unprotected"
	ClaimOthers      = "in-use-by-others"
)

// ClaimKey is the key of the claims of one driver of an OpenShift cluster.
func ClaimKey(infraID, kind string) string { return ClaimPrefix + infraID + "." + kind }

// ChangeKey is the key with which one driver of an OpenShift cluster says beforehand that it changes the nodelete flag.
func ChangeKey(infraID, kind string) string { return changePrefix + infraID + "." + kind }

// IsChange says whether a key is a ChangeKey.
func IsChange(key string) bool { return strings.HasPrefix(key, changePrefix) }

// ClaimApplication is the application of a pool that a driver's claim belongs to: the driver's own,
// because rights look there; where the pool has another one only, the one that has the claim, or
// else the first: several operators must agree.
func ClaimApplication(p ceph.Pool, kind, key string) string {
	if slices.Contains(p.Applications, kind) {
		return kind
	}
	holder := ""
	for application, keys := range p.Metadata {
		if _, found := keys[key]; found && (holder == "" || application < holder) {
			holder = application
		}
	}
	if len(p.Applications) == 0 {
		return holder
	}
	return cmp.Or(holder, p.Applications[0])
}

// claimed are grants for all pools with a claim. An OSD reads claims with each operation: unlike a
// grant by name, these reach a driver whose connection is older than the pool.
func claimed(right, application, claim string) []string {
	key := grantName(claim)
	if key == "" {
		return nil
	}
	var out []string
	for _, value := range []string{ClaimInUse, ClaimUnprotected} {
		out = append(out, "allow "+right+" tag "+application+" "+key+"="+value)
	}
	return out
}
