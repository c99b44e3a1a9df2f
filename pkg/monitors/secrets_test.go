package monitors

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Secrets of classes that were made for ceph-csi 1.0 hold the mons themselves.
func TestMonValueFromSecret(t *testing.T) {
	const key = "AQBq1XhmAAAAABAAVdfVzC5y7m0nkzVUR0mYgA=="
	tests := map[string]struct {
		reason     string
		content    string
		key        string
		parameters map[string]string
		want       string // what the key holds afterwards
		condition  string
		text       string
	}{
		"Follows":   {reason: "one mon is left of the list", content: "10.20.0.2:6789,10.9.9.9:6789", want: "10.20.0.2:6789,10.20.0.3:6789", condition: "True/AsExpected"},
		"Current":   {reason: "the order is theirs", content: "10.20.0.3:6789, 10.20.0.2:6789\n", want: "10.20.0.3:6789, 10.20.0.2:6789\n", condition: "True/AsExpected"},
		"AllGone":   {reason: "there is one Ceph cluster only", content: "10.9.9.9:6789", want: "10.20.0.2:6789,10.20.0.3:6789", condition: "True/AsExpected"},
		"ByID":      {reason: "the class says which", content: "10.9.9.9:6789", parameters: map[string]string{"clusterID": cephtest.FSID}, want: "10.20.0.2:6789,10.20.0.3:6789", condition: "True/AsExpected"},
		"OtherID":   {reason: "a Ceph cluster that nobody declared", content: "10.9.9.9:6789", parameters: map[string]string{"clusterID": "x"}, want: "10.9.9.9:6789", condition: "False/InvalidTarget", text: "is of Ceph cluster x, which is not connected"},
		"Key":       {reason: "a typo must not cost a key", content: key, want: key, condition: "False/InvalidTarget", text: "is no list of mon addresses"},
		"Names":     {reason: "names follow by themselves", content: "mon.example.com", want: "mon.example.com", condition: "False/InvalidTarget", text: "is no list of mon addresses"},
		"NoSuchKey": {reason: "a typo", content: "10.9.9.9:6789", key: "mons", want: "10.9.9.9:6789", condition: "False/InvalidTarget", text: `key "mons" of Secret ceph-csi/secret does not exist; it is left alone. Correct it, or monValueFromSecret of StorageClass old`},
		"PerVolume": {reason: "nobody knows which Secret", content: "10.9.9.9:6789", parameters: map[string]string{"csi.storage.k8s.io/provisioner-secret-name": "${pvc.name}"}, want: "10.9.9.9:6789", condition: "True/AsExpected"},
		"OwnNamespace": {reason: "a StorageClass must not have keys of Ceph overwritten", content: "10.9.9.9:6789", want: "10.9.9.9:6789",
			parameters: map[string]string{"csi.storage.k8s.io/provisioner-secret-namespace": driver.Namespace}, condition: "False/InvalidTarget",
			text: "of Secret openshift-cluster-csi-drivers/secret is in namespace openshift-cluster-csi-drivers"},
		"OldParameters": {reason: "of before Kubernetes 1.13", content: "10.9.9.9:6789", parameters: map[string]string{
			"csi.storage.k8s.io/provisioner-secret-name": "", "csiProvisionerSecretName": "secret", "csiProvisionerSecretNamespace": theirNamespace,
		}, want: "10.20.0.2:6789,10.20.0.3:6789", condition: "True/AsExpected"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			parameters := map[string]string{
				"monValueFromSecret":                              "monitors",
				"csi.storage.k8s.io/provisioner-secret-name":      "secret",
				"csi.storage.k8s.io/provisioner-secret-namespace": theirNamespace,
			}
			if tc.key != "" {
				parameters["monValueFromSecret"] = tc.key
			}
			for name, value := range tc.parameters {
				parameters[name] = value
			}
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: theirNamespace, Name: "secret"},
				Data: map[string][]byte{"monitors": []byte(tc.content), "userKey": []byte(key)}}
			foreign := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "another"}, Provisioner: "another", Parameters: map[string]string{
				"monValueFromSecret": "userKey", "csi.storage.k8s.io/provisioner-secret-name": "secret", "csi.storage.k8s.io/provisioner-secret-namespace": theirNamespace,
			}}
			own := secret.DeepCopy()
			own.Namespace = driver.Namespace
			o := newOutside(t, secret, own, foreign,
				&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "old"}, Provisioner: driver.RBD.Name, Parameters: parameters})
			o.settings.OutOfBand = nil
			o.ceph.AddMon("b")
			o.publish()
			o.sync()
			got, err := o.kube.CoreV1().Secrets(parameters["csi.storage.k8s.io/provisioner-secret-namespace"]).Get(context.Background(), "secret", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Data["monitors"]) != tc.want || string(got.Data["userKey"]) != key || len(got.Data) != 2 {
				t.Errorf("%s: monitors are %q, want %q", tc.reason, got.Data["monitors"], tc.want)
			}
			o.wantCondition(tc.reason, tc.condition, tc.text)
			for _, e := range o.recorder.Events() {
				if strings.Contains(e.Message, key) {
					t.Errorf("%s: a key in event %s", tc.reason, e.Message)
				}
			}
		})
	}
}

// Of two Ceph clusters, the one is meant whose mons stand there.
func TestSecretOfWhichCluster(t *testing.T) {
	a := ceph.Cluster{FSID: "a", MonMap: monmap(t, "v1:10.0.0.1:6789")}
	b := ceph.Cluster{FSID: "b", MonMap: monmap(t, "v1:10.0.1.1:6789", "v1:10.0.1.2:6789")}
	for content, want := range map[string]string{
		"10.0.1.2:6789": "10.0.1.1:6789,10.0.1.2:6789", "10.0.0.1:6789,10.0.0.7:6789": "10.0.0.1:6789", "10.9.9.9:6789": "",
		"10.0.0.1:6789,10.0.1.1:6789":                            "",
		"[v2:10.0.1.1:3300/0,v1:10.0.1.1:6789/0]\n10.0.1.9:6789": "10.0.1.1:6789,10.0.1.2:6789",
	} {
		got, err := target{}.mons([]byte(content), true, []ceph.Cluster{a, b}, true)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s became %q, want %q: %v", content, got, want, err)
		}
	}
	if mons := alike(b.MonMap, nil, true); !slices.Equal(mons, []string{"10.0.1.1:6789", "10.0.1.2:6789"}) {
		t.Errorf("%v", mons)
	}
}
