package driver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Why there is no place for volumes, beyond the errors of pkg/ceph. The texts around them
// say what is there and what to do.
var (
	// ErrNoPool says that the named pool cannot be used, or that none was named and none can
	// be chosen.
	ErrNoPool = errors.New("no usable pool")
	// ErrNoFilesystem says that the Ceph cluster has no CephFS filesystem at all.
	ErrNoFilesystem = errors.New("the Ceph cluster has no CephFS filesystem")
	// ErrFilesystemUnclear says that the named filesystem does not exist, or that none was
	// named and there are several.
	ErrFilesystemUnclear = errors.New("no usable CephFS filesystem")
	// ErrNoManager says that the mons answer and the mgr does not.
	ErrNoManager = errors.New("the Ceph manager does not answer")
)

// Ceph is what Storage needs of a Ceph cluster. Errors name the pool, filesystem or group.
type Ceph interface {
	Pools(ctx context.Context) ([]ceph.Pool, error)
	// CreatePool creates a replicated pool with the Ceph cluster's own defaults.
	CreatePool(ctx context.Context, name string) error
	EnableApplication(ctx context.Context, pool, application string) error
	FileSystems(ctx context.Context) ([]ceph.FileSystem, error)
	// EnsureSubvolumeGroup creates the group unless it exists; the filesystem must be Active.
	EnsureSubvolumeGroup(ctx context.Context, filesystem, group string) error
}

// Wish is what the user or an earlier run named; empty fields are free.
type Wish struct {
	ceph.Placement
	// Origin tells the reader of a message who named it, such as "StorageClass ceph-rbd".
	Origin string
	// Own is the only pool that may be created unasked.
	Own string
	// Create allows to create the named pool, too.
	Create bool
}

// Storage finds the place where volumes of the default StorageClass live, and makes it
// where that is the operator's to make.
type Storage interface {
	Survey
	Estate
	// Place returns where new volumes go: what wish names, or the driver's own choice. It reads
	// before it writes; once the place is there it writes nothing.
	Place(ctx context.Context, cluster Ceph, wish Wish) (ceph.Placement, error)
	// Parameters are the parameters of a class whose volumes live at place.
	Parameters(place ceph.Placement) map[string]string
	// Options are the parameters that settings add to a StorageClass.
	Options(settings Settings) map[string]string
	// KernelOptions are those with which ceph-csi has a node's kernel map or mount volumes of a StorageClass with
	// these parameters, in the parameter that the driver's KernelOptions name and what is added to it.
	KernelOptions(parameters map[string]string, settings Settings) string
	// FromParameters reads a place from the parameters of a StorageClass or the attributes
	// of a volume, which ceph-csi copies from there.
	FromParameters(parameters map[string]string) ceph.Placement
	// Places reads every place that the parameters of a StorageClass, or the attributes of a
	// volume, name. Unlike FromParameters, it tells layouts and topologies as well.
	Places(parameters map[string]string) ([]ceph.Placement, error)
	// Ineffective tells of a parameter of a StorageClass that the driver, as this operator deploys it, does not act on,
	// with what comes of that and what to do; empty where there is none.
	Ineffective(parameters map[string]string) string
	// Namespace is the RADOS namespace that an entry of config.json names for the driver's volumes.
	Namespace(entry ceph.ConfigEntry) string
	// Holds says that the attributes of a volume, whoever serves it, are those of one like the driver's.
	Holds(attributes map[string]string) bool
	// Legacy reads a volume from before CSI; false when it is none of those.
	Legacy(volume corev1.PersistentVolumeSpec) (Legacy, bool)
}

// Legacy is the place of volumes that Kubernetes' own plugins or a flexVolume driver served.
// Both are gone from Kubernetes; the data is not.
type Legacy struct {
	// Plugin names what served the volumes.
	Plugin string
	// Monitors are the mons that the volumes name, separated by commas; some name none.
	Monitors string
	// Pool and DataPool of images, Filesystem of files, by name; empty where unknown.
	Pool, DataPool, Filesystem string
}

const clusterIDParameter = "clusterID"

// withoutEmpty drops what is not set: ceph-csi refuses some parameters that are empty.
func withoutEmpty(parameters map[string]string) map[string]string {
	maps.DeleteFunc(parameters, func(_, value string) bool { return value == "" })
	return parameters
}

// quoted lists names in a message.
func quoted(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	out := make([]string, 0, len(names))
	for _, name := range slices.Sorted(slices.Values(names)) {
		out = append(out, fmt.Sprintf("%q", name))
	}
	return strings.Join(out, ", ")
}
