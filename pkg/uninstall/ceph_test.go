package uninstall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	dynamicfake "k8s.io/client-go/dynamic/fake"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/monitors"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// infra is the infra ID of the cluster, former a Ceph cluster that it used before.
const (
	infra  = "demo-1"
	former = "c0ffee00-0000-4000-8000-00000000000f"
)

// scene is a cluster that keeps the pool "kept" of a Ceph cluster from removal.
type scene struct {
	t       *testing.T
	o       Options
	dynamic *dynamicfake.FakeDynamicClient
	ceph    *cephtest.Cluster
	clock   *hasty
	// bare: nothing of the operator is there.
	bare bool
	// silent is a pool whose OSDs do not answer.
	silent string
}

func newScene(t *testing.T) (*scene, fmt.Stringer) {
	t.Helper()
	o, client, out := cluster(t)
	s := &scene{t: t, o: o, dynamic: client, ceph: cephtest.New()}
	s.ceph.AddPool(ceph.Pool{Name: "kept", Applications: []string{"rbd"}, NoDelete: true, Metadata: map[string]map[string]string{"rbd": {
		"storage.openshift.io.nodelete": "set-by-an-operator", "storage.openshift.io.nodelete." + infra + ".rbd": "in-use",
	}}})
	s.operated()
	s.o.Dial = func(ctx context.Context, source ceph.Source) (Ceph, error) {
		conn, err := s.ceph.Dial(ctx, source)
		if err != nil {
			return nil, err
		}
		return watched{conn, s}, nil
	}
	s.o.Resolve = ceph.Nameless
	s.clock = newHasty()
	s.o.Clock = s.clock
	if _, err := client.Resource(resources["Secret"]).Namespace(driver.Namespace).Create(t.Context(),
		existing("Secret", driver.Namespace, driver.RBD.ConfigSecret(), nil), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return s, out
}

// operated leaves what an operator has watched.
func (s *scene) operated() { s.operates(infra).End() }

// operates has an operator run.
func (s *scene) operates(infraID string) ceph.Watch {
	client, err := s.ceph.Dial(s.t.Context(), s.ceph.Source())
	s.do(err)
	said, err := ceph.Presence{Driver: driver.RBD.Name, Host: "copy-1", Address: "10.0.0.1"}.Encode()
	s.do(err)
	watch, err := client.Watch(s.t.Context(), "kept", ceph.PresenceObject(infraID, driver.RBD.Kind), said, true)
	s.do(err)
	return watch
}

// watched says when pools are released.
type watched struct {
	*cephtest.Client
	scene *scene
}

func (w watched) SetNoDelete(ctx context.Context, pool string, on bool) error {
	if w.scene.left("Deployment", driver.RBD.OperatorName()) {
		w.scene.t.Error("released while an operator runs, which protects them again")
	}
	if !w.scene.bare && !w.scene.left("Secret", driver.RBD.ConfigSecret()) {
		w.scene.t.Error("what leads to Ceph was removed before")
	}
	return w.Client.SetNoDelete(ctx, pool, on)
}

func (w watched) RemoveWatched(ctx context.Context, pool, object string) error {
	if pool == w.scene.silent {
		return fmt.Errorf("pool %q: %w", pool, ceph.ErrTimeout)
	}
	return w.Client.RemoveWatched(ctx, pool, object)
}

// inactive has a pool that is out of order.
func (s *scene) inactive(pool string) {
	s.infrastructure()
	s.declared()
	s.state()
	s.silent = pool
	if pool != "kept" {
		s.ceph.AddPool(ceph.Pool{Name: pool, Applications: []string{"rbd"}})
	}
}

func (s *scene) left(kind, name string) bool {
	return left(s.t, s.dynamic, kind, driver.Namespace, name)
}

func (s *scene) do(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) infrastructure() { createInfrastructure(s.t, s.dynamic) }

func (s *scene) secret(keyring []byte) {
	_, err := s.o.Kube.CoreV1().Secrets(driver.Namespace).Create(s.t.Context(),
		secretOf(map[string][]byte{ceph.EntryConf: s.ceph.Conf(), ceph.EntryKeyring: keyring}), metav1.CreateOptions{})
	s.do(err)
}

// declared is the Secret as it should be.
func (s *scene) declared() { s.secret(s.ceph.Keyring("admin")) }

func (s *scene) byHand() {
	s.o.Declared = map[string][]byte{ceph.EntryConf: s.ceph.Conf(), ceph.EntryKeyring: s.ceph.Keyring("admin")}
}

// state is what the operator remembers at this moment.
func (s *scene) state(others ...state.Other) {
	m := s.ceph.MonMap()
	record := state.Cluster{FSID: m.FSID, Epoch: m.Epoch, Monitors: m.Monitors(), Others: others}
	for _, a := range m.MonHost() {
		record.MonHost = append(record.MonHost, a.String())
	}
	text, err := json.Marshal(record)
	s.do(err)
	_, err = s.o.Kube.CoreV1().ConfigMaps(driver.Namespace).Create(s.t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.RBD.StateConfigMap()}, Data: map[string]string{"version": "1", "cluster": string(text)},
	}, metav1.CreateOptions{})
	s.do(err)
}

// config is config.json as it is mounted at this moment.
func (s *scene) config() {
	m := s.ceph.MonMap()
	text, err := json.Marshal([]any{map[string]any{"clusterID": m.FSID, "monitors": m.Monitors()}})
	s.do(err)
	_, err = s.o.Kube.CoreV1().Secrets(driver.Namespace).Create(s.t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.RBD.ConfigSecret()}, Data: map[string][]byte{monitors.ConfigKey: text},
	}, metav1.CreateOptions{})
	s.do(err)
}

func (s *scene) class() {
	_, err := s.o.Kube.StorageV1().StorageClasses().Create(s.t.Context(), &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: driver.RBD.StorageClass, Labels: map[string]string{driver.ManagedByLabel: driver.RBD.OperatorName()}},
		Parameters: map[string]string{"clusterID": s.ceph.MonMap().FSID},
	}, metav1.CreateOptions{})
	s.do(err)
}

// replaceMons by others, at other addresses.
func (s *scene) replaceMons() {
	s.ceph.AddMon("z")
	s.ceph.RemoveMon("a")
}

// nothing is on the cluster.
func (s *scene) nothing() {
	s.bare = true
	for kind, resource := range resources {
		list := s.dynamic.Resource(resource)
		for _, name := range []string{driver.RBD.OperatorName(), driver.RBD.StorageClass, driver.RBD.ConfigSecret(), "99-worker-ceph-rbd-csi-modules",
			"ceph-rbd-csi-images-datasources", "external-attacher-leader-rbd-csi-ceph-com"} {
			for _, namespace := range []string{"", driver.Namespace} {
				if left(s.t, s.dynamic, kind, namespace, name) {
					s.do(list.Namespace(namespace).Delete(s.t.Context(), name, metav1.DeleteOptions{}))
				}
			}
		}
	}
	s.do(s.dynamic.Resource(setting().GroupVersionKind().GroupVersion().WithResource("settings")).Delete(s.t.Context(), setting().GetName(), metav1.DeleteOptions{}))
}

// TestRunAndCeph: what leads to Ceph goes after what is there.
func TestRunAndCeph(t *testing.T) {
	tests := map[string]struct {
		reason string
		given  func(*scene)
		err    error
		// released: the pool can be removed now. stopped: the operators are. removed: all is, here.
		released, stopped, removed bool
		says                       []string
	}{
		"Declared": {"the Secret leads there", func(s *scene) { s.infrastructure(); s.declared(); s.state() },
			nil, true, true, true, []string{"Will release pools of the Ceph cluster of Secret ceph-credentials, which this cluster keeps from removal: kept.\n", "Released the pools of the Ceph cluster of Secret ceph-credentials.\n"}},
		"MonsReplaced": {"only the state knows the living mons", func(s *scene) { s.infrastructure(); s.declared(); s.replaceMons(); s.state() },
			nil, true, true, true, []string{"Released the pools"}},
		"MonsReplacedSinceTheState": {"config.json knows them", func(s *scene) { s.infrastructure(); s.declared(); s.state(); s.replaceMons(); s.config() },
			nil, true, true, true, []string{"Released the pools"}},
		"Down": {"what leads there must not go before", func(s *scene) { s.infrastructure(); s.declared(); s.state(); s.ceph.Stop() },
			ErrRefused, false, false, false, []string{cephtest.FSID, "Secret ceph-credentials: ", "--leave-ceph"}},
		"SecretGone": {"somebody deleted it first", func(s *scene) { s.infrastructure(); s.state() },
			ErrRefused, false, false, false, []string{"nothing on this cluster says how", "--ceph-conf and --keyring"}},
		"NamespaceGone": {"the class is all that is left", func(s *scene) { s.class() },
			ErrRefused, false, false, false, []string{cephtest.FSID, "--ceph-conf and --keyring"}},
		"NamespaceGoneByHand": {"the flags lead there", func(s *scene) { s.class(); s.byHand(); s.o.InfraID = infra },
			nil, true, true, true, []string{"Released the pools of the Ceph cluster of --ceph-conf.\n"}},
		"NamespaceGoneNoName": {"nobody knows whose marks to take off", func(s *scene) { s.class(); s.byHand() },
			ErrRefused, false, false, false, []string{"--infra-id"}},
		"OtherName": {"marks of another cluster", func(s *scene) { s.infrastructure(); s.declared(); s.o.InfraID = "demo-2" },
			ErrRefused, false, false, false, []string{"this cluster is demo-1"}},
		"Nothing": {"nobody knows whether something is left", func(s *scene) { s.nothing() },
			ErrLeft, false, true, true, []string{"uninstall --ceph-conf=ceph.conf --keyring=keyring --infra-id=INFRA_ID"}},
		"NothingByHand": {"the flags lead there", func(s *scene) { s.nothing(); s.byHand(); s.o.InfraID = infra },
			nil, true, true, true, []string{"Nothing of the operator is on this cluster.\n", "Released the pools"}},
		"NeverWorked": {"a Secret that never led anywhere is no obstacle", func(s *scene) { s.infrastructure(); s.secret([]byte("[client.admin]\n\tkey = x\n")) },
			nil, false, true, true, []string{"Leaves out what leads to no Ceph cluster, and to none that was in use: Secret ceph-credentials: "}},
		"Denied": {"an administrator of Ceph can", func(s *scene) {
			s.infrastructure()
			s.declared()
			s.state()
			s.ceph.Deny("admin", "osd pool set", "osd pool application rm")
		}, ErrLeft, false, true, false, []string{"\n  ceph osd pool set kept nodelete false\n  ceph osd pool application rm kept rbd storage.openshift.io.nodelete\n", "ceph osd pool application rm kept rbd storage.openshift.io.nodelete." + infra + ".rbd\n", "run the command again"}},
		"Copy": {"a cluster restored beside this one has its infra ID", func(s *scene) { s.infrastructure(); s.declared(); s.state(); s.operates(infra) },
			ErrLeft, false, true, false, []string{"another cluster has the infra ID " + infra, "the operator of rbd.csi.ceph.com on host copy-1", "--leave-ceph"}},
		"Ending": {"an operator's process outlives its pod", func(s *scene) {
			s.infrastructure()
			s.declared()
			s.state()
			s.clock.follows = s.operates(infra).End
		}, nil, true, true, true, []string{"Released the pools"}},
		"Neighbour": {"a living cluster of another infra ID", func(s *scene) { s.infrastructure(); s.declared(); s.state(); s.operates("demo-2") },
			nil, true, true, true, []string{"Released the pools"}},
		"Inactive": {"somebody else's pool is out of order", func(s *scene) { s.inactive("theirs") },
			nil, true, true, true, []string{"Released the pools", `"theirs"`}},
		"InactiveClaimed": {"there the operator has shown itself", func(s *scene) { s.inactive("kept") },
			ErrLeft, false, true, false, []string{`"kept"`, "Run the command again"}},
		"Former": {"volumes of before may be there", func(s *scene) { s.infrastructure(); s.declared(); s.state(state.Other{FSID: former}) },
			ErrLeft, true, true, true, []string{former, "--infra-id=" + infra}},
		"Kept": {"an administrator's choice", func(s *scene) { s.infrastructure(); s.declared(); s.state(); s.o.Dial = nil },
			nil, false, true, true, []string{"Pools in Ceph that it keeps from removal stay so", "--infra-id=" + infra}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s, out := newScene(t)
			tc.given(s)
			err := Run(t.Context(), s.o)
			text := out.String() + fmt.Sprint(err)
			if !errors.Is(err, tc.err) {
				t.Fatalf("%s: error %v\n%s", tc.reason, err, out)
			}
			for _, says := range tc.says {
				if !strings.Contains(text, says) {
					t.Errorf("%s: it does not say %q:\n%s", tc.reason, says, text)
				}
			}
			kept := slices.ContainsFunc(s.ceph.Watched(), func(name string) bool { return strings.Contains(name, infra) }) ||
				slices.ContainsFunc(s.ceph.Pools(), func(p ceph.Pool) bool { return p.NoDelete || len(p.Metadata["rbd"]) > 0 })
			stopped, removed := !s.left("Deployment", driver.RBD.OperatorName()), !s.left("Secret", driver.RBD.ConfigSecret())
			if kept == tc.released || stopped != tc.stopped || removed != tc.removed {
				t.Errorf("%s: kept is %t, stopped %t, removed %t\n%s", tc.reason, kept, stopped, removed, text)
			}
			if said := strings.Contains(text, "Removed.\n"); said != (tc.err == nil && s.o.Dial != nil) {
				t.Errorf("%s: whether it says that all is removed is %t\n%s", tc.reason, said, text)
			}
		})
	}
}
