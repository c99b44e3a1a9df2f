package connection

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
)

const rookNamespace = "rook-ceph"

// rookKeeps writes the two objects as Rook does.
func (f *fixture) rookKeeps(c *cephtest.Cluster) {
	f.t.Helper()
	ctx := context.Background()
	key := c.Credentials("admin").Key.Reveal()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: ceph.RookSecret}, Data: map[string][]byte{
		"fsid": []byte(c.MonMap().FSID), "ceph-username": []byte("client.admin"), "ceph-secret": []byte(key), "mon-secret": []byte("mon-secret"),
	}}
	var mons []string
	for _, mon := range c.MonMap().Mons {
		mons = append(mons, mon.Name+"="+mon.Addrs[0].HostPort())
	}
	endpoints := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: ceph.RookConfigMap}, Data: map[string]string{"data": strings.Join(mons, ",")}}
	secrets, configMaps := f.kube.CoreV1().Secrets(rookNamespace), f.kube.CoreV1().ConfigMaps(rookNamespace)
	_ = secrets.Delete(ctx, secret.Name, metav1.DeleteOptions{})
	_ = configMaps.Delete(ctx, endpoints.Name, metav1.DeleteOptions{})
	if _, err := secrets.Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		f.t.Fatal(err)
	}
	if _, err := configMaps.Create(ctx, endpoints, metav1.CreateOptions{}); err != nil {
		f.t.Fatal(err)
	}
}

func TestRook(t *testing.T) {
	f := newFixture(t)
	f.rook = rookNamespace
	f.pass(pollInterval)
	f.wantCondition("Rook is not there", "True/CredentialsMissing", "Secret rook-ceph/rook-ceph-mon does not exist",
		"spec.driverConfig.ceph.rookNamespace of ClusterCSIDriver rbd.csi.ceph.com is rook-ceph")
	f.rookKeeps(f.ceph)
	f.pass(redialInterval)
	f.wantCondition("Rook is ready", "False/AsExpected")
	f.wantClusters("Rook is ready", cephtest.FSID, cephtest.FSID)

	f.kube.ClearActions()
	f.pass(10 * time.Minute)
	reads := 0
	for _, a := range f.kube.Actions() {
		if a.GetNamespace() == rookNamespace {
			reads++
		}
	}
	if reads > 2*11 {
		t.Errorf("%d reads in ten idle minutes", reads)
	}

	f.ceph.AddUser("admin") // another key
	f.rookKeeps(f.ceph)
	f.pass(rookInterval)
	published, _ := f.conn.Cluster.Get()
	if f.wantCondition("a new key", "False/AsExpected"); published.Credentials.Key.Reveal() != f.ceph.Credentials("admin").Key.Reveal() {
		t.Error("the old key is published")
	}
	if err := f.kube.CoreV1().ConfigMaps(rookNamespace).Delete(context.Background(), ceph.RookConfigMap, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	f.pass(rookInterval)
	f.wantCondition("half of Rook is gone", "True/CredentialsMissing", "ConfigMap rook-ceph/rook-ceph-mon-endpoints does not exist")
	f.ceph.AddMon("b")
	f.pass(pollInterval)
	if published, _ := f.conn.Cluster.Get(); len(published.MonMap.Mons) != 2 {
		t.Error("what is connected is not followed any more")
	}
	f.rook = ""
	f.pass(pollInterval)
	f.wantCondition("the setting is withdrawn, nothing was deployed", "False/AsExpected")
}

func TestRookFails(t *testing.T) {
	denied := apierrors.NewForbidden(corev1.Resource("secrets"), ceph.RookSecret, errors.New("no rule"))
	broken := apierrors.NewInternalError(errors.New("boom"))
	tests := map[string]struct {
		reason string
		err    error
		want   string
		text   string
	}{
		"Forbidden": {"the message is the command that helps", denied, "True/Forbidden",
			"Allow it: oc create rolebinding ceph-rbd-csi-driver-operator-rook -n rook-ceph --clusterrole=ceph-rbd-csi-driver-operator-rook --serviceaccount=openshift-cluster-csi-drivers:ceph-rbd-csi-driver-operator"},
		"Broken": {"a person may have to look", broken, "True/SyncError", "reading Secret rook-ceph/rook-ceph-mon"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.rookKeeps(f.ceph)
			fail := true
			f.kube.PrependReactor("get", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) { return fail, nil, tc.err })
			f.rook = rookNamespace
			f.pass(pollInterval)
			f.wantCondition(tc.reason, tc.want, tc.text)
			fail = false
			f.pass(redialInterval)
			f.wantCondition("it passes", "False/AsExpected")
		})
	}
}

// With a namespace that tells of the Ceph cluster in use, a Secret may add another one.
func TestRookBesideSecret(t *testing.T) {
	f := newFixture(t)
	f.rookKeeps(f.ceph)
	f.rook = rookNamespace
	f.pass(pollInterval)
	f.secret(declaration(f.another(otherFSID)))
	f.pass(pollInterval)
	f.wantClusters("both", cephtest.FSID, cephtest.FSID, otherFSID)
	f.wantCondition("both", "False/AsExpected")
	f.settingsErr = errors.New("invalid")
	f.pass(pollInterval)
	f.wantClusters("the last good settings count", cephtest.FSID, cephtest.FSID, otherFSID)
}

func TestRookWrong(t *testing.T) {
	f := newFixture(t)
	f.rookKeeps(f.ceph)
	secrets := f.kube.CoreV1().Secrets(rookNamespace)
	secret, err := secrets.Get(context.Background(), ceph.RookSecret, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	secret.Data["ceph-secret"] = []byte(f.ceph.Credentials("admin").Key.Reveal()[:20])
	if _, err := secrets.Update(context.Background(), secret, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.rook = rookNamespace
	f.pass(pollInterval)
	f.wantCondition("a damaged key", "True/CredentialsInvalid", `Rook's objects in namespace rook-ceph: key "ceph-secret" of Secret rook-ceph-mon is wrong`)
}
