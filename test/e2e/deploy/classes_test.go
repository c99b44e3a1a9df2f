package deploy

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
)

const (
	rbdPool   = embedded.DefaultInfrastructureName + "-rbd"
	namespace = driver.Namespace
)

// place is where volumes of the default classes go.
var place = map[string]func() map[string]string{
	driver.RBD.Name: func() map[string]string {
		return map[string]string{"clusterID": env.Cluster.Ceph().FSID(), "pool": rbdPool}
	},
	driver.CephFS.Name: func() map[string]string {
		return map[string]string{"clusterID": env.Cluster.Ceph().FSID(), "fsName": cephdaemons.Filesystem}
	},
}

// secretParameters are the names by which the sidecars find a cephx Secret.
func secretParameters(name string, purposes ...string) map[string]string {
	out := map[string]string{}
	for _, p := range purposes {
		out["csi.storage.k8s.io/"+p+"-secret-name"] = name
		out["csi.storage.k8s.io/"+p+"-secret-namespace"] = namespace
	}
	return out
}

func contain(all map[string]string, wanted map[string]string) {
	GinkgoHelper()
	for key, value := range wanted {
		Expect(all).To(HaveKeyWithValue(key, value))
	}
}

var _ = Describe("Classes", func() {
	isDefault := map[string]string{driver.RBD.Name: "true", driver.CephFS.Name: ""}

	for _, d := range driver.All {
		It("for volumes name the Ceph cluster, the place and the Secrets: "+d.Name, func(ctx SpecContext) {
			class, err := env.Kube.StorageV1().StorageClasses().Get(ctx, d.StorageClass, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(class.Provisioner).To(Equal(d.Name))
			Expect(class.Annotations["storageclass.kubernetes.io/is-default-class"]).To(Equal(isDefault[d.Name]))
			Expect(*class.AllowVolumeExpansion).To(BeTrue())
			contain(class.Parameters, place[d.Name]())
			contain(class.Parameters, secretParameters(d.ProvisionerSecret(), "provisioner", "controller-expand", "controller-publish"))
			contain(class.Parameters, secretParameters(d.NodeSecret(), "node-stage"))
		})

		It("for snapshots are the default and name the Ceph cluster and the Secret: "+d.Name, func(ctx SpecContext) {
			class, err := env.Snapshots.SnapshotV1().VolumeSnapshotClasses().Get(ctx, d.SnapshotClass, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(class.Driver).To(Equal(d.Name))
			Expect(class.Annotations).To(HaveKeyWithValue("snapshot.storage.kubernetes.io/is-default-class", "true"))
			Expect(class.Parameters).To(HaveKeyWithValue("clusterID", env.Cluster.Ceph().FSID()))
			contain(class.Parameters, secretParameters(d.ProvisionerSecret(), "snapshotter"))
		})

		It("for group snapshots name the Ceph cluster, the place and the Secret: "+d.Name, func(ctx SpecContext) {
			groups := schema.GroupVersionResource{Group: "groupsnapshot.storage.k8s.io", Version: "v1beta2", Resource: "volumegroupsnapshotclasses"}
			class, err := env.Dynamic.Resource(groups).Get(ctx, d.SnapshotClass, metav1.GetOptions{})
			release, unknown := env.Cluster.Ceph().Version(ctx)
			Expect(unknown).NotTo(HaveOccurred())
			if d.QuiescesGroups && !ceph.Quiesces(release) {
				Expect(apierrors.IsNotFound(err)).To(BeTrue(), "Ceph %s takes no snapshots of groups of volumes: %v", release, err)
				return
			}
			Expect(err).NotTo(HaveOccurred())
			parameters, _, err := unstructured.NestedStringMap(class.Object, "parameters")
			Expect(err).NotTo(HaveOccurred())
			contain(parameters, place[d.Name]())
			contain(parameters, secretParameters(d.ProvisionerSecret(), "group-snapshotter"))
		})
	}
})
