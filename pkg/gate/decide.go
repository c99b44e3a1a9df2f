package gate

import (
	"fmt"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Input is everything that the decision rests on.
type Input struct {
	// Removed says that the driver is off the cluster, or on its way, because a person wants that.
	Removed bool
	// Foreign says that the CSIDriver of the driver's name is somebody else's, Owner whose.
	Foreign bool
	Owner   string
	// Deployed says that pods of ours run or ran: there is a Deployment or DaemonSet, or our
	// CSIDriver and the mon addresses, without which no pod starts. A CSIDriver alone is what a
	// Secret leaves that was deleted before it led to a Ceph cluster.
	Deployed bool
	// Volumes says that PersistentVolumes of the driver exist.
	Volumes bool
	// Declared says that a Secret, or Rook where the settings name it, declares a Ceph cluster.
	Declared bool
	// NeedsFilesystem says that the driver is of no use without CephFS; Filesystem is what
	// Ceph said of that, once AskedCeph.
	NeedsFilesystem, Filesystem, AskedCeph bool
}

// State is whether the driver is to be deployed, and if that needs an explanation, which.
type State struct {
	// Open lets the operands be created.
	Open bool
	// Reason and Message are those of the condition Disabled while closed; while open they are
	// empty, or explain a foreign CSIDriver that our workloads live beside.
	Reason, Message string
}

// decide is the truth table, read from the top; "-" is any:
//
//	Foreign  Deployed  Volumes  Declared  Filesystem  ->  Open   Reason
//	-        -         -        -         -               no     Removed, if it is
//	yes      no        -        -         -               no     ForeignCSIDriver
//	yes      yes       -        -         -               yes    ForeignCSIDriver
//	no       yes       -        -         -               yes
//	no       no        yes      -         -               yes
//	no       no        no       no        -               no     NoCephCluster
//	no       no        no       yes       not needed      yes
//	no       no        no       yes       not known yet   no     WaitingForCeph
//	no       no        no       yes       none            no     NoFilesystem
//	no       no        no       yes       there           yes
//
// So nothing but a person closes the gate once something of ours is deployed.
func decide(d driver.Driver, in Input) State {
	switch {
	case in.Removed:
		return State{Reason: condition.Removed, Message: "spec.managementState is Removed; DriverRemoved says how far that is, and Managed has the driver back"}
	case in.Foreign:
		return State{Open: in.Deployed, Reason: condition.ForeignCSIDriver, Message: foreignMessage(d, in)}
	case in.Deployed, in.Volumes:
		return State{Open: true}
	case !in.Declared:
		return State{Reason: condition.NoCephCluster, Message: "No Ceph cluster is declared; create the Secret: " + driver.Declare("oc")}
	case !in.NeedsFilesystem:
		return State{Open: true}
	case !in.AskedCeph:
		return State{Reason: condition.WaitingForCeph, Message: "Waiting for the Ceph cluster to tell whether it has a CephFS filesystem"}
	case !in.Filesystem:
		return State{Reason: condition.NoFilesystem, Message: fmt.Sprintf(
			"The Ceph cluster has no CephFS filesystem that the user of Secret %s/%s may see; create one with 'ceph fs volume create cephfs', or give the user the mon caps 'allow r', and the driver is deployed within a minute",
			driver.Namespace, driver.CredentialsSecret)}
	}
	return State{Open: true}
}

func foreignMessage(d driver.Driver, in Input) string {
	if in.Deployed {
		return fmt.Sprintf("CSIDriver %s belongs to %s and is left alone, while the workloads of this operator run beside it; remove one of the two", d.Name, in.Owner)
	}
	return fmt.Sprintf("CSIDriver %s belongs to %s and is left alone; remove that driver to let this operator deploy its own", d.Name, in.Owner)
}
