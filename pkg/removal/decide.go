package removal

import (
	"fmt"
	"strings"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// settle is the least time between two looks that find nothing: a volume may be on its way when the
// classes go.
const settle = 30 * time.Second

// Held is what of the driver exists that nothing but the driver can unmount, detach or delete.
type Held struct {
	Volumes, Attachments, Snapshots, GroupSnapshots int
}

func (h Held) none() bool { return h == Held{} }

func (h Held) String() string {
	var out []string
	for _, of := range []struct {
		count int
		kind  string
	}{{h.Volumes, "PersistentVolume"}, {h.Attachments, "VolumeAttachment"}, {h.Snapshots, "VolumeSnapshotContent"}, {h.GroupSnapshots, "VolumeGroupSnapshotContent"}} {
		switch {
		case of.count == 1:
			out = append(out, "1 "+of.kind)
		case of.count > 1:
			out = append(out, fmt.Sprintf("%d %ss", of.count, of.kind))
		}
	}
	if last := len(out) - 1; last > 0 {
		return strings.Join(out[:last], ", ") + " and " + out[last]
	}
	return strings.Join(out, "")
}

// facts are what the decision rests on.
type facts struct {
	// declared: spec.managementState is Removed.
	declared bool
	// held is what exists; unread is why that is not known.
	held   Held
	unread error
	// settled: so was every look of the last half minute, and nothing was there.
	settled bool
	// deployed: there is a workload of ours.
	deployed bool
}

// step is how far the removal goes.
type step int

const (
	nothing step = iota
	// withdraw the classes.
	withdraw
	// remove everything.
	remove
)

// verdict is what is decided.
type verdict struct {
	step step
	// state is the management state in which the other controllers are meanwhile.
	state operatorv1.ManagementState
	// reason and message are those of a condition that is False; without them, nothing is news.
	reason, message string
}

// decide:
//
//	declared | known | volumes … | seen twice | deployed | the others | then
//	no       |       |           |            |          | Managed    | nothing
//	yes      | no    |           |            | yes      | Managed    | classes go, wait
//	yes      | no    |           |            | no       | Removed    | classes go, wait
//	yes      | yes   | some      |            | yes      | Managed    | classes go, wait
//	yes      | yes   | some      |            | no       | Removed    | classes go, wait: Managed serves them
//	yes      | yes   | none      | no         | yes      | Managed    | classes go, look again
//	yes      | yes   | none      | no         | no       | Removed    | classes go, look again
//	yes      | yes   | none      | yes        |          | Removed    | everything goes
//
// So the workloads are looked after for as long as something needs them, and never come back while
// Removed is declared.
func decide(d driver.Driver, f facts) verdict {
	if !f.declared {
		return verdict{state: operatorv1.Managed}
	}
	waiting := verdict{step: withdraw, state: operatorv1.Removed}
	if f.deployed {
		waiting.state = operatorv1.Managed
	}
	switch {
	case f.unread != nil:
		waiting.reason = condition.SyncError
		waiting.message = fmt.Sprintf("managementState is Removed, and the driver stays because it cannot be known whether something needs it: %v", f.unread)
	case !f.held.none() && f.deployed:
		waiting.reason = condition.WaitingForVolumes
		waiting.message = fmt.Sprintf("managementState is Removed: the classes are removed, and the driver stays because %s of %s could be neither detached nor deleted without it; "+
			"delete them, or set spec.managementState to Managed", f.held, d.Name)
	case !f.held.none():
		waiting.reason = condition.WaitingForVolumes
		waiting.message = fmt.Sprintf("managementState is Removed, and %s of %s can be neither used nor deleted without the driver; set spec.managementState to Managed until they are gone", f.held, d.Name)
	case !f.settled && f.deployed:
		waiting.reason = condition.Removing
		waiting.message = fmt.Sprintf("managementState is Removed: nothing needs the driver, and it is removed if that is still so in %s", settle)
	case !f.settled:
	default:
		return verdict{step: remove, state: operatorv1.Removed, reason: condition.Removing}
	}
	return waiting
}
