package faults

import (
	"context"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// neighbour is another OpenShift cluster in the same Ceph cluster, and a release of ceph-csi's Helm charts in the same
// Kubernetes cluster. The names of all that is theirs have it, but for volumes.
const neighbour = "neighbour-x1y2z"

var (
	// theirs are the neighbour's volumes, inKubernetes its objects.
	theirs       *volumes.Cluster
	inKubernetes *fixture.Bystanders
)

// createNeighbour makes what the neighbour has, until the suite ends.
func createNeighbour(ctx context.Context) {
	GinkgoHelper()
	server := env.Cluster.Ceph()
	command := func(arguments ...string) {
		GinkgoHelper()
		_, err := server.Command(ctx, arguments...)
		Expect(err).NotTo(HaveOccurred())
	}
	Expect(server.CreatePool(ctx, neighbour, driver.RBD.Kind)).To(Succeed())
	for key, value := range map[string]string{driver.ProtectionKey: "", driver.ClaimKey(neighbour, driver.RBD.Kind): driver.ClaimInUse} {
		command("osd", "pool", "application", "set", neighbour, driver.RBD.Kind, key, value)
	}
	command("osd", "pool", "set", neighbour, "nodelete", "true")
	command("auth", "get-or-create", "client.csi-rbd-node."+neighbour, "mon", "profile rbd", "osd", "profile rbd pool="+neighbour)

	command("fs", "subvolumegroup", "create", cephdaemons.Filesystem, neighbour)

	theirs = csi.Cluster(neighbour, 2)
	image, err := theirs.Image(volumes.Class{Place: volumes.Place{Pool: neighbour}, Features: volumes.Layering}, "image")
	Expect(err).NotTo(HaveOccurred())
	_, err = theirs.ImageSnapshot(image, "of-image")
	Expect(err).NotTo(HaveOccurred())
	_, err = theirs.Subvolume(volumes.FileClass{Filesystem: cephdaemons.Filesystem, Group: neighbour, Namespace: neighbour}, "subvolume")
	Expect(err).NotTo(HaveOccurred())

	inKubernetes = env.Bystanders()
	for of, object := range map[schema.GroupVersionResource]string{
		{Version: "v1", Resource: "namespaces"}:                          `{apiVersion: v1, kind: Namespace, metadata: {name: ` + neighbour + `}}`,
		{Group: "storage.k8s.io", Version: "v1", Resource: "csidrivers"}: `{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: rbd.` + neighbour + `.example.com}}`,
		{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}: `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: ` + neighbour + `},
			provisioner: rbd.` + neighbour + `.example.com, parameters: {clusterID: ` + server.FSID() + `, pool: ` + neighbour + `}}`,
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}: `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole,
			metadata: {name: ` + neighbour + `-ceph-csi-rbd-provisioner}, rules: [{apiGroups: [""], resources: [persistentvolumes], verbs: [get, list]}]}`,
	} {
		inKubernetes.Create(ctx, of, "", object)
	}
	inKubernetes.Create(ctx, schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, neighbour, `{apiVersion: v1, kind: ConfigMap,
		metadata: {name: ceph-csi-config}, data: {config.json: '[{"clusterID": "`+server.FSID()+`", "monitors": ["`+server.MonHost("a")+`"]}]'}}`)
}

// trespasses are the writes that name something of the neighbour's.
func trespasses(writes ...string) []string { return naming(writes, append(theirs.Words(), neighbour)) }

// record starts the name of the object that an operator says in that it runs. `uninstall` looks for it in every pool.
const record = "/running." + embedded.DefaultInfrastructureName + "."

func naming(writes, words []string) []string {
	return slices.DeleteFunc(slices.Clone(writes), func(w string) bool {
		return strings.Contains(w, record) || !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(w, word) })
	})
}

func TestNaming(t *testing.T) {
	foreign := []string{
		"DELETE /apis/storage.k8s.io/v1/storageclasses/" + neighbour,
		`{"prefix":"osd pool set","pool":"` + neighbour + `","var":"nodelete","val":"false"}`,
		"rbd metadata_set csi-vol-11 csi.ceph.com/cluster/name",
		"change object " + neighbour + "/csi.volumes.default",
	}
	writes := append([]string{"DELETE /apis/storage.k8s.io/v1/storageclasses/ceph-rbd", "remove object " + neighbour + record + "rbd", "rbd metadata_set csi-vol-22 csi.ceph.com/cluster/name"}, foreign...)
	if got := naming(writes, []string{"11", neighbour}); !slices.Equal(got, foreign) {
		t.Errorf("got %q, want %q", got, foreign)
	}
}
