package crdpatch

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const fsid = "7b2fc1c0-6f4c-4d5c-9a5d-0d6a2b6f9d11"

// TestUnion asks the API server's own code which ClusterCSIDrivers the patched CRDs accept.
func TestUnion(t *testing.T) {
	tests := map[string]struct {
		reason string
		name   string
		config string // spec.driverConfig, as YAML
		want   string // a part of the error, empty when accepted
	}{
		"RBDDefaults":      {reason: "no driverConfig means defaults", name: driver.RBD.Name, config: "null"},
		"CephFSDefaults":   {reason: "no driverConfig means defaults", name: driver.CephFS.Name, config: "null"},
		"Empty":            {reason: "an empty member is a member", name: driver.RBD.Name, config: "{driverType: Ceph, ceph: {}}"},
		"OtherDriver":      {reason: "the names of others still count", name: "ebs.csi.aws.com", config: "{driverType: AWS}"},
		"UnknownName":      {reason: "names stay a closed list", name: "foo.csi.ceph.com", config: "null", want: "metadata.name: Unsupported value"},
		"NotOurs":          {reason: "our type is for our names", name: "ebs.csi.aws.com", config: "{driverType: Ceph, ceph: {}}", want: "driverType 'Ceph' requires metadata.name 'rbd.csi.ceph.com' or 'cephfs.csi.ceph.com'"},
		"NoMember":         {reason: "this is what a stock CRD makes of it", name: driver.RBD.Name, config: "{driverType: Ceph}", want: "ceph must be set if driverType is 'Ceph', but remain unset otherwise"},
		"MemberOfAnother":  {reason: "the union is strict", name: "ebs.csi.aws.com", config: "{driverType: AWS, ceph: {}}", want: "ceph must be set"},
		"MemberOfNone":     {reason: "the union is strict", name: driver.RBD.Name, config: "{driverType: '', ceph: {}}", want: "ceph must be set"},
		"MemberNoObject":   {reason: "settings are an object", name: driver.RBD.Name, config: "{driverType: Ceph, ceph: 5}", want: "must be of type object"},
		"DriverTypeAbsent": {reason: "stock rule", name: driver.RBD.Name, config: "{ceph: {}}", want: "driverType: Required value"},
	}
	for variant, v := range variants(t) {
		accepts := validator(t, v.patched)
		for name, tc := range tests {
			t.Run(variant+"/"+name, func(t *testing.T) {
				got := accepts(t, tc.name, tc.config)
				if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
					t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
				}
			})
		}
	}
}

// TestFields puts each setting before the CRD and before the operator: both must agree, and
// tell the same of what is allowed.
func TestFields(t *testing.T) {
	const rbd, cephFS = "rbd", "cephfs"
	tests := []struct {
		driver string
		member string // spec.driverConfig.ceph, as YAML
		want   string // a part of both errors, empty when accepted
	}{
		{rbd, "{cluster: " + fsid + ", pool: .rgw-1, dataPool: ec, imageFeatures: 'layering,exclusive-lock,object-map,fast-diff,deep-flatten', mounter: rbd, mapOptions: 'krbd:ms_mode=secure,rxbounce;nbd:io-timeout=330'}", ""},
		{rbd, "{mounter: rbd-nbd, imageFeatures: 'exclusive-lock,journaling', missingPools: Create, poolProtection: Disabled, credentials: Mint, readAffinity: [topology.kubernetes.io/zone, rack]}", ""},
		{rbd, "{outOfBand: [{namespace: a, configMap: b.c}, {namespace: a, configMap: c}], rookNamespace: rook-ceph}", ""},
		{cephFS, "{filesystem: my_fs, subvolumeGroup: csi-2, mounter: fuse, kernelMountOptions: 'ms_mode=secure,recover_session=clean', fuseMountOptions: debug, credentials: Passthrough}", ""},
		{rbd, "{cluster: mine}", "must be an fsid"},
		{rbd, "{cluster: 7B2FC1C0-6F4C-4D5C-9A5D-0D6A2B6F9D11}", "must be an fsid"},
		{rbd, "{pool: a/b}", "must be a name without"},
		{rbd, "{pool: 'a b'}", "must be a name without"},
		{rbd, "{dataPool: a@b}", "must be a name without"},
		{rbd, "{imageFeatures: 'layering, fast-diff'}", "must be some of layering, "},
		{rbd, "{imageFeatures: striping}", "must be some of layering, "},
		{rbd, "{imageFeatures: object-map}", "must have exclusive-lock beside object-map"},
		{rbd, "{imageFeatures: 'exclusive-lock,fast-diff'}", "must have object-map beside fast-diff"},
		{rbd, "{imageFeatures: journaling, mounter: rbd-nbd}", "must have exclusive-lock beside journaling"},
		{rbd, "{imageFeatures: 'exclusive-lock,journaling'}", "may have journaling only with mounter rbd-nbd"},
		{rbd, "{mapOptions: 'iscsi:x'}", "must be of the form krbd:"},
		{rbd, "{mapOptions: 'krbd:a;nbd:b;krbd:c'}", "must be of the form krbd:"},
		{rbd, "{mapOptions: 'krbd:name=admin,secret=AQ'}", "none of which names a user or a key"},
		{rbd, "{mounter: quantum}", `"quantum"`},
		{rbd, "{mounter: fuse}", `must be one of "rbd", "rbd-nbd"`},
		{rbd, "{filesystem: a}", "is a setting of cephfs.csi.ceph.com"},
		{rbd, "{kernelMountOptions: a}", "is a setting of cephfs.csi.ceph.com"},
		{cephFS, "{mounter: rbd}", `must be one of "kernel", "fuse"`},
		{cephFS, "{pool: a}", "is a setting of rbd.csi.ceph.com"},
		{cephFS, "{imageFeatures: layering}", "is a setting of rbd.csi.ceph.com"},
		{cephFS, "{filesystem: 'a,b'}", "must be the name of a filesystem"},
		{cephFS, "{subvolumeGroup: _deleting}", "beginning with a letter or a digit"},
		{cephFS, "{kernelMountOptions: 'ro,secret=AQ'}", "none of which names a user or a key"},
		{cephFS, "{fuseMountOptions: '--id=admin debug'}", "options without spaces"},
		{rbd, "{missingPools: Sometimes}", `"Report", "Create"`},
		{rbd, "{poolProtection: Off}", "poolProtection"},
		{rbd, "{credentials: mint}", `"Auto", "Mint", "Passthrough"`},
		{rbd, "{keyType: AES}", `"aes", "aes256k"`},
		{rbd, "{readAffinity: zone}", "readAffinity"},
		{rbd, "{readAffinity: ['zone=a']}", "must be the key of a node label"},
		{rbd, "{readAffinity: [zone, zone]}", "readAffinity[1]"},
		{rbd, "{outOfBand: [{namespace: a}]}", "outOfBand[0].configMap"},
		{rbd, "{outOfBand: [{namespace: A, configMap: b}]}", "must be a Kubernetes namespace"},
		{rbd, "{outOfBand: [{namespace: a, configMap: b}, {namespace: a, configMap: b}]}", "outOfBand[1]"},
		{rbd, "{rookNamespace: rook_ceph}", "must be a Kubernetes namespace"},
		{rbd, "{rookNamespace: ''}", "rookNamespace"},
		{rbd, "{withdrawAfter: 10}", "withdrawAfter"},
		{rbd, "{withdrawAfter: 0s}", "must be a time such as 90s, 10m or 24h"},
		{cephFS, "{withdrawAfter: soon}", "withdrawAfter"},
		{rbd, "{controller: {nodeSelector: {node-role.kubernetes.io/infra: ''}, tolerations: [{key: node-role.kubernetes.io/infra, effect: NoSchedule}, {operator: Exists, effect: NoExecute, tolerationSeconds: 30}], priorityClassName: mine}}", ""},
		{cephFS, "{node: {nodeSelector: {example.com/storage: ceph}, resources: {csi-driver: {requests: {cpu: 1, memory: 128Mi}, limits: {memory: 1.5Gi}}, csi-liveness-probe: {limits: {cpu: 50m}}}}}", ""},
		{rbd, "{controller: {}, node: {tolerations: []}}", ""},
		{rbd, "{node: yes}", "node"},
		{rbd, "{node: {nodeSelector: {}}}", "node.nodeSelector"},
		{rbd, "{node: {nodeSelector: {'a b': c}}}", "must be the key of a node label"},
		{rbd, "{node: {nodeSelector: {" + strings.Repeat("a", 64) + ": c}}}", "must be the key of a node label"},
		{rbd, "{node: {nodeSelector: {a..b/c: c}}}", "must be the key of a node label"},
		{rbd, "{node: {priorityClassName: a..b}}", "must be the name of a PriorityClass"},
		{rbd, "{node: {nodeSelector: {a: 'b c'}}}", "must be the value of a label"},
		{rbd, "{controller: {tolerations: {key: a}}}", "controller.tolerations"},
		{rbd, "{controller: {tolerations: [{operator: Equal}]}}", "must be a toleration with a key, or with operator Exists"},
		{rbd, "{controller: {tolerations: [{key: a, operator: Exists, value: b}]}}", "without value where its operator is Exists"},
		{rbd, "{controller: {tolerations: [{key: a, tolerationSeconds: 5}]}}", "of effect NoExecute where it has tolerationSeconds"},
		{rbd, "{controller: {tolerations: [{key: a, effect: NoExecute, tolerationSeconds: -5}]}}", "controller.tolerations[0].tolerationSeconds"},
		{rbd, "{controller: {tolerations: [{key: a, effect: NoRun}]}}", `"NoSchedule", "PreferNoSchedule", "NoExecute"`},
		{rbd, "{controller: {tolerations: [{key: a, operator: Like}]}}", `"Exists", "Equal"`},
		{rbd, "{controller: {tolerations: [{key: 'a=b'}]}}", "must be the key of a taint"},
		{rbd, "{controller: {priorityClassName: System_Critical}}", "must be the name of a PriorityClass"},
		{rbd, "{controller: {resources: {csi-drivr: {limits: {cpu: 1}}}}}", `must be one of "csi-driver", "csi-driver-metrics"`},
		{rbd, "{node: {resources: {csi-provisioner: {limits: {cpu: 1}}}}}", `must be one of "csi-driver", "csi-node-driver-registrar"`},
		{rbd, "{node: {resources: {csi-driver: {limits: {gpu: 1}}}}}", `must be one of "cpu", "memory", "ephemeral-storage"`},
		{rbd, "{node: {resources: {csi-driver: {limits: {memory: 1 GB}}}}}", "limits"},
		{rbd, "{node: {resources: {csi-driver: {limits: {memory: -1}}}}}", "limits"},
		{rbd, "{pool: 5}", "pool"},
		{rbd, "{pool: " + strings.Repeat("a", 129) + "}", "pool"},
	}
	drivers := map[string]driver.Driver{}
	for _, d := range driver.All {
		drivers[d.Kind] = d
	}
	for variant, v := range variants(t) {
		accepts := validator(t, v.patched)
		for _, tc := range tests {
			d := drivers[tc.driver]
			t.Run(variant+"/"+tc.driver+tc.member, func(t *testing.T) {
				var member map[string]any
				if err := yaml.Unmarshal([]byte(tc.member), &member); err != nil {
					t.Fatal(err)
				}
				operator := ""
				if _, err := driver.ParseSettings(d, driver.MemberPath, member); err != nil {
					operator = err.Error()
				}
				crd := accepts(t, d.Name, "{driverType: Ceph, ceph: "+tc.member+"}")
				for who, got := range map[string]string{"the CRD": crd, "the operator": operator} {
					if tc.want == "" && got != "" || tc.want != "" && got == "" || !strings.Contains(got, tc.want) {
						t.Errorf("%s says %q, want %q", who, got, tc.want)
					}
				}
			})
		}
	}
}
