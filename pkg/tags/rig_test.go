package tags

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	configfake "github.com/openshift/client-go/config/clientset/versioned/fake"
	configinformers "github.com/openshift/client-go/config/informers/externalversions"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const infraID = "infra-x7k2p"

// counted counts the questions about volumes.
type counted struct {
	driver.TagStore
	reads int
}

func (c *counted) ImageMetadata(ctx context.Context, at ceph.ImagePlace) (ceph.ImageMetadata, error) {
	c.reads++
	return c.TagStore.ImageMetadata(ctx, at)
}

func (c *counted) SubvolumeMetadata(ctx context.Context, filesystem string, places []ceph.SubvolumePlace) ([]ceph.SubvolumeMetadata, error) {
	c.reads += len(places)
	return c.TagStore.SubvolumeMetadata(ctx, filesystem, places)
}

// listed counts how often all PersistentVolumes are listed.
type listed struct {
	coreinformers.PersistentVolumeInformer
	lists *int
}

func (l listed) Lister() corelisters.PersistentVolumeLister {
	return listedLister{l.PersistentVolumeInformer.Lister(), l.lists}
}

type listedLister struct {
	corelisters.PersistentVolumeLister
	lists *int
}

func (l listedLister) List(selector labels.Selector) ([]*corev1.PersistentVolume, error) {
	*l.lists++
	return l.PersistentVolumeLister.List(selector)
}

type rig struct {
	controller *Controller
	config     Config
	operator   *conditiontest.Operator
	kube       *fake.Clientset
	ceph       *cephtest.Cluster
	client     *counted
	clusterIDs []ceph.ConfigEntry
	snapshots  contents
	lists      int
	connected  bool
	ours       bool
	clock      *clocktesting.FakeClock
	events     []string
}

// newRig has pool "rbd" and filesystem "myfs", and connects as a user who may not do what
// denied lists.
func newRig(t *testing.T, d driver.Driver, denied ...string) *rig {
	t.Helper()
	r := &rig{
		operator: conditiontest.New(operatorv1.Managed), kube: fake.NewClientset(), ceph: cephtest.New(),
		connected: true, ours: true, clock: clocktesting.NewFakeClock(time.Unix(1000, 0)),
		clusterIDs: []ceph.ConfigEntry{{ClusterID: cephtest.FSID}},
	}
	r.ceph.AddPool(ceph.Pool{Name: "rbd", Applications: []string{"rbd"}})
	r.ceph.AddFileSystem("myfs", true)
	r.ceph.AddUser("u", denied...)
	source := r.ceph.Source()
	source.Credentials = r.ceph.Credentials("u")
	session, err := r.ceph.Dial(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	r.client = &counted{TagStore: session}
	config := configinformers.NewSharedInformerFactory(configfake.NewSimpleClientset(&configv1.Infrastructure{
		ObjectMeta: metav1.ObjectMeta{Name: "cluster"},
		Status:     configv1.InfrastructureStatus{InfrastructureName: infraID},
	}), 0)
	volumes := informers.NewSharedInformerFactory(r.kube, 0)
	attachments := informers.NewSharedInformerFactoryWithOptions(r.kube, 0, informers.WithTransform(TrimAttachment))
	r.kube.PrependReactor("create", "events", func(action clienttesting.Action) (bool, runtime.Object, error) {
		event := action.(clienttesting.CreateAction).GetObject().(*corev1.Event)
		r.events = append(r.events, event.InvolvedObject.Kind+" "+event.InvolvedObject.Name+": "+event.Message)
		return true, event, nil
	})
	r.config = Config{Env: ctrl.Env{
		Driver: d, Operator: r.operator, Clock: r.clock, Infrastructures: config.Config().V1().Infrastructures(),
		PersistentVolumes: listed{volumes.Core().V1().PersistentVolumes(), &r.lists}, Kube: r.kube, Secrets: volumes.Core().V1().Secrets(), Recorder: events.NewInMemoryRecorder("test", r.clock),
	},
		Client:     func(fsid string) (driver.TagStore, bool) { return r.client, r.connected && fsid == cephtest.FSID },
		Clusters:   &ctrl.Latest[[]ceph.Cluster]{},
		ClusterIDs: func() ([]ceph.ConfigEntry, error) { return r.clusterIDs, nil },
		Ours:       func() bool { return r.ours },
		Contents:   &r.snapshots, Attachments: attachments.Storage().V1().VolumeAttachments(),
	}
	r.config.Clusters.Set([]ceph.Cluster{{FSID: cephtest.FSID, MonMap: r.ceph.MonMap(), Credentials: r.ceph.Credentials("u")}})
	r.start()
	ctx, cancel := context.WithCancel(t.Context())
	volumes.Core().V1().PersistentVolumes().Informer()
	volumes.Start(ctx.Done())
	attachments.Start(ctx.Done())
	config.Start(ctx.Done())
	volumes.WaitForCacheSync(ctx.Done())
	attachments.WaitForCacheSync(ctx.Done())
	config.WaitForCacheSync(ctx.Done())
	t.Cleanup(func() {
		cancel()
		volumes.Shutdown()
		attachments.Shutdown()
		config.Shutdown()
	})
	return r
}

// start makes a new process, which knows nothing.
func (r *rig) start() {
	r.controller = New(r.config)
}

// add creates a PersistentVolume and waits until the informer has it.
func (r *rig) add(t *testing.T, volume *corev1.PersistentVolume) {
	t.Helper()
	made, err := r.kube.CoreV1().PersistentVolumes().Create(t.Context(), volume, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.known(t, made)
}

// change edits a PersistentVolume.
func (r *rig) change(t *testing.T, name string, edit func(*corev1.PersistentVolume)) {
	t.Helper()
	volume, err := r.kube.CoreV1().PersistentVolumes().Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	edit(volume)
	if volume, err = r.kube.CoreV1().PersistentVolumes().Update(t.Context(), volume, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.known(t, volume)
}

// remove deletes a PersistentVolume and waits until the informer knows.
func (r *rig) remove(t *testing.T, name string) {
	t.Helper()
	if err := r.kube.CoreV1().PersistentVolumes().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := r.config.PersistentVolumes.Lister().Get(name); err != nil {
			return
		}
		if t.Context().Err() != nil {
			t.Fatal("the informer does not learn that the volume is gone")
		}
	}
}

func (r *rig) known(t *testing.T, want *corev1.PersistentVolume) {
	t.Helper()
	for {
		got, err := r.config.PersistentVolumes.Lister().Get(want.Name)
		if err == nil && cmp.Equal(got.Spec, want.Spec) && cmp.Equal(got.Status, want.Status) {
			return
		}
		if t.Context().Err() != nil {
			t.Fatal("the informer does not learn of the volume")
		}
	}
}

func (r *rig) sync(t *testing.T) {
	t.Helper()
	if err := r.controller.Sync(t.Context(), factory.NewSyncContext("test", r.config.Recorder)); err != nil {
		t.Fatal(err)
	}
}

// later lets time pass, second by second at first, and syncs.
func (r *rig) later(t *testing.T, d time.Duration) {
	t.Helper()
	r.clock.SetTime(r.clock.Now().Add(d))
	for range 5 {
		r.sync(t)
		r.clock.SetTime(r.clock.Now().Add(step))
	}
}

// news lets the controller hear of changed volumes, as its informer would.
func (r *rig) news() {
	r.controller.isOurs(&corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: r.config.Driver.Name}},
	}})
}

// expect wants the condition with all of texts in its message.
func (r *rig) expect(t *testing.T, status operatorv1.ConditionStatus, reason string, texts ...string) {
	t.Helper()
	got := r.operator.Condition("VolumesTagged")
	if got == nil || got.Status != status || got.Reason != reason {
		t.Fatalf("condition is %+v, want %s, %s", got, status, reason)
	}
	for _, text := range texts {
		if !strings.Contains(got.Message, text) {
			t.Errorf("message %q lacks %q", got.Message, text)
		}
	}
}

func (r *rig) expectCounts(t *testing.T, want Counts) {
	t.Helper()
	got, _ := r.controller.Report.Get()
	if diff := cmp.Diff(Report{cephtest.FSID: want}, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func (r *rig) writes() int {
	sum := 0
	for _, n := range r.ceph.Writes() {
		sum += n
	}
	return sum
}
