package faults

import (
	"encoding/base64"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	secretPath  = "/api/v1/namespaces/n/secrets/s"
	bindingPath = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/b"
)

func secret(data map[string]string) *unstructured.Unstructured {
	encoded := map[string]any{}
	for key, value := range data {
		encoded[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	return &unstructured.Unstructured{Object: map[string]any{"kind": "Secret", "metadata": map[string]any{"name": "s"}, "data": encoded}}
}

func binding(subjects ...any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"kind": "ClusterRoleBinding", "subjects": subjects}}
}

var needed = Needs{
	Objects: map[string]*unstructured.Unstructured{
		secretPath:  secret(map[string]string{"userID": "one", "config.json": `[{"clusterID":"f","monitors":["a"]}]`}),
		bindingPath: binding("controller", "node"),
	},
	Pools: []string{"used"},
	Users: map[string]map[string]string{"client.node": {"mon": "profile rbd", "osd": "profile rbd pool=used, allow r"}},
}

func TestDeleted(t *testing.T) {
	tests := map[string]struct {
		reason, write string
		want          bool
	}{
		"Deleted":    {"a mount in between finds nothing, even if it is made anew", "DELETE " + secretPath, true},
		"Collection": {"it is among them", "DELETE /api/v1/namespaces/n/secrets", true},
		"Another":    {"nobody needs it", "DELETE " + secretPath + "2", false},
		"Changed":    {"what it holds is looked at elsewhere", "PUT " + secretPath, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := len(needed.Deleted([]string{"POST /x", tc.write})) > 0; got != tc.want {
				t.Errorf("%s: %t", tc.reason, got)
			}
		})
	}
}

func TestEmptied(t *testing.T) {
	tests := map[string]struct {
		reason, path string
		version      *unstructured.Unstructured
		want         []string
	}{
		"Same":      {"nothing has changed", secretPath, needed.Objects[secretPath], nil},
		"OtherKey":  {"keys are rotated, mons replaced", secretPath, secret(map[string]string{"userID": "two", "config.json": `[{"clusterID":"f","monitors":["b","c"]},{"clusterID":"g"}]`}), nil},
		"NoKey":     {"mounts fail", secretPath, secret(map[string]string{"userID": "", "config.json": `[{"clusterID":"f","monitors":["a"]}]`}), []string{secretPath + " data userID is gone"}},
		"NoCluster": {"volumes of that cluster are not found", secretPath, secret(map[string]string{"userID": "one", "config.json": `[{"clusterID":"g","monitors":["a"]}]`}), []string{secretPath + " data config.json f is gone"}},
		"NoMons":    {"an entry without mons leads nowhere", secretPath, secret(map[string]string{"userID": "one", "config.json": `[{"clusterID":"f"}]`}), []string{secretPath + " data config.json f is gone"}},
		"NoJSON":    {"ceph-csi reads none", secretPath, secret(map[string]string{"userID": "one", "config.json": `[`}), []string{secretPath + " data config.json f is gone"}},
		"NoSubject": {"a pod has lost its rights", bindingPath, binding("controller", "another"), []string{bindingPath + " subjects lacks node"}},
		"Another":   {"nobody needs it", "/another", binding(), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, needed.Emptied(tc.path, tc.version)); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTaken(t *testing.T) {
	tests := map[string]struct {
		reason, call string
		want         bool
	}{
		"Pool":        {"all volumes are lost", `{"prefix":"osd pool rm","pool":"used"}`, true},
		"OtherPool":   {"nobody needs it", `{"prefix":"osd pool rm","pool":"free"}`, false},
		"Protected":   {"so it is to be", `{"prefix":"osd pool set","pool":"used","var":"nodelete","val":"true"}`, false},
		"Tried":       {"Ceph takes no such value", `{"prefix":"osd pool set","pool":"used","var":"nodelete","val":"csi-rights-check"}`, false},
		"Unprotected": {"anybody can remove it", `{"prefix":"osd pool set","pool":"used","var":"nodelete","val":"false"}`, true},
		"Claim":       {"others do not know of the volumes any more", `{"prefix":"osd pool application rm","pool":"used","app":"rbd","key":"k"}`, true},
		"User":        {"who has mounted is cut off", `{"prefix":"auth rm","entity":"client.node"}`, true},
		"OtherUser":   {"nobody is it", `{"prefix":"auth rm","entity":"client.nobody"}`, false},
		"Wider":       {"another pool may be added", `{"prefix":"auth caps","entity":"client.node","caps":["mon","profile rbd","osd","allow r, profile rbd pool=used, profile rbd pool=new"]}`, false},
		"Narrower":    {"the volumes cannot be written to", `{"prefix":"auth caps","entity":"client.node","caps":["mon","profile rbd","osd","allow r"]}`, true},
		"NoDaemon":    {"nor can the mons be asked", `{"prefix":"auth caps","entity":"client.node","caps":["osd","profile rbd pool=used, allow r"]}`, true},
		"Filesystem":  {"there is never a reason", `{"prefix":"fs rm","fs_name":"f"}`, true},
		"Object":      {"that is the operator's own", "remove object pool/o", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := len(needed.Taken([]string{tc.call})) > 0; got != tc.want {
				t.Errorf("%s: %t", tc.reason, got)
			}
		})
	}
}
