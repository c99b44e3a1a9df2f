package uninstall

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
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
	unreachable := errors.New("unreachable")
	tests := map[string]struct {
		reason string
		// named: a ClusterCSIDriver names the namespace; flag: an option does.
		named, flag bool
		// gone: Rook was removed before.
		gone     bool
		released int
		says     string
		err      error
	}{
		"Named":       {reason: "the ClusterCSIDriver is removed before its pools are released", named: true, released: 1, says: "Released the pools of the Ceph cluster of Rook in namespace rook-ceph."},
		"Both":        {reason: "once is enough", named: true, flag: true, released: 1},
		"SecondRun":   {reason: "no ClusterCSIDriver is left that names it", flag: true, released: 1},
		"RookHasGone": {reason: "with its Ceph cluster, most likely", named: true, gone: true, says: "Rook declares no Ceph cluster in namespace rook-ceph any more"},
		"NotUsed":     {reason: "the Rook of somebody else"},
		"Unreachable": {reason: "the second run needs the flag", named: true, released: 1, err: unreachable},
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
			if tc.flag {
				o.RookNamespaces = []string{rook}
			}
			released := 0
			o.Release = func(_ context.Context, data map[string][]byte, _ string) error {
				released++
				if string(data[ceph.EntryMonitors]) != "10.0.0.1:6789" {
					t.Errorf("released with %d entries", len(data))
				}
				return tc.err
			}
			err := Run(t.Context(), o)
			if !errors.Is(err, tc.err) || released != tc.released || !strings.Contains(out.String(), tc.says) {
				t.Errorf("%s: %d released, error %v\n%s", tc.reason, released, err, out)
			}
			if tc.err != nil && !strings.Contains(err.Error(), "run the command again with --rook-namespace=rook-ceph") {
				t.Errorf("the error does not say how to find Rook's Ceph cluster again: %v", err)
			}
		})
	}
}
