package driver

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// ErrInvalidSettings says that a field of spec.driverConfig has a type that no schema would
// have let through; the text names field and value.
var ErrInvalidSettings = errors.New("invalid setting")

// Settings is what an administrator set in spec.driverConfig.ceph of a ClusterCSIDriver.
// Empty fields are not set.
type Settings struct {
	// Cluster is the fsid of the Ceph cluster that the default classes use.
	Cluster string
	// Pool and DataPool of the default RBD StorageClass.
	Pool, DataPool string
	// Filesystem and SubvolumeGroup of the default CephFS StorageClass.
	Filesystem, SubvolumeGroup string
	// ImageFeatures and MapOptions go into the default RBD StorageClass, KernelMountOptions and
	// FuseMountOptions into that of CephFS, Mounter into either, as ceph-csi's parameters of
	// those names.
	ImageFeatures, Mounter, MapOptions, KernelMountOptions, FuseMountOptions string
	// ReadAffinity are the node labels that name a node's place in the CRUSH map, for
	// config.json; none turns it off.
	ReadAffinity []string
	// CreatePools has pools made that settings or StorageClasses name and Ceph lacks.
	CreatePools bool
	// Unprotected leaves pools without the flag that keeps those in use from removal.
	Unprotected bool
	// Credentials is how the driver gets its cephx users; empty is Auto.
	Credentials CredentialsMode
	// OutOfBand are ConfigMaps of drivers that others deployed, to be kept current.
	OutOfBand []Target
	// RookNamespace is where Rook's objects declare the Ceph cluster; empty for nowhere.
	RookNamespace string
}

// CredentialsMode is a value of spec.driverConfig.ceph.credentials.
type CredentialsMode string

// The modes: Mint makes users of the driver's own, Passthrough gives it the operator's, Auto
// mints where the operator's user may.
const (
	CredentialsAuto        CredentialsMode = "Auto"
	CredentialsMint        CredentialsMode = "Mint"
	CredentialsPassthrough CredentialsMode = "Passthrough"
)

// Target is a ConfigMap with a config.json for ceph-csi.
type Target struct{ Namespace, ConfigMap string }

// Placement is the part of the settings that says where volumes go.
func (s Settings) Placement() ceph.Placement {
	return ceph.Placement{Pool: s.Pool, DataPool: s.DataPool, Filesystem: s.Filesystem, SubvolumeGroup: s.SubvolumeGroup}
}

// ReadSettings reads a ClusterCSIDriver as the API server gives it: the typed client drops the
// member ceph, which openshift/api does not know. Unknown fields are ignored; nil has none.
func ReadSettings(cr *unstructured.Unstructured) (Settings, error) {
	var s Settings
	if cr == nil {
		return s, nil
	}
	fields := cr.Object
	path := ""
	for _, name := range []string{"spec", "driverConfig", "ceph"} {
		path += name
		value := fields[name]
		if value == nil {
			return s, nil
		}
		next, ok := value.(map[string]any)
		if !ok {
			return s, invalid(cr, path, value, "an object")
		}
		fields = next
		path += "."
	}
	targets := map[string]*string{
		"cluster": &s.Cluster, "pool": &s.Pool, "dataPool": &s.DataPool,
		"filesystem": &s.Filesystem, "subvolumeGroup": &s.SubvolumeGroup,
	}
	for _, name := range []string{"cluster", "pool", "dataPool", "filesystem", "subvolumeGroup"} {
		value, set := fields[name]
		text, ok := value.(string)
		if set && value != nil && !ok {
			return Settings{}, invalid(cr, path+name, value, "a string")
		}
		*targets[name] = text
	}
	return s, nil
}

func invalid(cr *unstructured.Unstructured, path string, value any, wanted string) error {
	return fmt.Errorf("%w: %s of ClusterCSIDriver %s is %v, must be %s", ErrInvalidSettings, path, cr.GetName(), value, wanted)
}
