package check

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func class(name, provisioner string, parameters map[string]string) runtime.Object {
	parameters["clusterID"] = cephtest.FSID
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, Parameters: parameters}
}

func csiDriver(name string, annotations map[string]string) runtime.Object {
	return &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}
}

func secret(data map[string][]byte) runtime.Object {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.CredentialsSecret}, Data: data}
}

func TestKubernetes(t *testing.T) {
	const k = "Kubernetes"
	tests := map[string]struct {
		reason string
		change func(*rig)
		want   []expect
	}{
		"AllRight": {
			reason: "before the installation: the Secret is the next step, not a fault",
			change: func(*rig) {},
			want: []expect{
				{group: k, name: "API server", state: OK},
				{group: k, name: "namespace", state: OK},
				{group: k, name: "Secret ceph-credentials", state: Note, fix: "--from-file=ceph.conf=a.conf --from-file=keyring=a.keyring"},
				{group: k, name: "Infrastructure", state: OK, message: []string{"demo"}},
				{group: k, name: "Storage", state: OK},
				{group: k, name: "ClusterCSIDriver", state: OK},
				{group: k, name: "CSIDriver rbd.csi.ceph.com", state: OK},
				{group: k, name: "SCC privileged", state: OK},
				{group: k, name: "snapshots", state: OK},
				{group: k, name: "snapshot-controller", state: OK},
				{group: k, name: "StorageClasses", state: OK},
				{group: "RBD", name: "pool", state: OK, message: []string{"demo-rbd"}},
				{group: "CephFS", name: "subvolume group", state: OK, message: []string{"demo is not there yet"}},
			},
		},
		"OwnGroup": {
			reason: "the class is there, and so is a group that nobody else has",
			change: func(r *rig) {
				r.objects = append(r.objects, class("ceph-cephfs", "cephfs.csi.ceph.com", map[string]string{"fsName": "myfs"}))
				r.ceph.AddGroup("myfs", "demo")
			},
			want: []expect{{group: "CephFS", name: "subvolume group", state: OK, message: []string{"demo exists"}}},
		},
		"OldGroup": {
			reason: "the volumes of the class that is there may be in ceph-csi's",
			change: func(r *rig) {
				r.objects = append(r.objects, class("ceph-cephfs", "cephfs.csi.ceph.com", map[string]string{"fsName": "myfs"}))
			},
			want: []expect{{group: "CephFS", name: "subvolume group", state: OK, message: []string{"csi is not there yet"}}},
		},
		"NoNamespace": {
			reason: "the namespace of everything",
			change: func(r *rig) { r.objects = r.objects[1:] },
			want:   []expect{{group: k, name: "namespace", state: Wrong, fix: "oc create namespace openshift-cluster-csi-drivers"}},
		},
		"SameSecret": {
			reason: "after the installation",
			change: func(r *rig) {
				r.objects = append(r.objects, secret(map[string][]byte{"ceph.conf": r.ceph.Conf(), "keyring": r.ceph.Keyring("admin")}))
			},
			want: []expect{{group: k, name: "Secret ceph-credentials", state: OK}},
		},
		"BrokenSecret": {
			reason: "what the operator would complain of",
			change: func(r *rig) { r.objects = append(r.objects, secret(map[string][]byte{"ceph.conf": r.ceph.Conf()})) },
			want: []expect{{group: k, name: "Secret ceph-credentials", state: Wrong, message: []string{"keyring is missing"},
				fix: "oc delete secret ceph-credentials -n openshift-cluster-csi-drivers; oc create secret"}},
		},
		"OtherKey": {
			reason: "the Secret has an older key of the same user",
			change: func(r *rig) {
				r.objects = append(r.objects, secret(map[string][]byte{"ceph.conf": r.ceph.Conf(), "keyring": r.ceph.Keyring("admin")}))
				r.ceph.AddUser("admin")
				r.config.Keyring.Content = r.ceph.Keyring("admin")
			},
			want: []expect{{group: k, name: "Secret ceph-credentials", state: Note, message: []string{"another key of client.admin"}}},
		},
		"NoInfrastructure": {
			reason: "the name of pool and users",
			change: func(r *rig) { r.without("Infrastructure") },
			want:   []expect{{group: k, name: "Infrastructure", state: Wrong, fix: "oc get infrastructure cluster"}},
		},
		"NoStorage": {
			reason: "nobody brings it there but ceph-cluster-storage, and that only where it is told so",
			change: func(r *rig) { r.without("Storage") },
			want:   []expect{{group: k, name: "Storage", state: Wrong, message: []string{"starts no driver"}, fix: "REPORT=yes"}},
		},
		"UnmanagedStorage": {
			reason: "nothing is started, and nothing says so",
			change: func(r *rig) {
				r.without("Storage")
				r.others = append(r.others, object("operator.openshift.io/v1", "Storage", "cluster", "spec", map[string]any{"managementState": "Unmanaged"}))
			},
			want: []expect{{group: k, name: "Storage", state: Wrong, message: []string{`"Unmanaged"`},
				fix: `oc patch storages.operator.openshift.io cluster --type=merge -p '{"spec":{"managementState":"Managed"}}'`}},
		},
		"UnmanagedKubernetes": {
			reason: "there, too",
			change: func(r *rig) {
				r.without("Storage")
				r.without(sccCRD)
				r.others = append(r.others, object("operator.openshift.io/v1", "Storage", "cluster", "spec", map[string]any{"managementState": "Removed"}))
			},
			want: []expect{{group: k, name: "Storage", state: Wrong, message: []string{`"Removed"`}, fix: "kubectl patch storages.operator.openshift.io cluster"}},
		},
		"NoOpenShift": {
			reason: "no CRD at all",
			change: func(r *rig) { r.without(driversCRD) },
			want:   []expect{{group: k, name: "ClusterCSIDriver", state: Wrong, message: []string{"no OpenShift"}}},
		},
		"BareKubernetes": {
			reason: "nothing of OpenShift and nothing installed: its commands would not work",
			change: func(r *rig) { r.objects, r.others = nil, nil },
			want: []expect{
				{group: k, name: "namespace", state: Wrong, fix: "kubectl apply -f bin/release/kubernetes/"},
				{group: k, name: "Secret ceph-credentials", state: Note, fix: "kubectl create secret"},
				{group: k, name: "Infrastructure", state: OK, message: []string{"makes it"}},
				{group: k, name: "Storage", state: OK, message: []string{"makes it"}},
				{group: k, name: "ClusterCSIDriver", state: Wrong, fix: "kubectl apply -f bin/release/kubernetes/"},
				{group: k, name: "snapshots", state: Wrong, fix: "client/config/crd?ref="},
				{group: k, name: "snapshot-controller", state: Wrong, fix: "deploy/kubernetes/snapshot-controller?ref="},
			},
		},
		"UnnamedKubernetes": {
			reason: "an Infrastructure that somebody emptied is nobody's to make",
			change: func(r *rig) {
				r.without("Infrastructure")
				r.without(sccCRD)
				r.others = append(r.others, object("config.openshift.io/v1", "Infrastructure", "cluster", "status", map[string]any{}))
			},
			want: []expect{{group: k, name: "Infrastructure", state: Wrong, fix: "get infrastructure cluster"}},
		},
		"StockCRD": {
			reason: "openshift/api does not know the names yet",
			change: func(r *rig) {
				r.without(driversCRD)
				r.others = append(r.others, driversCRDObject())
			},
			want: []expect{{group: k, name: "ClusterCSIDriver", state: Wrong,
				message: []string{"rbd.csi.ceph.com", "cephfs.csi.ceph.com"}, fix: "--patch-file manifests/crd-patch/clustercsidriver.patch.json"}},
		},
		"StockCRDAgain": {
			reason: "the cluster version operator has put it back: what exists stays",
			change: func(r *rig) {
				r.without(driversCRD)
				r.others = append(r.others, driversCRDObject())
				for _, d := range r.config.Drivers {
					r.tune(d.Name, nil)
				}
			},
			want: []expect{{group: k, name: "ClusterCSIDriver", state: Note,
				message: []string{"drops spec.driverConfig.ceph", "storage.openshift.io/ceph-settings"}, fix: "--patch-file manifests/crd-patch/clustercsidriver.patch.json"}},
		},
		"ForeignCSIDriver": {
			reason: "Helm's; our own is none",
			change: func(r *rig) {
				r.objects = append(r.objects,
					csiDriver("rbd.csi.ceph.com", map[string]string{"meta.helm.sh/release-name": "ceph", "meta.helm.sh/release-namespace": "apps"}),
					csiDriver("cephfs.csi.ceph.com", map[string]string{"csi.openshift.io/managed": ""}))
			},
			want: []expect{
				{group: k, name: "CSIDriver rbd.csi.ceph.com", state: Wrong, message: []string{"Helm release apps/ceph"}, fix: "oc delete csidriver rbd.csi.ceph.com"},
				{group: k, name: "CSIDriver cephfs.csi.ceph.com", state: OK, message: []string{"the operator's"}},
			},
		},
		"NoSCC": {
			reason: "node pods are privileged",
			change: func(r *rig) { r.without(privilegedSCC) },
			want:   []expect{{group: k, name: "SCC privileged", state: Wrong, fix: "oc get scc"}},
		},
		"NoConstraints": {
			reason: "nobody but Pod Security admits pods",
			change: func(r *rig) { r.without(privilegedSCC); r.without(sccCRD) },
			want:   []expect{{group: k, name: "SCC privileged", state: OK, message: []string{"no OpenShift"}}},
		},
		"NoSnapshots": {
			reason: "csi-snapshotter ends without its CRDs",
			change: func(r *rig) { r.without(snapshotCRDs[0]) },
			want:   []expect{{group: k, name: "snapshots", state: Wrong, message: []string{snapshotCRDs[0]}, fix: "csi-snapshot-controller"}},
		},
		"Classes": {
			reason: "what classes name and Ceph lacks, before a claim fails",
			change: func(r *rig) {
				other := class("elsewhere", "rbd.csi.ceph.com", map[string]string{"pool": "x"}).(*storagev1.StorageClass)
				other.Parameters["clusterID"] = "rook-ceph"
				r.objects = append(r.objects, other,
					class("good", "rbd.csi.ceph.com", map[string]string{"pool": "vms"}),
					class("fast", "rbd.csi.ceph.com", map[string]string{"pool": "vms", "dataPool": "gone"}),
					class("files", "cephfs.csi.ceph.com", map[string]string{"fsName": "nofs"}),
					class("foreign", "ebs.csi.aws.com", map[string]string{"pool": "y"}))
			},
			want: []expect{
				{group: k, name: "StorageClass fast", state: Wrong, message: []string{`"gone"`}, fix: "ceph osd pool create gone"},
				{group: k, name: "StorageClass files", state: Wrong, message: []string{`"nofs"`}, fix: "ceph fs volume create nofs"},
				{group: k, name: "StorageClass elsewhere", state: Note, message: []string{`"rook-ceph"`}},
			},
		},
		"Topology": {
			reason: "the operator deploys the driver without",
			change: func(r *rig) {
				zones := map[string]string{"pool": "vms", "topologyConstrainedPools": `[{"poolName":"vms"}]`}
				r.objects = append(r.objects, class("zones", "rbd.csi.ceph.com", zones))
			},
			want: []expect{{group: k, name: "StorageClass zones", state: Wrong, message: []string{"topologyConstrainedPools has no effect", `"vms"`}, fix: "oc get storageclass zones"}},
		},
		"TopologyElsewhere": {
			reason: "somebody else's driver may know topologies",
			change: func(r *rig) {
				zones := map[string]string{"pool": "vms", "topologyConstrainedPools": `[{"poolName":"vms"}]`}
				r.objects = append(r.objects, class("zones", "rbd.csi.ceph.com", zones),
					csiDriver("rbd.csi.ceph.com", map[string]string{"meta.helm.sh/release-name": "ceph", "meta.helm.sh/release-namespace": "apps"}))
			},
			want: []expect{
				{group: k, name: "StorageClasses", state: OK, message: []string{"exists"}},
				{group: k, name: "CSIDriver rbd.csi.ceph.com", state: Wrong},
			},
		},
		"UntaggedFilesystem": {
			reason: "a class names another filesystem than the default one",
			change: func(r *rig) {
				r.config.Filesystem = "myfs"
				r.ceph.AddFileSystem("shared", true)
				r.ceph.SetPoolMetadata("shared-data", "cephfs", "data", "former")
				r.objects = append(r.objects, class("files", "cephfs.csi.ceph.com", map[string]string{"fsName": "shared"}))
			},
			want: []expect{{group: k, name: "StorageClass files", state: Wrong, message: []string{`"shared"`}, fix: "ceph osd pool application set shared-data cephfs data shared"}},
		},
		"OwnClass": {
			reason: "the class that is there decides where volumes go",
			change: func(r *rig) {
				r.objects = append(r.objects, class("ceph-rbd", "rbd.csi.ceph.com", map[string]string{"pool": "vms"}))
			},
			want: []expect{{group: "RBD", name: "pool", state: OK, message: []string{"vms exists"}}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			tc.change(r)
			r.withCluster()
			if name == "OtherKey" {
				r.config.Keyring.Content = r.ceph.Keyring("admin")
			}
			verify(t, r.run(), tc.want)
		})
	}
}

// TestForbidden: what the kubeconfig may not read is unknown, not wrong.
func TestForbidden(t *testing.T) {
	r := newRig(t)
	r.withCluster()
	r.config.Cluster.Kube.(*fake.Clientset).PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetResource().Resource == "version" {
			return false, nil, nil
		}
		return true, nil, apierrors.NewForbidden(action.GetResource().GroupResource(), "x", errors.New("no"))
	})
	verify(t, r.run(), []expect{
		{group: "Kubernetes", name: "namespace", state: Unknown, message: []string{"forbidden"}},
		{group: "Kubernetes", name: "Secret ceph-credentials", state: Unknown},
		{group: "Kubernetes", name: "CSIDriver rbd.csi.ceph.com", state: Unknown},
		{group: "Kubernetes", name: "StorageClasses", state: Unknown},
	})
}

// TestNoAPIServer: one line is wrong, and Ceph is looked at all the same.
func TestNoAPIServer(t *testing.T) {
	r := newRig(t)
	r.withCluster()
	r.config.Cluster.Kube.(*fake.Clientset).PrependReactor("*", "version", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("connection refused")
	})
	verify(t, r.run(), []expect{
		{group: "Kubernetes", name: "API server", state: Wrong, message: []string{"connection refused"}, fix: "oc --kubeconfig a.kubeconfig get --raw /version"},
		{group: "Kubernetes", name: "SCC privileged", state: Unknown},
		{group: "RBD", name: "pool", state: OK},
	})
}
