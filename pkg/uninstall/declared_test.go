package uninstall

import (
	"bytes"
	"context"
	"encoding/base64"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const rook = "rook-ceph"

func createRook(t *testing.T, o Options) {
	t.Helper()
	key := append([]byte{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0}, bytes.Repeat([]byte{7}, 16)...)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: rook, Name: ceph.RookSecret}, Data: map[string][]byte{
		"fsid": []byte("4d95e4d6-3a1f-4fcb-8b0a-0b6d1f0c2a11"), "ceph-username": []byte("client.admin"),
		"ceph-secret": []byte(base64.StdEncoding.EncodeToString(key)),
	}}
	endpoints := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: rook, Name: ceph.RookConfigMap}, Data: map[string]string{"data": "a=10.0.0.1:6789"}}
	if _, err := o.Kube.CoreV1().Secrets(rook).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Kube.CoreV1().ConfigMaps(rook).Create(t.Context(), endpoints, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestRunReleasesPoolsOfRook(t *testing.T) {
	tests := map[string]struct {
		reason string
		// named: a ClusterCSIDriver names the namespace; remembered: the settings that were valid last
		// do; flag: an option does.
		named, remembered, flag bool
		// gone: Rook was removed before.
		gone   bool
		dialed int
		says   string
	}{
		"Named":       {reason: "the ClusterCSIDriver does", named: true, dialed: 1},
		"Remembered":  {reason: "the stock CRD has pruned it", remembered: true, dialed: 1},
		"All":         {reason: "once is enough", named: true, remembered: true, flag: true, dialed: 1},
		"Flag":        {reason: "no ClusterCSIDriver is left that names it", flag: true, dialed: 1},
		"RookHasGone": {reason: "with its Ceph cluster, most likely", named: true, gone: true, says: "Rook declares no Ceph cluster in namespace rook-ceph any more"},
		"NotUsed":     {reason: "the Rook of somebody else"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o, client, out := cluster(t)
			createInfrastructure(t, client)
			if !tc.gone {
				createRook(t, o)
			}
			if tc.named {
				cr := existing("ClusterCSIDriver", "", driver.CephFS.Name, nil)
				if err := unstructured.SetNestedField(cr.Object, rook, "spec", "driverConfig", "ceph", "rookNamespace"); err != nil {
					t.Fatal(err)
				}
				if _, err := client.Resource(resources["ClusterCSIDriver"]).Create(t.Context(), cr, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if tc.remembered {
				last := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.CephFS.StateConfigMap()},
					Data: map[string]string{"settings": `{"ceph": {"rookNamespace": "rook-ceph"}}`}}
				if _, err := o.Kube.CoreV1().ConfigMaps(driver.Namespace).Create(t.Context(), last, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if tc.flag {
				o.RookNamespaces = []string{rook}
			}
			o.Resolve = ceph.Nameless
			dialed := 0
			o.Dial = func(_ context.Context, source ceph.Source) (Ceph, error) {
				dialed++
				if len(source.Monitors) != 1 || source.Monitors[0].HostPort() != "10.0.0.1:6789" {
					t.Errorf("dials %v", source.Monitors)
				}
				return nil, ceph.ErrUnreachable
			}
			err := Run(t.Context(), o)
			if err != nil || dialed != tc.dialed || !strings.Contains(out.String(), tc.says) {
				t.Errorf("%s: dialed %d times, error %v\n%s", tc.reason, dialed, err, out)
			}
		})
	}
}
