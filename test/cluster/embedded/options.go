package embedded

import (
	"io"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/openshift"
)

// DefaultInfrastructureName is the infra ID of a cluster whose Options name none.
const DefaultInfrastructureName = "demo-x7k2p"

// Options say how a cluster looks at the start. The zero value is a highly available OpenShift
// on platform None with three masters, five workers and a Ceph with one mon and a filesystem.
type Options struct {
	// Dir is the folder for all state; empty means a new temporary one.
	Dir string
	// Log is told what has been reached, line by line; nil means nobody.
	Log io.Writer
	// Keep leaves Dir as it is when the cluster stops.
	Keep bool

	// ControlPlaneTopology also decides the number of nodes unless Masters or Workers do:
	// one node in both roles for SingleReplica, no masters for External.
	ControlPlaneTopology configv1.TopologyMode
	Platform             configv1.PlatformType
	// InfrastructureName is the infra ID.
	InfrastructureName string
	Masters, Workers   int
	// TrustedCABundle is PEM for the labelled ConfigMaps; empty means a generated one.
	TrustedCABundle string
	// Plain leaves out everything of OpenShift, stand-ins too: three nodes of a Harvester, and the
	// CRDs of external-snapshotter. The methods of OpenShift and StandIns must not be called.
	Plain bool
	// WithoutOperatorRBAC leaves out the operators' ServiceAccounts and roles of assets/.
	WithoutOperatorRBAC bool

	// RealNodes is the number of nodes with a kubelet and a containerd of their own, which need root. With
	// them there are fake nodes only where Masters or Workers ask for them.
	RealNodes int
	// Images are what real nodes can run, Sandbox the name of the one for pods' sandboxes.
	Images  []wire.Image
	Sandbox string

	WithoutCeph bool
	// Mons is the number of Ceph's mons; 0 means one.
	Mons int
	// WithoutFilesystem leaves out CephFS.
	WithoutFilesystem bool
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.ControlPlaneTopology == "" {
		o.ControlPlaneTopology = configv1.HighlyAvailableTopologyMode
	}
	if o.Platform == "" {
		o.Platform = configv1.NonePlatformType
	}
	if o.InfrastructureName == "" {
		o.InfrastructureName = DefaultInfrastructureName
	}
	if o.RealNodes > 0 {
		return o
	}
	if o.Plain && o.Masters == 0 {
		o.Masters = 3
	}
	if o.Masters == 0 && o.Workers == 0 {
		o.Masters, o.Workers = nodesOf(o.ControlPlaneTopology)
	}
	return o
}

func nodesOf(topology configv1.TopologyMode) (masters, workers int) {
	switch topology {
	case configv1.SingleReplicaTopologyMode:
		return 1, 0
	case configv1.ExternalTopologyMode:
		return 0, 5
	default:
		return 3, 5
	}
}

func (o Options) nodes() openshift.Nodes {
	return openshift.Nodes{Masters: o.Masters, Workers: o.Workers, Plain: o.Plain}
}
