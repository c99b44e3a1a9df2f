// Package check looks, before anything is deployed, whether a ceph.conf and a keyring can serve
// a cluster, and says of each thing whether it is right, and if not, what mends it. It changes
// nothing, in Ceph or in Kubernetes.
//
// Run gathers facts, each with a deadline of its own; the table in table.go decides on them in
// pure functions; report.go writes the result.
package check

import (
	"context"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Ceph is a session with a Ceph cluster. None of its methods changes anything.
type Ceph interface {
	FSID(ctx context.Context) (string, error)
	Version(ctx context.Context) (string, error)
	MonMap(ctx context.Context) (ceph.MonMap, error)
	Quorum(ctx context.Context) ([]string, error)
	Versions(ctx context.Context) (ceph.Versions, error)
	Clocks(ctx context.Context) ([]ceph.Clock, error)
	Capacities(ctx context.Context) ([]ceph.Capacity, error)
	Pools(ctx context.Context) ([]ceph.Pool, error)
	ClientOption(ctx context.Context, name string) (string, error)
	FileSystems(ctx context.Context) ([]ceph.FileSystem, error)
	FilesystemPools(ctx context.Context) ([]ceph.FilesystemPools, error)
	SubvolumeGroups(ctx context.Context, filesystem string) ([]string, error)
	// User reads a user with its caps; few users may.
	User(ctx context.Context, id string) (ceph.User, error)
	// Try returns nil when the user may send the command of a trial, ErrDenied when not.
	Try(ctx context.Context, trial ceph.Trial) error
	ObjectRights(ctx context.Context, pool, namespace string) (ceph.ObjectRights, error)
	Close()
}

// File is a file that was read already.
type File struct {
	// Name is how the user named it.
	Name    string
	Content []byte
}

// Cluster is a Kubernetes cluster.
type Cluster struct {
	// Kubeconfig is the name of the file, for commands; empty for the default one.
	Kubeconfig string
	Kube       kubernetes.Interface
	Dynamic    dynamic.Interface
}

// Config is what is checked, and by what means.
type Config struct {
	Conf, Keyring File
	// User chooses one of the keyring; empty is the keyring's only one, or client.admin.
	User string
	// Drivers are those that are to be deployed.
	Drivers []driver.Driver
	// Pool and Filesystem are meant for the default StorageClasses; empty leaves the choice to
	// the settings of the ClusterCSIDriver, then to the operator.
	Pool, Filesystem string
	// Cluster may be nil: then only Ceph is looked at.
	Cluster *Cluster

	Dial    func(ctx context.Context, source ceph.Source) (Ceph, error)
	Resolve ceph.Resolver
	// Reach says whether a mon answers at an address, without a session.
	Reach func(ctx context.Context, address ceph.Address) error
	// CallTimeout bounds each call; the context of Run bounds them all.
	CallTimeout time.Duration
}

// Run checks everything. When ctx ends early, what was not reached is said to be so.
func Run(ctx context.Context, config Config) Report {
	facts := gather(ctx, config)
	return Report{Lines: decide(config, facts)}
}
