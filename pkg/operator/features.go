package operator

import (
	"context"
	"fmt"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/resource/resourceread"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/classes"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/connection"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/credentials"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/gate"
	"github.com/openshift/ceph-csi-driver-operator/pkg/monitors"
	"github.com/openshift/ceph-csi-driver-operator/pkg/pools"
	"github.com/openshift/ceph-csi-driver-operator/pkg/presence"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// Session is a live connection to a Ceph cluster, as the features use it.
type Session interface {
	connection.Session
	pools.Cluster
	credentials.Ceph
	driver.TagStore
	presence.Cluster
}

// Dial connects to the Ceph cluster that source leads to.
type Dial func(ctx context.Context, source ceph.Source) (Session, error)

func (s starter) gateController() factory.Controller {
	return gate.New(gate.Config{
		Driver:            s.driver,
		Operator:          s.clients.operator,
		Secrets:           s.clients.ns().Core().V1().Secrets(),
		Deployments:       s.clients.ns().Apps().V1().Deployments(),
		DaemonSets:        s.clients.ns().Apps().V1().DaemonSets(),
		CSIDrivers:        s.clients.cluster().Storage().V1().CSIDrivers(),
		PersistentVolumes: s.clients.volumes.Core().V1().PersistentVolumes(),
		Removed:           s.removed,
		Settings:          s.settings,
		Triggers:          []factory.Informer{s.stateInformer(), s.clients.removal},
		Filesystem:        s.filesystem,
		State:             s.gate,
		OperandConditions: s.silentWhileClosed(),
		Recorder:          s.recorder,
	})
}

// operandConditions describe operands; they make no sense while there are none.
func (s starter) operandConditions() []string {
	var out []string
	for _, name := range []string{s.controllerName(), s.nodeName()} {
		out = append(out, name+operatorv1.OperatorStatusTypeAvailable, name+operatorv1.OperatorStatusTypeProgressing)
	}
	return out
}

// silentWhileClosed are the types and parts of which nobody but the gate speaks while it is closed: what was said before
// would stand for ever, and what never was would keep a sum unknown.
func (s starter) silentWhileClosed() []string {
	return append(s.operandConditions(), condition.NodePodsCurrent, condition.CredentialsDegraded, condition.CredentialsMinted,
		condition.SnapshotClassesDegraded, condition.SnapshotClassesUsable)
}

func (s starter) connection() *connection.Connection[Session] {
	return connection.New(connection.Config[Session]{
		Driver:     s.driver,
		Operator:   s.clients.operator,
		Client:     s.clients.kube.CoreV1(),
		Secrets:    s.clients.ns().Core().V1().Secrets(),
		ConfigMaps: s.clients.ns().Core().V1().ConfigMaps(),
		Dial:       s.dial,
		Resolve:    s.resolve,
		Cluster:    s.cluster,
		Clusters:   s.clusters,
		Reports:    s.reports.connections,
		Settings:   s.settings,
		Wanted: func() (bool, bool) {
			state, decided := s.gate.Get()
			return state.Open, decided
		},
		Clock:    clock.RealClock{},
		Recorder: s.recorder,
	})
}

func (s starter) pools(client func(fsid string) (Session, bool)) factory.Controller {
	configMaps := s.clients.ns().Core().V1().ConfigMaps()
	return pools.New(pools.Config{
		Driver:   s.driver,
		Operator: s.clients.operator,
		Client: func(fsid string) (pools.Ceph, bool) {
			session, ok := client(fsid)
			return session, ok
		},
		Cluster:           s.cluster,
		Settings:          s.settings,
		Record:            state.Placements(s.clients.kube.CoreV1(), configMaps.Lister(), s.driver),
		ConfigJSON:        s.writtenConfig,
		Minted:            s.minted,
		Infrastructures:   s.clients.config.Config().V1().Infrastructures(),
		StorageClasses:    s.clients.cluster().Storage().V1().StorageClasses(),
		PersistentVolumes: s.clients.volumes.Core().V1().PersistentVolumes(),
		Open:              s.open,
		Closed:            s.closed,
		Filesystem:        s.filesystem,
		Placement:         s.placement,
		// Without the record in the cache, an earlier choice would be made anew.
		Triggers: []factory.Informer{s.gate, s.stateInformer()},
		Recorder: s.recorder,
		Clock:    clock.RealClock{},
	})
}

func (s starter) monitors() factory.Controller {
	return monitors.New(monitors.Config{
		Driver:     s.driver,
		Operator:   s.clients.operator,
		Client:     s.clients.kube.CoreV1(),
		Secrets:    s.clients.ns().Core().V1().Secrets(),
		ConfigMaps: s.clients.ns().Core().V1().ConfigMaps(),
		Cluster:    s.cluster,
		Clusters:   s.clusters,
		Placement:  s.placement,
		Settings:   s.settings,
		Sync:       s.reports.monSync,
		Written:    s.reports.writtenMons,
		Clock:      clock.RealClock{},
		Recorder:   s.recorder,
	})
}

func (s starter) elsewhere() factory.Controller {
	return monitors.NewElsewhere(monitors.ElsewhereConfig{
		Driver:         s.driver,
		Operator:       s.clients.operator,
		Client:         s.clients.kube.CoreV1(),
		StorageClasses: s.clients.cluster().Storage().V1().StorageClasses(),
		Clusters:       s.clusters,
		Settings:       s.settings,
		Recorder:       s.recorder,
	})
}

func (s starter) credentials(client func(fsid string) (Session, bool)) factory.Controller {
	return credentials.New(credentials.Config{
		Driver:   s.driver,
		Operator: s.clients.operator,
		Client:   s.clients.kube.CoreV1(),
		Secrets:  s.clients.ns().Core().V1().Secrets(),
		Cluster:  s.cluster,
		Live: func(fsid string) (credentials.Ceph, bool) {
			session, ok := client(fsid)
			return session, ok
		},
		Dial: func(ctx context.Context, source ceph.Source) (credentials.Session, error) {
			return s.dial(ctx, source)
		},
		Settings:        s.settings,
		Infrastructures: s.clients.config.Config().V1().Infrastructures(),
		StorageClasses:  s.clients.cluster().Storage().V1().StorageClasses(),
		Usage:           s.usage,
		Proof:           s.proof,
		Placement:       s.placement,
		Granted:         s.granted,
		Memory:          state.Users(s.clients.kube.CoreV1(), s.clients.ns().Core().V1().ConfigMaps().Lister(), s.driver),
		Minted:          s.minted,
		Report:          s.reports.users,
		Image:           driverImage(resourceread.ReadDaemonSetV1OrDie(s.assets.Node()).Spec.Template.Spec),
		Kernels:         s.kernels.Kernels,
		Open:            s.open,
		Triggers:        []factory.Informer{s.gate, s.kernels},
		Clock:           clock.RealClock{},
		Recorder:        s.recorder,
	})
}

func (s starter) class() classes.StorageClass {
	return classes.StorageClass{
		Driver:         s.driver,
		Client:         s.clients.kube.StorageV1(),
		Operator:       s.clients.operator,
		Manifest:       s.assets.StorageClass(),
		StorageClasses: s.clients.cluster().Storage().V1().StorageClasses(),
		Placement:      s.granted,
		Settings:       s.settings,
		InUse:          func(class string) bool { return len(s.machines.ImagesOn(class)) > 0 },
		State:          s.classState,
		Held:           s.heldClass,
		Decided:        &ctrl.Latest[classes.Decision]{},
		Record:         state.Classes(s.clients.kube.CoreV1(), s.clients.ns().Core().V1().ConfigMaps().Lister(), s.driver),
	}
}

// classState is spec.storageClassState.
func (s starter) classState() (operatorv1.StorageClassStateName, error) {
	cr, err := s.clients.clusterCSIDrivers.Operator().V1().ClusterCSIDrivers().Lister().Get(s.driver.Name)
	if apierrors.IsNotFound(err) {
		return operatorv1.UnmanagedStorageClass, nil
	}
	if err != nil {
		return "", fmt.Errorf("reading ClusterCSIDriver %s: %w", s.driver.Name, err)
	}
	return cr.Spec.StorageClassState, nil
}

// classStateInformer triggers when classState may have changed.
func (s starter) classStateInformer() factory.Informer {
	return s.clients.clusterCSIDrivers.Operator().V1().ClusterCSIDrivers().Informer()
}

func (s starter) usableClasses() factory.Controller {
	return classes.NewUsable(classes.UsableConfig{
		StorageClass: s.class(),
		Operator:     s.clients.operator,
		Open:         s.open,
		Problems:     s.classProblems,
		Clock:        clock.RealClock{},
		Triggers:     []factory.Informer{s.gate},
		Recorder:     s.recorder,
	})
}

// snapshotManifests are the assets of the snapshot classes that the driver offers.
func (s starter) snapshotManifests() []string {
	if groupSnapshotsOffered(s.driver, resourceread.ReadDeploymentV1OrDie(s.assets.Controller()).Spec.Template.Spec) {
		return []string{assets.VolumeSnapshotClass, assets.VolumeGroupSnapshotClass}
	}
	return []string{assets.VolumeSnapshotClass}
}

func (s starter) snapshotClasses() (factory.Controller, error) {
	var manifests [][]byte
	for _, name := range s.snapshotManifests() {
		manifest, err := s.assets.Asset(name)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, manifest)
	}
	configMaps := s.clients.ns().Core().V1().ConfigMaps()
	return classes.NewSnapshots(classes.SnapshotsConfig{
		Driver:      s.driver,
		Operator:    s.clients.operator,
		Client:      s.clients.dynamic,
		Manifests:   manifests,
		Served:      s.clients.served,
		Placement:   s.granted,
		Open:        s.offers,
		Record:      state.SnapshotClasses(s.clients.kube.CoreV1(), configMaps.Lister(), s.driver),
		GroupRecord: state.GroupSnapshotClasses(s.clients.kube.CoreV1(), configMaps.Lister(), s.driver),
		Triggers:    []factory.Informer{s.gate, s.clients.crdInformer, configMaps.Informer()},
		Recorder:    s.recorder,
	})
}

// open says whether operands are to be deployed.
func (s starter) open() bool {
	state, decided := s.gate.Get()
	return decided && state.Open
}

// closed says that they are not to be, and that this is decided.
func (s starter) closed() bool {
	state, decided := s.gate.Get()
	return decided && !state.Open
}
