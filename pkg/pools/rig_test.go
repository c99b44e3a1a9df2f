package pools

import (
	"context"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	configfake "github.com/openshift/client-go/config/clientset/versioned/fake"
	configinformers "github.com/openshift/client-go/config/informers/externalversions"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// memory is a Record without a cluster.
type memory struct {
	place state.Placement
	known bool
	fail  error
	saves int
	// unseen is while the cache lacks it; reads counts those past the cache.
	unseen bool
	reads  int
	// saving is called before each.
	saving func()
}

func (m *memory) Load() (state.Placement, bool, error) {
	if m.unseen {
		return state.Placement{}, false, m.fail
	}
	return m.place, m.known, m.fail
}

func (m *memory) Read(context.Context) (state.Placement, bool, error) {
	m.reads++
	return m.place, m.known, m.fail
}

func (m *memory) Save(_ context.Context, place state.Placement) error {
	if m.fail != nil {
		return m.fail
	}
	if m.saving != nil {
		m.saving()
	}
	if !m.known || m.place != place {
		m.saves++
	}
	m.place, m.known = place, true
	return nil
}

// counted counts the list commands and those for groups, and has a mgr that may be down.
type counted struct {
	Ceph
	reads, groups int
	mgr           error
	// noMDS is while none is active.
	noMDS bool
}

func (c *counted) EnsureSubvolumeGroup(ctx context.Context, filesystem, group string) error {
	c.groups++
	if c.mgr != nil {
		return c.mgr
	}
	return c.Ceph.EnsureSubvolumeGroup(ctx, filesystem, group)
}

func (c *counted) SubvolumeGroups(ctx context.Context, filesystem string) ([]string, error) {
	if c.noMDS {
		return nil, ceph.ErrNoActiveMDS
	}
	return c.Ceph.SubvolumeGroups(ctx, filesystem)
}

func (c *counted) Pools(ctx context.Context) ([]ceph.Pool, error) {
	c.reads++
	return c.Ceph.Pools(ctx)
}

func (c *counted) FileSystems(ctx context.Context) ([]ceph.FileSystem, error) {
	c.reads++
	filesystems, err := c.Ceph.FileSystems(ctx)
	for i := range filesystems {
		filesystems[i].Active = filesystems[i].Active && !c.noMDS
	}
	return filesystems, err
}

type rig struct {
	controller *Controller
	config     Config
	operator   *conditiontest.Operator
	ceph       *cephtest.Cluster
	client     *counted
	connected  bool
	open       bool
	closed     bool
	settings   driver.Settings
	wrong      error
	record     *memory
	// written is config.json.
	written []ceph.ConfigEntry
	clock   *clocktesting.FakeClock
}

// newRig has a Ceph cluster that is connected, an open gate, and user "u" who may not do what
// denied lists.
func newRig(t *testing.T, d driver.Driver, denied []string, objects ...runtime.Object) *rig {
	t.Helper()
	kube := informers.NewSharedInformerFactory(fake.NewClientset(objects...), 0)
	config := configinformers.NewSharedInformerFactory(configfake.NewSimpleClientset(&configv1.Infrastructure{
		ObjectMeta: metav1.ObjectMeta{Name: "cluster"},
		Status:     configv1.InfrastructureStatus{InfrastructureName: "infra"},
	}), 0)
	r := &rig{
		operator: conditiontest.New(operatorv1.Managed), ceph: cephtest.New(), connected: true, open: true,
		record: &memory{}, clock: clocktesting.NewFakeClock(time.Unix(0, 0)),
	}
	r.ceph.AddUser("u", denied...)
	source := r.ceph.Source()
	source.Credentials = r.ceph.Credentials("u")
	session, err := r.ceph.Dial(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	r.client = &counted{Ceph: session}
	r.config = Config{Env: ctrl.Env{
		Driver: d, Operator: r.operator, Clock: r.clock, Settings: func() (driver.Settings, error) { return r.settings, r.wrong },
		Infrastructures: config.Config().V1().Infrastructures(), StorageClasses: kube.Storage().V1().StorageClasses(),
		PersistentVolumes: kube.Core().V1().PersistentVolumes(), ConfigMaps: kube.Core().V1().ConfigMaps(), Recorder: events.NewInMemoryRecorder("test", r.clock),
	},
		Record:     r.record,
		Client:     func(fsid string) (Ceph, bool) { return r.client, r.connected && fsid == r.fsid() },
		Open:       func() bool { return r.open },
		Closed:     func() bool { return r.closed },
		Cluster:    &ctrl.Latest[ceph.Cluster]{},
		Filesystem: &ctrl.Latest[bool]{},
		Minted:     &ctrl.Latest[bool]{},
		Held:       func(context.Context) (bool, error) { return false, nil },
		ConfigJSON: func(context.Context) ([]ceph.ConfigEntry, error) { return r.written, nil },
	}
	r.config.Cluster.Set(ceph.Cluster{FSID: r.fsid()})
	r.config.Minted.Set(false)
	r.controller = New(r.config)
	ctx, cancel := context.WithCancel(t.Context())
	kube.Start(ctx.Done())
	config.Start(ctx.Done())
	kube.WaitForCacheSync(ctx.Done())
	config.WaitForCacheSync(ctx.Done())
	t.Cleanup(func() {
		cancel()
		kube.Shutdown()
		config.Shutdown()
	})
	return r
}

func (r *rig) fsid() string { return r.ceph.MonMap().FSID }

func (r *rig) sync(t *testing.T) {
	t.Helper()
	if err := r.controller.Sync(t.Context(), factory.NewSyncContext("test", r.config.Recorder)); err != nil {
		t.Fatal(err)
	}
}

// later lets so much time pass that the same question may be put again.
func (r *rig) later(t *testing.T) {
	t.Helper()
	r.clock.SetTime(r.clock.Now().Add(time.Minute))
	r.sync(t)
}

func (r *rig) place() ceph.Placement {
	place, _ := r.controller.Placement.Get()
	return place
}

func ourClass(d driver.Driver, parameters map[string]string) *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: d.StorageClass, Labels: map[string]string{driver.ManagedByLabel: d.OperatorName()}},
		Provisioner: d.Name,
		Parameters:  parameters,
	}
}

func volume(d driver.Driver, name string, attributes map[string]string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeSpec{
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: d.Name, VolumeAttributes: attributes}},
	}}
}
