package driver

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
)

const someFSID = "7b2fc1c0-6f4c-4d5c-9a5d-0d6a2b6f9d11"

// TestMember has what the schema of the CRD knows nothing of; test/crdpatch has the rest.
func TestMember(t *testing.T) {
	ceph := func(fields map[string]any) map[string]any {
		return map[string]any{"driverConfig": map[string]any{"driverType": "Ceph", "ceph": fields}}
	}
	tests := map[string]struct {
		reason string
		driver Driver
		spec   any
		want   Settings
		err    error
		text   string
	}{
		"NoSpec":         {reason: "defaults", driver: RBD},
		"NoDriverConfig": {reason: "defaults", driver: RBD, spec: map[string]any{}},
		"OtherType":      {reason: "a member that is not ours", driver: RBD, spec: map[string]any{"driverConfig": map[string]any{"driverType": "AWS"}}},
		"Empty":          {reason: "defaults, said aloud", driver: RBD, spec: ceph(map[string]any{})},
		"Pruned": {
			reason: "a stock CRD dropped the member", driver: RBD, spec: map[string]any{"driverConfig": map[string]any{"driverType": "Ceph"}},
			err: ErrPrunedSettings, text: "spec.driverConfig.ceph is missing although spec.driverConfig.driverType is Ceph",
		},
		"RBD": {
			reason: "fields of an RBD driver", driver: RBD,
			spec: ceph(map[string]any{
				"cluster": someFSID, "pool": "p", "dataPool": "d", "imageFeatures": "layering,exclusive-lock,journaling", "mounter": "rbd-nbd",
				"mapOptions": "krbd:rxbounce;nbd:io-timeout=330", "missingPools": "Create", "poolProtection": "Disabled", "credentials": "Mint", "keyType": "aes256k",
				"readAffinity":  []any{"topology.kubernetes.io/zone", "rack"},
				"outOfBand":     []any{map[string]any{"namespace": "n", "configMap": "ceph-csi-config"}},
				"rookNamespace": "rook-ceph", "withdrawAfter": "90s",
			}),
			want: Settings{
				Cluster: someFSID, Pool: "p", DataPool: "d", ImageFeatures: "layering,exclusive-lock,journaling", Mounter: "rbd-nbd",
				MapOptions: "krbd:rxbounce;nbd:io-timeout=330", MissingPools: MissingCreate, PoolProtection: PoolsUnprotected, Credentials: CredentialsMint, KeyType: "aes256k",
				ReadAffinity:  []string{"topology.kubernetes.io/zone", "rack"},
				OutOfBand:     []Target{{Namespace: "n", ConfigMap: "ceph-csi-config"}},
				RookNamespace: "rook-ceph", WithdrawAfter: metav1.Duration{Duration: 90 * time.Second},
			},
		},
		"CephFS": {
			reason: "fields of a CephFS driver; unknown and null ones do not disturb", driver: CephFS,
			spec: ceph(map[string]any{
				"filesystem": "a", "subvolumeGroup": "g", "mounter": "fuse", "kernelMountOptions": "ms_mode=secure", "fuseMountOptions": "debug",
				"missingPools": "Report", "poolProtection": "Enabled", "credentials": "Auto", "pool": nil, "new": int64(1),
			}),
			want: Settings{
				Filesystem: "a", SubvolumeGroup: "g", Mounter: "fuse", KernelMountOptions: "ms_mode=secure", FuseMountOptions: "debug", Credentials: CredentialsAuto,
				MissingPools: MissingReport, PoolProtection: PoolsProtected,
			},
		},
		"WrongFields": {
			reason: "all of them at once, so that nobody has to try again for each", driver: RBD,
			spec: ceph(map[string]any{"pool": int64(5), "mounter": "fuse", "filesystem": "a", "outOfBand": []any{map[string]any{"namespace": "n"}}}),
			err:  ErrInvalidSettings,
			text: "invalid settings of ClusterCSIDriver rbd.csi.ceph.com: spec.driverConfig.ceph.outOfBand[0].configMap is missing, must be the name of a ConfigMap; " +
				`spec.driverConfig.ceph.mounter is "fuse", must be one of "rbd", "rbd-nbd"; ` +
				"spec.driverConfig.ceph.pool is 5, must be a name without spaces, quotes and the characters / @ ,; " +
				`spec.driverConfig.ceph.filesystem is "a", must be left out: it is a setting of cephfs.csi.ceph.com`,
		},
		"WrongMember": {
			reason: "the whole member", driver: RBD, spec: map[string]any{"driverConfig": map[string]any{"ceph": "p"}},
			err: ErrInvalidSettings, text: `invalid settings of ClusterCSIDriver rbd.csi.ceph.com: spec.driverConfig.ceph is "p", must be an object`,
		},
		"Rule": {
			reason: "fields that do not go together", driver: RBD, spec: ceph(map[string]any{"imageFeatures": "layering,fast-diff"}),
			err: ErrInvalidSettings, text: `invalid settings of ClusterCSIDriver rbd.csi.ceph.com: spec.driverConfig.ceph.imageFeatures is "layering,fast-diff", must have object-map beside fast-diff`,
		},
		"Pods": {
			reason: "as in a PodSpec; what nobody knows is a newer operator's", driver: RBD,
			spec: ceph(map[string]any{
				"controller": map[string]any{
					"nodeSelector": map[string]any{"node-role.kubernetes.io/infra": ""}, "priorityClassName": "mine", "affinity": map[string]any{},
					"tolerations": []any{map[string]any{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": int64(30)}},
				},
				"node": map[string]any{"resources": map[string]any{"csi-driver": map[string]any{
					"requests": map[string]any{"cpu": float64(1), "memory": "512Mi"}, "limits": map[string]any{"cpu": "1000m", "memory": "1Gi"},
				}}},
			}),
			want: Settings{
				Controller: Pods{
					NodeSelector: map[string]string{"node-role.kubernetes.io/infra": ""}, PriorityClassName: "mine",
					Tolerations: []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](30)}},
				},
				Node: Pods{Resources: map[string]corev1.ResourceRequirements{"csi-driver": {
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("512Mi")},
					Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000m"), corev1.ResourceMemory: resource.MustParse("1Gi")},
				}}},
			},
		},
		"WrongPods": {
			reason: "a Deployment with these would be refused by the API server", driver: CephFS,
			spec: ceph(map[string]any{"node": map[string]any{
				"tolerations": []any{map[string]any{"effect": "NoSchedule"}},
				"resources": map[string]any{
					"csi-drvr":   map[string]any{},
					"csi-driver": map[string]any{"requests": map[string]any{"memory": "2Gi"}, "limits": map[string]any{"memory": "1Gi"}},
				},
			}}),
			err: ErrInvalidSettings,
			text: `invalid settings of ClusterCSIDriver cephfs.csi.ceph.com: spec.driverConfig.ceph.node.resources[csi-driver] is {"limits":{"memory":"1Gi"},"requests":{"memory":"2Gi"}}, ` +
				"must be resources whose requests are not above their limits; " +
				`a key of spec.driverConfig.ceph.node.resources is "csi-drvr", must be one of "csi-driver", "csi-node-driver-registrar", "csi-liveness-probe"; ` +
				`spec.driverConfig.ceph.node.tolerations[0] is {"effect":"NoSchedule"}, must be a toleration with a key, or with operator Exists`,
		},
		"Long": {
			reason: "a message is no place for everything", driver: RBD, spec: ceph(map[string]any{"rookNamespace": strings.Repeat("a", 200)}),
			err: ErrInvalidSettings, text: `invalid settings of ClusterCSIDriver rbd.csi.ceph.com: spec.driverConfig.ceph.rookNamespace is "` + strings.Repeat("a", 100) + `…", must be a Kubernetes namespace`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cr := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": tc.driver.Name}}}
			if tc.spec != nil {
				cr.Object["spec"] = tc.spec
			}
			got, err := read(tc.driver, cr)
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("%s: got %+v, want %+v", tc.reason, got, tc.want)
			}
			if !errors.Is(err, tc.err) || err != nil && err.Error() != tc.text {
				t.Errorf("%s: got error %v, want %s", tc.reason, err, tc.text)
			}
		})
	}
}

func read(d Driver, cr *unstructured.Unstructured) (Settings, error) {
	member, err := Member(cr)
	if err != nil {
		return Settings{}, err
	}
	return ParseSettings(d, MemberPath, member)
}

func TestMemberWithoutResource(t *testing.T) {
	if got, err := read(RBD, nil); err != nil || !reflect.DeepEqual(got, Settings{}) {
		t.Errorf("no resource means defaults: got %+v, %v", got, err)
	}
}

func TestHandwritten(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		fields map[string]any
		want   []string
	}{
		"Known": {
			reason: "at any depth", fields: map[string]any{
				"mounter": "rbd-nbd", "outOfBand": []any{map[string]any{"namespace": "n", "configMap": "c"}},
				"node": map[string]any{
					"nodeSelector": map[string]any{"anything": "goes"},
					"resources":    map[string]any{"csi-driver": map[string]any{"requests": map[string]any{"cpu": "1"}}},
					"tolerations":  []any{map[string]any{"key": "k", "operator": "Exists"}},
				},
			},
		},
		"Misspelt": {
			reason: "all are told", fields: map[string]any{"mouner": "fuse", "Pool": "p", "pool": "a b"},
			want: []string{`p.Pool is "p", must be left out: there is only cluster, `, `p.mouner is "fuse", must be left out`, `p.pool is "a b"`},
		},
		"Deep": {
			reason: "by the path", fields: map[string]any{
				"outOfBand": []any{map[string]any{"namespace": "n", "configMap": "c", "name": "x"}},
				"node":      map[string]any{"resources": map[string]any{"csi-driver": map[string]any{"request": map[string]any{"cpu": "1"}}}},
			},
			want: []string{
				`p.node.resources[csi-driver].request is {"cpu":"1"}, must be left out: there is only limits, requests`,
				`p.outOfBand[0].name is "x", must be left out: there is only configMap, namespace`,
			},
		},
		"Many": {
			reason: "in the same order each time", fields: map[string]any{"outOfBand": []any{
				map[string]any{"namespace": "n", "configMap": "a", "x": "1"}, map[string]any{"namespace": "n", "configMap": "b", "x": "1"},
				map[string]any{"namespace": "n", "configMap": "c", "x": "1"}, map[string]any{"namespace": "n", "configMap": "d", "x": "1"},
			}},
			want: []string{"p.outOfBand[0].x", "p.outOfBand[1].x", "p.outOfBand[2].x", "p.outOfBand[3].x"},
		},
		"Null":        {reason: "is nothing", fields: map[string]any{"mounter": nil}},
		"Unquoted":    {reason: "the shell took the quotes of {\"pool\":\"fast\"}, and YAML reads a name", fields: map[string]any{"pool:fast": nil}, want: []string{`p.pool:fast is null, must be left out: there is only `}},
		"OtherDriver": {reason: "it is told once", fields: map[string]any{"filesystem": "f"}, want: []string{`p.filesystem is "f", must be left out: it is a setting of cephfs.csi.ceph.com`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseHandwritten(RBD, "p", tc.fields)
			var said []string
			if err != nil {
				said = strings.Split(strings.TrimPrefix(err.Error(), "invalid settings of ClusterCSIDriver rbd.csi.ceph.com: "), "; ")
			}
			if len(said) != len(tc.want) {
				t.Fatalf("%s: got %q, want %q", tc.reason, said, tc.want)
			}
			for i, want := range tc.want {
				if !strings.HasPrefix(said[i], want) {
					t.Errorf("%s: got %q, want %q", tc.reason, said[i], want)
				}
			}
			if _, err := ParseSettings(RBD, "p", map[string]any{"ofTomorrow": true}); err != nil {
				t.Errorf("a newer operator's field is ignored where a schema has let it through: %v", err)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	all := Settings{ImageFeatures: "layering", Mounter: "m", MapOptions: "krbd:x", KernelMountOptions: "k", FuseMountOptions: "f"}
	tests := map[string]struct {
		driver   Driver
		settings Settings
		want     map[string]string
	}{
		"RBD":     {RBD, all, map[string]string{"imageFeatures": "layering", "mounter": "m", "mapOptions": "krbd:x"}},
		"CephFS":  {CephFS, all, map[string]string{"mounter": "m", "kernelMountOptions": "k", "fuseMountOptions": "f"}},
		"Default": {RBD, Settings{}, map[string]string{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.driver.Storage.Options(tc.settings); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// TestFieldsAreRead guards against a field of the table that the settings do not take.
func TestFieldsAreRead(t *testing.T) {
	samples := map[string]any{
		"cluster": someFSID, "imageFeatures": "layering", "mapOptions": "krbd:x", "missingPools": "Create", "poolProtection": "Disabled",
		"outOfBand": []any{map[string]any{"namespace": "n", "configMap": "c"}}, "readAffinity": []any{"zone"},
		"withdrawAfter": "1h", "controller": map[string]any{"priorityClassName": "p"}, "node": map[string]any{"priorityClassName": "p"},
	}
	for _, d := range All {
		for _, f := range d.Fields {
			value, ok := samples[f.Name]
			if !ok && len(f.Text.Enum) > 0 {
				value = f.Text.Enum[len(f.Text.Enum)-1]
			} else if !ok {
				value = "x"
			}
			got, err := ParseSettings(d, MemberPath, map[string]any{f.Name: value})
			if err != nil || reflect.DeepEqual(got, Settings{}) {
				t.Errorf("%s of %s: got %+v, %v", f.Name, d.Name, got, err)
			}
			if !strings.HasPrefix(f.Doc, f.Name+" ") {
				t.Errorf("%s of %s: what oc explain shows must begin with the name: %s", f.Name, d.Name, f.Doc)
			}
		}
	}
}
