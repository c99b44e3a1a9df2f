package monitors

import (
	"context"
	"strings"
	"testing"

	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// refusesOldVersions has the API server in memory compare resourceVersions.
func (f *fixture) refusesOldVersions() {
	f.kube.PrependReactor("update", "secrets", func(action clienttesting.Action) (bool, runtime.Object, error) {
		wanted := action.(clienttesting.UpdateAction).GetObject().(*corev1.Secret)
		object, err := f.kube.Tracker().Get(corev1.SchemeGroupVersion.WithResource("secrets"), wanted.Namespace, wanted.Name)
		if is, ok := object.(*corev1.Secret); ok && wanted.ResourceVersion != "" && wanted.ResourceVersion != is.ResourceVersion {
			return true, nil, apierrors.NewConflict(corev1.Resource("secrets"), wanted.Name, errBoom)
		}
		return false, nil, err
	})
}

// TestEditsThatTheCacheLacks: what a person wrote a moment ago, or since the watch broke, may have
// entries that nobody else knows.
func TestEditsThatTheCacheLacks(t *testing.T) {
	tests := map[string]struct {
		reason string
		// seen says that the cache has the Secret from before the edit.
		seen    bool
		written string
	}{
		"Edited":  {"a person has added an entry", true, `[{"clusterID":"x","monitors":["1.1.1.1:1"]}]`},
		"Damaged": {"a person has saved half an edit", true, `[{"clusterID":"x"`},
		"Made":    {"a person has made it before the operator came to", false, `[{"clusterID":"x","monitors":["1.1.1.1:1"]}]`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f, c := newFixture(t), cephtest.New()
			f.refusesOldVersions()
			secrets := f.kube.CoreV1().Secrets(driver.Namespace)
			f.publish(c)
			live := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.CephFS.ConfigSecret(), ResourceVersion: "2"}}
			if tc.seen {
				before := f.sync().DeepCopy()
				before.ResourceVersion = "1"
				f.observe(before)
				live = before.DeepCopy()
				live.ResourceVersion = "2"
				if err := secrets.Delete(t.Context(), live.Name, metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			live.Data = map[string][]byte{ConfigKey: []byte(tc.written)}
			if _, err := secrets.Create(t.Context(), live, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			c.AddMon("b")
			f.publish(c)
			err := f.controller.Sync(context.Background(), factory.NewSyncContext("test", f.recorder))
			if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
				t.Errorf("%s: error %v", tc.reason, err)
			}
			after, err := secrets.Get(t.Context(), live.Name, metav1.GetOptions{})
			if err != nil || string(after.Data[ConfigKey]) != tc.written {
				t.Errorf("%s: %v, left\n%s", tc.reason, err, after.Data[ConfigKey])
			}
			for _, event := range f.recorder.Events() {
				if strings.HasSuffix(event.Reason, "Failed") {
					t.Errorf("%s, and nothing has failed: event %s", tc.reason, event.Reason)
				}
			}
		})
	}
}
