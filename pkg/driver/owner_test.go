package driver

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestOwner(t *testing.T) {
	tests := map[string]struct {
		reason string
		meta   metav1.ObjectMeta
		want   string
	}{
		"Helm": {
			reason: "Helm says which release",
			meta: metav1.ObjectMeta{
				Annotations: map[string]string{"meta.helm.sh/release-name": "csi", "meta.helm.sh/release-namespace": "ceph"},
				Labels:      map[string]string{"app.kubernetes.io/managed-by": "Helm"},
			},
			want: "Helm release ceph/csi",
		},
		"CephCSIOperator": {
			reason: "its annotation names the Driver",
			meta:   metav1.ObjectMeta{Annotations: map[string]string{"csi.ceph.io/ownerref": `{"Namespace":"ns","Name":"rbd.csi.ceph.com"}`}},
			want:   "ceph-csi-operator's Driver ns/rbd.csi.ceph.com",
		},
		"CephCSIOperatorUnreadable": {
			reason: "still tells who",
			meta:   metav1.ObjectMeta{Annotations: map[string]string{"csi.ceph.io/ownerref": "?"}},
			want:   "ceph-csi-operator",
		},
		"OwnerReference": {
			reason: "Kubernetes' own way",
			meta:   metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: "CephCluster", Name: "rook"}}},
			want:   "CephCluster rook",
		},
		"OtherOperator": {
			reason: "our label with another value",
			meta:   metav1.ObjectMeta{Labels: map[string]string{ManagedByLabel: "other"}},
			want:   "other",
		},
		"Label": {
			reason: "the recommended label",
			meta:   metav1.ObjectMeta{Labels: map[string]string{"app.kubernetes.io/managed-by": "rook"}},
			want:   "rook",
		},
		"Apply": {
			reason: "somebody's hand",
			meta:   metav1.ObjectMeta{Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}"}},
			want:   "kubectl apply",
		},
		"Manager": {
			reason: "the client that created it",
			meta:   metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "rook"}}},
			want:   "client rook",
		},
		"Nothing": {reason: "no hint", want: "an unknown owner"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Owner(&tc.meta); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestOwns(t *testing.T) {
	mark := func(value string) *metav1.ObjectMeta {
		return &metav1.ObjectMeta{Labels: map[string]string{ManagedByLabel: value}}
	}
	if !RBD.Owns(mark(RBD.OperatorName())) {
		t.Error("the operator's own mark must be recognized")
	}
	if RBD.Owns(mark(CephFS.OperatorName())) || RBD.Owns(&metav1.ObjectMeta{}) {
		t.Error("another mark or none is somebody else's")
	}
}
