package credentials

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	configfake "github.com/openshift/client-go/config/clientset/versioned/fake"
	configinformers "github.com/openshift/client-go/config/informers/externalversions"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

var errBoom = errors.New("boom")

// operatorUser is the user of the operator's connection.
const operatorUser = "op"

// fixture is a controller beside a Ceph cluster in memory, in which the operator's user may do
// everything and the default place is known.
type fixture struct {
	t          *testing.T
	ceph       *cephtest.Cluster
	kube       *fake.Clientset
	secrets    cache.Indexer
	classes    cache.Indexer
	infra      cache.Indexer
	operator   *conditiontest.Operator
	recorder   events.InMemoryRecorder
	clock      *clocktesting.FakeClock
	config     Config
	controller *Controller

	session Ceph
	proof   *proven
	// kernels are told to who asks, which is counted.
	kernels  map[string]string
	asked    int
	settings driver.Settings
	open     bool
	memory   *memory
}

// proven proves at once that nothing else is in use than what is known, unless it is told otherwise.
type proven struct {
	ctrl.Latest[time.Time]
	// looks saw more in use, fail is why there is no proof, waits that something waits.
	looks []usage.Usage
	fail  error
	waits bool
}

func (p *proven) Wait(_ string, waits bool) { p.waits = waits }

func (p *proven) Since(time.Time) ([]usage.Usage, error) { return p.looks, p.fail }

// memory is a Memory without a cluster.
type memory struct {
	users state.CephUsers
	known bool
	fail  error
}

func (m *memory) Load() (state.CephUsers, bool, error) { return m.users, m.known, m.fail }

func (m *memory) Save(_ context.Context, users state.CephUsers) error {
	if m.fail == nil {
		m.users, m.known = users, true
	}
	return m.fail
}

func newFixture(t *testing.T, d driver.Driver) *fixture {
	f := &fixture{
		t: t, ceph: cephtest.New(), kube: fake.NewClientset(), operator: conditiontest.New(operatorv1.Managed), open: true,
		clock: clocktesting.NewFakeClock(time.Unix(0, 0)), proof: &proven{}, memory: &memory{},
	}
	f.recorder = events.NewInMemoryRecorder("test", f.clock)
	f.ceph.AddUser(operatorUser)
	f.ceph.AddPool(ceph.Pool{Name: "infra-rbd", Applications: []string{"rbd"}})
	f.ceph.AddFileSystem("fs", true)
	f.claim("infra-rbd", "fs-metadata", "fs-data")
	kube := informers.NewSharedInformerFactory(f.kube, 0)
	config := configinformers.NewSharedInformerFactory(configfake.NewSimpleClientset(), 0)
	f.config = Config{Env: ctrl.Env{
		Driver: d, Operator: f.operator, Kube: f.kube, Secrets: kube.Core().V1().Secrets(),
		Settings: func() (driver.Settings, error) { return f.settings, nil }, Infrastructures: config.Config().V1().Infrastructures(),
		StorageClasses: kube.Storage().V1().StorageClasses(), Clock: f.clock, Recorder: f.recorder,
	},
		Cluster: &ctrl.Latest[ceph.Cluster]{}, Placement: &ctrl.Latest[ceph.Placement]{}, Minted: &ctrl.Latest[bool]{},
		Usage: &ctrl.Latest[usage.Usage]{}, Proof: f.proof,
		Live: func(fsid string) (Ceph, bool) { return f.session, f.session != nil && fsid == f.ceph.MonMap().FSID },
		Dial: func(ctx context.Context, source ceph.Source) (Session, error) {
			client, err := f.ceph.Dial(ctx, source)
			if err != nil {
				return nil, err
			}
			return client, nil
		},
		Memory: f.memory, Image: "cephcsi:v3.17.1",
		Kernels: func() (map[string]string, bool) { f.asked++; return f.kernels, f.kernels != nil },

		Open: func() bool { return f.open },
	}
	f.secrets = f.config.Secrets.Informer().GetIndexer()
	f.classes = f.config.StorageClasses.Informer().GetIndexer()
	f.infra = f.config.Infrastructures.Informer().GetIndexer()
	f.infraID("infra")
	f.connect()
	f.config.Usage.Set(usage.Usage{})
	f.config.Placement.Set(f.place())
	f.restart()
	return f
}

// claim writes what keeps pools in use, which another controller does.
func (f *fixture) claim(pools ...string) {
	for _, p := range f.ceph.Pools() {
		if slices.Contains(pools, p.Name) {
			f.ceph.SetPoolMetadata(p.Name, p.Applications[0], driver.ClaimKey("infra", p.Applications[0]), driver.ClaimInUse)
		}
	}
}

func (f *fixture) restart() { f.controller = New(f.config) }

func (f *fixture) infraID(id string) {
	f.must(f.infra.Update(&configv1.Infrastructure{
		ObjectMeta: metav1.ObjectMeta{Name: "cluster"}, Status: configv1.InfrastructureStatus{InfrastructureName: id},
	}))
}

// connect gives the operator a new session, with the rights that its user has now.
func (f *fixture) connect() {
	f.t.Helper()
	source := f.ceph.Source()
	source.Credentials = f.ceph.Credentials(operatorUser)
	session, err := f.ceph.Dial(f.t.Context(), source)
	f.must(err)
	f.session = session
	f.config.Cluster.Set(ceph.Cluster{FSID: f.ceph.MonMap().FSID, MonMap: f.ceph.MonMap(), Credentials: source.Credentials})
}

// place is the default one.
func (f *fixture) place() ceph.Placement {
	if f.config.Driver.NeedsFilesystem {
		return ceph.Placement{FSID: cephtest.FSID, Filesystem: "fs", SubvolumeGroup: "infra", JournalNamespace: "infra"}
	}
	return ceph.Placement{FSID: cephtest.FSID, Pool: "infra-rbd"}
}

func (f *fixture) class(name, pool string) *storagev1.StorageClass {
	class := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: f.config.Driver.Name,
		Parameters: map[string]string{"clusterID": cephtest.FSID, "pool": pool},
	}
	f.must(f.classes.Update(class))
	return class
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// sync runs the controller once, brings the informer up to date, and returns the users in the
// Secrets by their names.
func (f *fixture) sync() map[string]string {
	f.t.Helper()
	f.must(f.controller.Sync(f.t.Context(), factory.NewSyncContext("test", f.recorder)))
	list, err := f.kube.CoreV1().Secrets(driver.Namespace).List(f.t.Context(), metav1.ListOptions{})
	f.must(err)
	got := map[string]string{}
	for _, s := range list.Items {
		f.must(f.secrets.Update(s.DeepCopy()))
		got[s.Name] = string(s.Data["userID"])
		if user, found := f.ceph.User(got[s.Name]); found && user.Key.Reveal() != string(s.Data["userKey"]) {
			got[s.Name] += " with a key that Ceph does not know"
		}
	}
	f.scan()
	return got
}

// later lets so much time pass that Ceph is asked again.
func (f *fixture) later() map[string]string {
	f.t.Helper()
	f.clock.SetTime(f.clock.Now().Add(interval))
	return f.sync()
}

// scan fails the test when a key of any user is in a condition, an event or the report.
func (f *fixture) scan() {
	f.t.Helper()
	_, status, _, _ := f.operator.GetOperatorState()
	told, _ := f.controller.Report.Get()
	seen, err := json.Marshal([]any{status, f.recorder.Events(), told, fmt.Sprintf("%+v", f.config.Cluster)})
	f.must(err)
	for _, id := range []string{"admin", operatorUser, f.config.Driver.ProvisionerUser("infra"), f.config.Driver.NodeUser("infra")} {
		if key := f.ceph.Credentials(id).Key.Reveal(); key != "" && strings.Contains(string(seen), key) {
			f.t.Errorf("the key of %s is in %s", id, seen)
		}
	}
}

func (f *fixture) expect(conditionType string, status operatorv1.ConditionStatus, reason string, text ...string) {
	f.t.Helper()
	got := f.operator.Condition(conditionType)
	if got == nil || got.Status != status || got.Reason != reason {
		f.t.Fatalf("got condition %+v, want %s=%s, reason %s", got, conditionType, status, reason)
	}
	for _, part := range text {
		if !strings.Contains(got.Message, part) {
			f.t.Errorf("message %q does not contain %q", got.Message, part)
		}
	}
}

// both are the Secrets with these users.
func (f *fixture) both(provisioner, node string) map[string]string {
	return map[string]string{f.config.Driver.ProvisionerSecret(): provisioner, f.config.Driver.NodeSecret(): node}
}

func (f *fixture) minted() map[string]string {
	return f.both(f.config.Driver.ProvisionerUser("infra"), f.config.Driver.NodeUser("infra"))
}

// osdCaps are those of the provisioner's user.
func (f *fixture) osdCaps() string {
	user, _ := f.ceph.User(f.config.Driver.ProvisionerUser("infra"))
	return user.Caps.OSD
}
