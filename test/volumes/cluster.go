package volumes

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
)

// Cluster makes volumes as the ceph-csi of one OpenShift cluster.
type Cluster struct {
	ceph *Ceph
	// InfraID is what its volumes are tagged with.
	InfraID string
	// Instance is what its ceph-csi is told as --instanceid; empty where it is told none.
	Instance string
	seed     uint64
	// asked is the only request of a cluster that Asked has made.
	asked *request

	mu    sync.Mutex
	words []string
}

// note remembers a word that only the cluster's things have.
func (c *Cluster) note(word string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.words = append(c.words, word)
}

// Words are the uuids and the image IDs of everything that the cluster has made, for Dump.About.
func (c *Cluster) Words() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.words)
}

// Cluster with the same infra ID and seed names everything the same.
func (c *Ceph) Cluster(infraID string, seed uint64) *Cluster {
	return &Cluster{ceph: c, InfraID: infraID, seed: seed}
}

// tagKey and the keys below are what ceph-csi sets with --setmetadata, --clustername and
// --extra-create-metadata.
const (
	tagKey              = "csi.ceph.com/cluster/name"
	pvKey               = "csi.storage.k8s.io/pv/name"
	claimKey            = "csi.storage.k8s.io/pvc/name"
	claimNamespaceKey   = "csi.storage.k8s.io/pvc/namespace"
	snapshotKey         = "csi.storage.k8s.io/volumesnapshot/name"
	snapshotNamespace   = "csi.storage.k8s.io/volumesnapshot/namespace"
	snapshotContentKey  = "csi.storage.k8s.io/volumesnapshotcontent/name"
	encryptedKey        = "rbd.csi.ceph.com/encrypted"
	encryptedValue      = "encryptionPrepared"
	claimsNamespace     = "shop"
	defaultVolumePrefix = "csi-vol-"
	defaultSnapPrefix   = "csi-snap-"
)

// MounterKey is the tag of an image with the program by which nodes map it, since ceph-csi 3.17.
const MounterKey = "csi.ceph.com/mounter"

// uuid is made of what something is called, so that the order in which things are made does not
// matter.
func (c *Cluster) uuid(kind, name string) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%s/%s", c.InfraID, c.seed, kind, name))
	h[6], h[8] = h[6]&0x0f|0x40, h[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// request is what Kubernetes' sidecars send for a claim or a VolumeSnapshot of some name.
type request struct {
	// uuid is what ceph-csi draws for it.
	uuid string
	// name of the request, which is the PV's, or "snapshot-…".
	name string
	tags map[string]string
	// instance is ceph-csi's --instanceid.
	instance string
	// owner is the namespace of the claim.
	owner string
}

func (c *Cluster) volumeRequest(claim string) request {
	if c.asked != nil {
		return *c.asked
	}
	name, uuid := "pvc-"+c.uuid("claim", claim), c.uuid("volume", claim)
	c.note(uuid)
	return request{uuid: uuid, name: name, instance: c.Instance, owner: claimsNamespace, tags: map[string]string{
		tagKey: c.InfraID, pvKey: name, claimKey: claim, claimNamespaceKey: claimsNamespace,
	}}
}

func (c *Cluster) snapshotRequest(snapshot string) request {
	if c.asked != nil {
		return *c.asked
	}
	id, uuid := c.uuid("request", snapshot), c.uuid("snapshot", snapshot)
	c.note(uuid)
	return request{uuid: uuid, name: "snapshot-" + id, instance: c.Instance, owner: claimsNamespace, tags: map[string]string{
		tagKey: c.InfraID, snapshotKey: snapshot, snapshotNamespace: claimsNamespace, snapshotContentKey: "snapcontent-" + id,
	}}
}

// handle is the CSI handle of a volume or snapshot; location is the number of the pool or of the
// filesystem.
func (c *Ceph) handle(location int64, uuid string) string {
	return fmt.Sprintf("0001-%04x-%s-%016x-%s", len(c.fsid), c.fsid, location, uuid)
}
