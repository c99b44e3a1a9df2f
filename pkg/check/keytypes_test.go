package check

import (
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// nodePods deploys drivers with an image of ceph-csi.
func (r *rig) nodePods(image string, drivers ...driver.Driver) {
	for _, d := range drivers {
		daemonSet := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: d.NodeName()}}
		daemonSet.Spec.Template.Spec.Containers = []corev1.Container{{Name: "csi-liveness-probe", Image: "probe:v3.1.0"}, {Name: driver.Container, Image: image}}
		r.objects = append(r.objects, daemonSet)
	}
}

// TestKeyTypes: what a cluster allows, and what that asks of nodes and drivers.
func TestKeyTypes(t *testing.T) {
	node := func(name, kernel string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KernelVersion: kernel}}}
	}
	tests := map[string]struct {
		reason string
		change func(*rig)
		want   expect
	}{
		"Old": {
			reason: "Ceph before 20.2.4 or 19.2.6", change: func(*rig) {},
			want: expect{state: OK, message: []string{"aes, the only type"}},
		},
		"Upgraded": {
			reason: "the older type goes on", change: func(r *rig) { r.ceph.SetKeyTypes(ceph.AES, ceph.AES, ceph.AES256) },
			want: expect{state: OK, message: []string{"aes, which all nodes and drivers know"}},
		},
		"New": {
			reason: "nobody knows the nodes",
			change: func(r *rig) { r.strong() },
			want:   expect{state: Note, message: []string{"aes256k", "Linux 7", "ceph-csi 3.16.3"}, fix: "ceph mon set auth_allowed_ciphers aes,aes256k"},
		},
		"OldNodes": {
			reason: "a backport cannot be seen",
			change: func(r *rig) {
				r.strong()
				r.objects = append(r.objects, node("a", "5.14.0-427.el9.x86_64"), node("b", "7.0.1"))
				r.withCluster()
			},
			want: expect{state: Note, message: []string{"older is the kernel of a (5.14.0-427.el9.x86_64)"}, fix: "mon_auth_allow_insecure_key"},
		},
		"NewNodes": {
			reason: "nobody knows which driver it will be",
			change: func(r *rig) {
				r.strong()
				r.objects = append(r.objects, node("b", "7.0.1"))
				r.nodePods("cephcsi:v3.18.0", driver.RBD)
				r.withCluster()
			},
			want: expect{state: Note, message: []string{"ceph-csi 3.16.3 or 3.17.1 or newer; not deployed yet is cephfs.csi.ceph.com"}, fix: "mon_auth_allow_insecure_key"},
		},
		"AllNew": {
			reason: "nothing is to be done; an image that does not tell its release is the operator's own",
			change: func(r *rig) {
				r.strong()
				r.objects = append(r.objects, node("b", "7.0.1"))
				r.nodePods("cephcsi:v3.16.3", driver.RBD)
				r.nodePods("quay.io/openshift/ceph-csi-driver@sha256:310af", driver.CephFS)
				r.withCluster()
			},
			want: expect{state: OK, message: []string{"all nodes' and drivers' are"}},
		},
		"OldDrivers": {
			reason: "the operator makes no users for them, whatever the nodes know",
			change: func(r *rig) {
				r.strong()
				r.objects = append(r.objects, node("b", "7.0.1"))
				r.nodePods("cephcsi:v3.16.2", driver.All...)
				r.withCluster()
			},
			want: expect{
				state:   Wrong,
				message: []string{"ceph-csi 3.16.3 or 3.17.1 or newer; older is cephcsi:v3.16.2 of rbd.csi.ceph.com, cephcsi:v3.16.2 of cephfs.csi.ceph.com: deploy a newer one"},
				fix:     "CEPH_CSI_IMAGE=quay.io/cephcsi/cephcsi:v3.18.0  # and apply them; or, for keys of type aes:; ceph mon set auth_allowed_ciphers aes,aes256k",
			},
		},
		"OldNodesAndDrivers": {
			reason: "who mends one should know of the other",
			change: func(r *rig) {
				r.strong()
				r.objects = append(r.objects, node("a", "6.12.0"))
				r.nodePods("cephcsi:v3.15.0", driver.CephFS)
				r.withCluster()
			},
			want: expect{state: Wrong, message: []string{"older is the kernel of a (6.12.0); older is cephcsi:v3.15.0 of cephfs.csi.ceph.com: "}, fix: "clustercsidriver cephfs.csi.ceph.com  # set ceph.keyType to aes"},
		},
		"OldDriversOldKeys": {
			reason: "every driver knows these",
			change: func(r *rig) {
				r.ceph.SetKeyTypes(ceph.AES, ceph.AES, ceph.AES256)
				r.nodePods("cephcsi:v3.15.0", driver.All...)
				r.withCluster()
			},
			want: expect{state: OK, message: []string{"aes, which all nodes and drivers know"}},
		},
		"OneAsks": {
			reason: "the other driver's keys are of the older type, and so could its own be",
			change: func(r *rig) {
				r.ceph.SetKeyTypes(ceph.AES, ceph.AES, ceph.AES256)
				r.tune("rbd.csi.ceph.com", map[string]any{"keyType": "aes256k"})
				r.nodePods("cephcsi:v3.15.0", driver.All...)
				r.withCluster()
			},
			want: expect{state: Wrong, message: []string{"older is cephcsi:v3.15.0 of rbd.csi.ceph.com: "}, fix: "for keys of type aes:; oc edit clustercsidriver rbd.csi.ceph.com"},
		},
		"PassedOn": {
			reason: "no users are made, so that the setting is of no effect",
			change: func(r *rig) {
				r.ceph.SetKeyTypes(ceph.AES, ceph.AES, ceph.AES256)
				for _, d := range driver.All {
					r.tune(d.Name, map[string]any{"keyType": "aes256k", "credentials": "Passthrough"})
				}
				r.nodePods("cephcsi:v3.15.0", driver.All...)
				r.withCluster()
			},
			want: expect{state: OK, message: []string{"aes, which all nodes and drivers know"}},
		},
		"Hidden": {
			reason: "who may not read DaemonSets knows neither image nor that there is none",
			change: func(r *rig) {
				r.strong()
				r.objects = append(r.objects, node("b", "7.0.1"))
				r.withCluster()
				r.config.Cluster.Kube.(*fake.Clientset).PrependReactor("get", "daemonsets", func(clienttesting.Action) (bool, runtime.Object, error) {
					return true, nil, errors.New("forbidden")
				})
			},
			want: expect{state: Note, message: []string{"3.17.1 or newer"}, fix: "ceph mon set auth_allowed_ciphers aes,aes256k"},
		},
		"Setting": {
			reason: "the operator would stand still",
			change: func(r *rig) {
				r.tune("rbd.csi.ceph.com", map[string]any{"keyType": "aes256k"})
				r.withCluster()
			},
			want: expect{state: Wrong, message: []string{"ceph.keyType of rbd.csi.ceph.com is aes256k"}, fix: "oc edit clustercsidriver rbd.csi.ceph.com"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			tc.change(r)
			tc.want.group, tc.want.name = "Ceph", "key types"
			verify(t, r.run(), []expect{tc.want})
		})
	}
}

// strong makes it a cluster that was made with Ceph 20.2.4.
func (r *rig) strong() {
	r.ceph.SetKeyTypes(ceph.AES256, ceph.AES256)
	r.ceph.AddUser("admin")
	r.config.Keyring.Content = r.ceph.Keyring("admin")
}

// TestKeyTypeRefused: keys of the older type at a cluster that was made with Ceph 20.2.4.
func TestKeyTypeRefused(t *testing.T) {
	r := newRig(t)
	r.ceph.SetKeyTypes(ceph.AES256, ceph.AES256)
	verify(t, r.run(), []expect{
		{group: "Ceph", name: "connection", state: Wrong, message: []string{"its key is of type aes, which a Ceph that was made with 20.2.4 or 19.2.6, or later, does not allow"}, fix: "ceph auth rotate client.admin --key_type aes256k"},
	})
}
