package pools

import (
	"context"
	"fmt"
	"slices"
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
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// careRig is an OpenShift cluster with infra ID "infra" beside a Ceph cluster.
type careRig struct {
	controller *Care
	config     CareConfig
	operator   *conditiontest.Operator
	ceph       *cephtest.Cluster
	client     Cluster
	settings   driver.Settings
	open       bool
	// unknown is why it is not known what is used.
	unknown error
	proof   *proven
	clock   *clocktesting.FakeClock
	events  []string
}

// proven proves at once that nothing else is in use than what is known, unless it is told otherwise.
type proven struct {
	ctrl.Latest[time.Time]
	usage *ctrl.Latest[usage.Usage]
	// looks saw more in use, fail is why there is no proof.
	looks []usage.Usage
	fail  error
	// waits says that something waits, since is the time after which no use of it was known.
	waits bool
	since time.Time
}

func (p *proven) Wait(_ string, waits bool) { p.waits = waits }

func (p *proven) Since(since time.Time) ([]usage.Usage, error) {
	p.since = since
	used, _ := p.usage.Get()
	return append(p.looks, used), p.fail
}

// newCareRig connects as a user who may not do what denied lists.
func newCareRig(t *testing.T, d driver.Driver, denied ...string) *careRig {
	t.Helper()
	informers := configinformers.NewSharedInformerFactory(configfake.NewSimpleClientset(&configv1.Infrastructure{
		ObjectMeta: metav1.ObjectMeta{Name: "cluster"},
		Status:     configv1.InfrastructureStatus{InfrastructureName: "infra"},
	}), 0)
	r := &careRig{
		operator: conditiontest.New(operatorv1.Managed), ceph: cephtest.New(), clock: clocktesting.NewFakeClock(time.Unix(0, 0)),
	}
	r.ceph.AddUser("u", denied...)
	r.connect(t)
	r.config = CareConfig{Env: ctrl.Env{
		Driver: d, Operator: r.operator, Settings: func() (driver.Settings, error) { return r.settings, nil },
		Infrastructures: informers.Config().V1().Infrastructures(), Recorder: events.NewInMemoryRecorder("test", r.clock), Clock: r.clock,
	},
		Client:    func(fsid string) (Cluster, bool) { return r.client, fsid == cephtest.FSID },
		Clusters:  &ctrl.Latest[[]ceph.Cluster]{},
		Usage:     &ctrl.Latest[usage.Usage]{},
		Unknown:   func() error { return r.unknown },
		Placement: &ctrl.Latest[ceph.Placement]{},
		Open:      func() bool { return r.open },
		Minted:    &ctrl.Latest[bool]{},
	}
	r.proof = &proven{usage: r.config.Usage}
	r.config.Proof = r.proof
	r.config.Clusters.Set([]ceph.Cluster{{FSID: cephtest.FSID, MonMap: r.ceph.MonMap(), Credentials: r.ceph.Credentials("u")}})
	r.start()
	ctx, cancel := context.WithCancel(t.Context())
	informers.Start(ctx.Done())
	informers.WaitForCacheSync(ctx.Done())
	t.Cleanup(func() {
		cancel()
		informers.Shutdown()
	})
	return r
}

// start makes a new process, which knows nothing.
func (r *careRig) start() {
	r.controller = NewCare(r.config)
	r.controller.tell = func(_ context.Context, class, message string, before int) error {
		r.events = append(r.events, fmt.Sprintf("%s %d: %s", class, before, message))
		return nil
	}
}

func (r *careRig) connect(t *testing.T) {
	t.Helper()
	source := r.ceph.Source()
	source.Credentials = r.ceph.Credentials("u")
	client, err := r.ceph.Dial(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	r.client = client
}

// use publishes what these classes and volumes use, and lets a minute pass.
func (r *careRig) use(t *testing.T, classes []*storagev1.StorageClass, volumes ...*corev1.PersistentVolume) {
	t.Helper()
	r.config.Usage.Set(use(r.config.Driver, classes, volumes...))
	r.later(t)
}

func use(d driver.Driver, classes []*storagev1.StorageClass, volumes ...*corev1.PersistentVolume) usage.Usage {
	return usage.Of(d, configured(""), classes, volumes)
}

// configured is a config.json that has the cluster.
func configured(group string) []ceph.ConfigEntry {
	return []ceph.ConfigEntry{{ClusterID: cephtest.FSID, Monitors: []string{"192.0.2.1:6789"}, SubvolumeGroup: group}}
}

// reads counts the lists of pools and of subvolume groups.
type reads struct {
	Cluster
	pools, groups int
}

func (r *reads) SubvolumeGroups(ctx context.Context, filesystem string) ([]string, error) {
	r.groups++
	return r.Cluster.SubvolumeGroups(ctx, filesystem)
}

func (r *reads) Pools(ctx context.Context) ([]ceph.Pool, error) {
	r.pools++
	return r.Cluster.Pools(ctx)
}

func (r *careRig) later(t *testing.T) {
	t.Helper()
	r.clock.SetTime(r.clock.Now().Add(time.Minute))
	r.sync(t)
}

func (r *careRig) sync(t *testing.T) {
	t.Helper()
	if err := r.controller.Sync(t.Context(), factory.NewSyncContext("test", r.config.Recorder)); err != nil {
		t.Fatal(err)
	}
}

func (r *careRig) writes() int {
	sum := 0
	for _, n := range r.ceph.Writes() {
		sum += n
	}
	return sum
}

// flagged are the pools with the flag.
func (r *careRig) flagged() []string {
	var out []string
	for _, p := range r.ceph.Pools() {
		if p.NoDelete {
			out = append(out, p.Name)
		}
	}
	slices.Sort(out)
	return out
}

func (r *careRig) expectFlagged(t *testing.T, reason string, want ...string) {
	t.Helper()
	if got := r.flagged(); !slices.Equal(got, want) {
		t.Errorf("%s: pools with the flag: %q, want %q", reason, got, want)
	}
}

// expect wants a condition; an empty status wants none. texts must be in its message.
func (r *careRig) expect(t *testing.T, conditionType string, status operatorv1.ConditionStatus, reason string, texts ...string) {
	t.Helper()
	got := r.operator.Condition(conditionType)
	if got == nil {
		if status != "" {
			t.Errorf("no condition %s, want %s", conditionType, reason)
		}
		return
	}
	if got.Status != status || got.Reason != reason {
		t.Errorf("got %+v, want %s, %s", got, status, reason)
	}
	for _, text := range texts {
		if !strings.Contains(got.Message, text) {
			t.Errorf("%s: message %q does not contain %q", conditionType, got.Message, text)
		}
	}
}

func (r *careRig) expectProblems(t *testing.T, reason string, want ...string) {
	t.Helper()
	got, _ := r.controller.Problems.Get()
	if len(got) != len(want) {
		t.Errorf("%s: got problems %q, want %q", reason, got, want)
		return
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("%s: got problem %q, want %q", reason, got[i], want[i])
		}
	}
}

func (r *careRig) expectReport(t *testing.T, want Report) {
	t.Helper()
	got, _ := r.controller.Report.Get()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got)\n%s", diff)
	}
}

func class(d driver.Driver, name string, pairs ...string) *storagev1.StorageClass {
	parameters := map[string]string{"clusterID": cephtest.FSID}
	for i := 0; i < len(pairs); i += 2 {
		parameters[pairs[i]] = pairs[i+1]
	}
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: d.Name, Parameters: parameters}
}

func classes(all ...*storagev1.StorageClass) []*storagev1.StorageClass { return all }

// provisioned is a volume as ceph-csi makes it.
func provisioned(d driver.Driver, location int64, pairs ...string) *corev1.PersistentVolume {
	pv := volume(d, "pv", class(d, "", pairs...).Parameters)
	pv.Spec.CSI.VolumeHandle = fmt.Sprintf("0001-0024-%s-%016x-6e696bba-064f-11ec-a251-0242ac110002", cephtest.FSID, location)
	return pv
}
