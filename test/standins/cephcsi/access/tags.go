package access

import (
	"context"
	"strings"
)

// Settings of the process that all calls share.
type Settings struct {
	DriverName, NodeID, InstanceID, ClusterName string
	// SetMetadata tells whether volumes are tagged.
	SetMetadata bool
	// NotesUsers tells whether nodes note at a subvolume by which user they mount it.
	NotesUsers bool
	// NotesMounters tells whether images say by which program nodes map them.
	NotesMounters bool
	// Secret reads one of Kubernetes, as the ServiceAccount of the pod.
	Secret func(context.Context, Secret) (map[string]string, error)
	// PluginPath is where the kubelet keeps drivers' files.
	PluginPath string
	// RadosNamespaceCephFS is where CephFS' journal is by default, instead of csi.
	RadosNamespaceCephFS string
	FuseMountOptions     string
	HardDepth, SoftDepth int
	MaxSnapshots         int
	MinSnapshots         int
}

const (
	ownPrefix = "csi.storage.k8s.io/"
	// OwnerKey is the parameter with a claim's namespace.
	OwnerKey = ownPrefix + "pvc/namespace"
	// ClusterKey is the tag with --clustername.
	ClusterKey = "csi.ceph.com/cluster/name"
)

// VolumeTags are what a volume is tagged with, from what the provisioner adds to its class.
func (s Settings) VolumeTags(parameters map[string]string) map[string]string {
	return s.tags(parameters, "pvc/name", "pvc/namespace", "pv/name")
}

// SnapshotTags are what a snapshot is tagged with.
func (s Settings) SnapshotTags(parameters map[string]string) map[string]string {
	return s.tags(parameters, "volumesnapshot/name", "volumesnapshot/namespace", "volumesnapshotcontent/name")
}

func (s Settings) tags(parameters map[string]string, keys ...string) map[string]string {
	out := map[string]string{}
	if !s.SetMetadata {
		return out
	}
	for _, key := range keys {
		if value, given := parameters[ownPrefix+key]; given {
			out[ownPrefix+key] = value
		}
	}
	if s.ClusterName != "" {
		out[ClusterKey] = s.ClusterName
	}
	return out
}

// Context is what nodes are told of a class's parameters.
func Context(parameters map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range parameters {
		if !strings.HasPrefix(key, ownPrefix) {
			out[key] = value
		}
	}
	return out
}
