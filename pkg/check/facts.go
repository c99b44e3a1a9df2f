package check

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/settings"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

// fact is an answer.
type fact[T any] struct {
	value T
	err   error
	// asked is false when there was nobody to be asked.
	asked bool
}

func (f fact[T]) known() bool { return f.asked && f.err == nil }

// ask asks with a deadline.
func ask[T any](ctx context.Context, timeout time.Duration, question func(context.Context) (T, error)) fact[T] {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	value, err := question(ctx)
	return fact[T]{value: value, err: err, asked: true}
}

// facts are everything that the decisions rest on.
type facts struct {
	conf fact[declared]
	user fact[ceph.Credentials]
	// reach is what came of trying each address, of ceph.conf and of the monmap.
	reach map[ceph.Address]error

	// fsid is the session's; asked and without an error means that there is a session.
	fsid            fact[string]
	monMap          fact[ceph.MonMap]
	quorum          fact[[]string]
	versions        fact[ceph.Versions]
	clocks          fact[[]ceph.Clock]
	pools           fact[[]ceph.Pool]
	filesystems     fact[[]ceph.FileSystem]
	filesystemPools fact[[]ceph.FilesystemPools]
	// dataPool is where data of images goes that are made without naming a pool for it.
	dataPool fact[string]
	// self is the user's own entry.
	self fact[ceph.User]
	// trials has what came of each, by the command's prefix.
	trials map[string]error
	// power is a command that gives the user power over others, where it may not make any.
	power fact[string]
	// places are where the operator would put the default volumes, by the driver's name.
	places map[string]place
	// objects are the user's rights, by pool and namespace.
	objects map[poolNamespace]fact[ceph.ObjectRights]
	// groups are subvolume groups by filesystem.
	groups map[string]fact[[]string]

	cluster clusterFacts
	// secretSource is what the Secret in the cluster declares, if there is one.
	secretSource fact[ceph.Source]
}

// declared is what ceph.conf says.
type declared struct {
	fsid string
	mons []ceph.Address
}

type poolNamespace struct{ pool, namespace string }

// clusterFacts are what Kubernetes tells. Objects that do not exist are nil.
type clusterFacts struct {
	version        fact[string]
	namespace      fact[*corev1.Namespace]
	secret         fact[*corev1.Secret]
	infrastructure fact[*unstructured.Unstructured]
	storage        fact[*unstructured.Unstructured]
	scc            fact[*unstructured.Unstructured]
	classes        fact[[]*storagev1.StorageClass]
	// crds by name, csiDrivers and resources (ClusterCSIDrivers) by the driver's name.
	crds       map[string]fact[*unstructured.Unstructured]
	csiDrivers map[string]fact[*storagev1.CSIDriver]
	resources  map[string]fact[*unstructured.Unstructured]
	// snapshots has a snapshot-controller's lease and workloads.
	snapshots fact[snapshotFacts]
	// kernels are the nodes', by their names.
	kernels fact[map[string]string]
	// images are ceph-csi's that are deployed, by the driver's name.
	images fact[map[string]string]
	// machines are what virtual machines can do, by the driver's name.
	machines map[string]fact[virtualization.Machines]
}

// settings of a driver; the defaults without a cluster, a ClusterCSIDriver, or readable ones.
func (c clusterFacts) settings(d driver.Driver) (driver.Settings, error) {
	return settings.Read(d, c.resources[d.Name].value)
}

// may says whether the user may send the command of a trial; unknown is why that is not known.
func (f facts) may(trial ceph.Trial) (may bool, unknown error) {
	err, asked := f.trials[trial.Prefix]
	switch {
	case !asked:
		return false, errNotAsked
	case errors.Is(err, ceph.ErrDenied):
		return false, nil
	}
	return err == nil, err
}

var errNotAsked = errors.New("Ceph was not asked")
