package state_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

const (
	clusterJSON   = `{"epoch":4,"former":null,"fsid":"f1","monHost":["v2:10.0.0.1:3300"],"monitors":["10.0.0.1:6789"]}`
	placementJSON = `{"dataPool":"","filesystem":"","fsid":"f1","journalNamespace":"","pool":"p1","subvolumeGroup":""}`
)

var (
	cluster   = state.Cluster{FSID: "f1", Epoch: 4, Monitors: []string{"10.0.0.1:6789"}, MonHost: []string{"v2:10.0.0.1:3300"}}
	placement = state.Placement{FSID: "f1", Pool: "p1"}
)

func TestLoad(t *testing.T) {
	tests := map[string]struct {
		reason    string
		data      map[string]string
		want      state.Cluster
		wantFound bool
		wantErr   []string
	}{
		"NoConfigMap": {reason: "a first start knows nothing, which is no error"},
		"NoKey":       {reason: "another feature may have written first", data: map[string]string{"version": "1"}},
		"Ours":        {reason: "what was written is read", data: map[string]string{"version": "1", "cluster": clusterJSON}, want: cluster, wantFound: true},
		"Newer": {
			reason: "a newer operator may have added keys and fields, and raised the version",
			data: map[string]string{"version": "2", "new": "x",
				"cluster": strings.Replace(clusterJSON, "{", `{"added":{"a":[1]},`, 1)},
			want: cluster, wantFound: true,
		},
		"Older": {
			reason: "an older operator may have written fewer fields",
			data:   map[string]string{"version": "1", "cluster": `{"fsid":"f1"}`},
			want:   state.Cluster{FSID: "f1"}, wantFound: true,
		},
		"Broken": {
			reason:  "a person has to find the place",
			data:    map[string]string{"version": "1", "cluster": "{"},
			wantErr: []string{"openshift-cluster-csi-drivers/ceph-rbd-csi-driver-state", `"cluster"`},
		},
		"WrongType": {
			reason:  "half a record is no record",
			data:    map[string]string{"version": "1", "cluster": `{"fsid":"f1","epoch":"four"}`},
			wantErr: []string{"openshift-cluster-csi-drivers/ceph-rbd-csi-driver-state", `"cluster"`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client, lister := objects(t, tc.data)
			_, behind := objects(t, map[string]string{"cluster": `{"fsid":"older"}`})
			for how, load := range map[string]func() (state.Cluster, bool, error){
				"cache": state.Clusters(nil, lister, driver.RBD).Load,
				"past it": func() (state.Cluster, bool, error) {
					return state.Clusters(client.CoreV1(), behind, driver.RBD).Read(t.Context())
				},
			} {
				got, found, err := load()
				if found != tc.wantFound {
					t.Errorf("%s, %s: found = %t, want %t", tc.reason, how, found, tc.wantFound)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s, %s: -want +got:\n%s", tc.reason, how, diff)
				}
				wantError(t, tc.reason, err, tc.wantErr)
			}
		})
	}
}

func TestSave(t *testing.T) {
	tests := map[string]struct {
		reason     string
		data       map[string]string
		want       map[string]string
		wantWrites int
		wantErr    []string
	}{
		"NoConfigMap": {
			reason:     "the first record makes the ConfigMap",
			want:       map[string]string{"version": "1", "cluster": clusterJSON},
			wantWrites: 1,
		},
		"Same": {
			reason: "nothing changed, nothing is written",
			data:   map[string]string{"version": "1", "cluster": clusterJSON},
			want:   map[string]string{"version": "1", "cluster": clusterJSON},
		},
		"Newer version, same record": {
			reason: "a newer format version is no reason to write",
			data:   map[string]string{"version": "2", "cluster": clusterJSON},
			want:   map[string]string{"version": "2", "cluster": clusterJSON},
		},
		"Older record": {
			reason:     "every field is replaced",
			data:       map[string]string{"version": "1", "cluster": `{"fsid":"f0","epoch":9}`},
			want:       map[string]string{"version": "1", "cluster": clusterJSON},
			wantWrites: 1,
		},
		"Newer": {
			reason: "what a newer operator wrote is still there when it returns",
			data: map[string]string{"version": "2", "new": "x", "placement": placementJSON,
				"cluster": `{"added":{"a":[12345678901234567]},"epoch":3,"fsid":"f1"}`},
			want: map[string]string{"version": "2", "new": "x", "placement": placementJSON,
				"cluster": strings.Replace(clusterJSON, "{", `{"added":{"a":[12345678901234567]},`, 1)},
			wantWrites: 1,
		},
		"Version removed": {
			reason:     "the format version is put back",
			data:       map[string]string{"cluster": clusterJSON},
			want:       map[string]string{"version": "1", "cluster": clusterJSON},
			wantWrites: 1,
		},
		"Null": {
			reason:     "null holds no fields",
			data:       map[string]string{"version": "1", "cluster": "null"},
			want:       map[string]string{"version": "1", "cluster": clusterJSON},
			wantWrites: 1,
		},
		"Broken": {
			reason:  "what cannot be read is not overwritten: it may say which Ceph cluster was in use",
			data:    map[string]string{"version": "1", "cluster": "{"},
			want:    map[string]string{"version": "1", "cluster": "{"},
			wantErr: []string{"openshift-cluster-csi-drivers/ceph-rbd-csi-driver-state", `"cluster"`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client, lister := objects(t, tc.data)
			client.ClearActions()
			err := state.Clusters(client.CoreV1(), lister, driver.RBD).Save(context.Background(), cluster)
			wantError(t, tc.reason, err, tc.wantErr)
			if got := len(client.Actions()); got != tc.wantWrites {
				t.Errorf("%s: %d requests, want %d", tc.reason, got, tc.wantWrites)
			}
			if diff := cmp.Diff(tc.want, stored(t, client)); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// Two features write their keys in turn; neither takes the other's away.
func TestFeaturesShareTheConfigMap(t *testing.T) {
	ctx := context.Background()
	client, store := fake.NewClientset(), newStore()
	lister := corelisters.NewConfigMapLister(store)
	clusters := state.Clusters(client.CoreV1(), lister, driver.RBD)
	placements := state.Placements(client.CoreV1(), lister, driver.RBD)
	moved := cluster
	moved.Epoch = 5
	for _, save := range []func() error{
		func() error { return clusters.Save(ctx, cluster) },
		func() error { return placements.Save(ctx, placement) },
		func() error { return clusters.Save(ctx, moved) },
		func() error { return placements.Save(ctx, placement) },
	} {
		if err := save(); err != nil {
			t.Fatal(err)
		}
		object, err := client.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, driver.RBD.StateConfigMap(), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Update(object); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"version": "1", "placement": placementJSON,
		"cluster": strings.Replace(clusterJSON, `"epoch":4`, `"epoch":5`, 1)}
	if diff := cmp.Diff(want, stored(t, client)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got, found, err := placements.Load(); err != nil || !found || got != placement {
		t.Errorf("placement = %v, %t, %v", got, found, err)
	}
}

// objects has the ConfigMap in API and cache, as other writers left it; none for no data.
func objects(t *testing.T, data map[string]string) (*fake.Clientset, corelisters.ConfigMapLister) {
	t.Helper()
	store := newStore()
	var initial []runtime.Object
	if data != nil {
		object := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.RBD.StateConfigMap()},
			Data:       maps.Clone(data),
		}
		initial = append(initial, object)
		if err := store.Add(object.DeepCopy()); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientset(initial...), corelisters.NewConfigMapLister(store)
}

func newStore() cache.Indexer {
	return cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
}

func stored(t *testing.T, client *fake.Clientset) map[string]string {
	t.Helper()
	object, err := client.CoreV1().ConfigMaps(driver.Namespace).Get(context.Background(), driver.RBD.StateConfigMap(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return object.Data
}

func wantError(t *testing.T, reason string, err error, fragments []string) {
	t.Helper()
	if (err != nil) != (len(fragments) > 0) {
		t.Fatalf("%s: error %v, want one with %q", reason, err, fragments)
	}
	for _, f := range fragments {
		if !strings.Contains(err.Error(), f) {
			t.Errorf("%s: error %q does not contain %q", reason, err, f)
		}
	}
}
