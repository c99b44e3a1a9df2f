package ceph

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Presence: while it runs, a driver's operator watches an object in the pools that its cluster uses,
// and answers whoever asks there. Ceph ends the watch of a client that has died after 30 seconds.
const (
	// PresenceNamespace is the RADOS namespace of these objects, in which nobody has anything else.
	PresenceNamespace = "storage.openshift.io"
	presencePrefix    = "running."
)

// PresenceObject names the object that the operator of a kind of driver watches.
func PresenceObject(infraID, kind string) string { return presencePrefix + infraID + "." + kind }

// elsewhere are applications of pools that no driver can use: the mgr's own (.mgr), the object gateway's, NFS-Ganesha's.
var elsewhere = []string{"mgr", "mgr_devicehealth", "rgw", "nfs"}

// ShowsPresence says that operators watch in a pool that they use: in one of images, and in that of a
// filesystem's metadata. Who asks everywhere does not ask where there can be none: those pools may be out of order.
func ShowsPresence(p Pool) bool {
	may := func(application string) bool { return !slices.Contains(elsewhere, application) }
	if len(p.Applications) > 0 && !slices.ContainsFunc(p.Applications, may) {
		return false
	}
	const application, data, metadata = "cephfs", "data", "metadata"
	_, files := p.Metadata[application][data]
	_, names := p.Metadata[application][metadata]
	return !p.ErasureCoded && (names || !files)
}

// Presence is what an operator answers.
type Presence struct {
	// Driver is the name of the CSI driver.
	Driver string `json:"driver"`
	// Instance was made up by the process.
	Instance string `json:"instance"`
	// Host is its own name, Address the one by which Ceph knows it.
	Host    string `json:"host"`
	Address string `json:"address"`
	// Since is when it began.
	Since time.Time `json:"since"`
}

// Encode is what the operator answers.
func (p Presence) Encode() ([]byte, error) { return json.Marshal(p) }

// Presence is what a watcher said of itself; zero where it said nothing that can be read.
func (w Watcher) Presence() Presence {
	var p Presence
	if json.Unmarshal(w.Answer, &p) != nil {
		return Presence{}
	}
	return p
}

// String says who it is, for people.
func (w Watcher) String() string {
	p := w.Presence()
	switch {
	case w.Silent:
		return fmt.Sprintf("client.%d, which does not answer", w.Client)
	case p == Presence{}:
		return fmt.Sprintf("client.%d, which does not say who it is", w.Client)
	}
	return OneLine(fmt.Sprintf("the operator of %s on host %s at %s since %s", p.Driver, p.Host, p.Address, p.Since.UTC().Format(time.RFC3339)))
}
