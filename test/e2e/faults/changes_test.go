package faults

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/sample"
)

// change is what an administrator does, and what takes it back.
type change struct {
	name     string
	do, undo func(ctx context.Context)
	// prepare makes what it needs until its spec ends, if anything.
	prepare func(ctx context.Context)
	// begun is by when the operator has begun to act, where that takes longer than others.
	begun time.Duration
	// backOnly has faults on the way back alone, thereOnly on the way there.
	backOnly, thereOnly bool
}

// some are those of a driver that are tried: all in a soak, else a sample. On one of slowDays, a slow one takes the
// place of another.
func some(d driver.Driver, random *rand.Rand) []change {
	slow := []change{upgraded(d), restored(d)}
	out := sample.Of(changes(d), sampledChanges, random)
	switch {
	case sample.Soaking():
		out = append(out, slow...)
	case random.IntN(slowDays) == 0:
		out[len(out)-1] = slow[random.IntN(len(slow))]
	}
	for i := range out {
		out[i].name = d.Kind + ", " + out[i].name
	}
	return out
}

func changes(d driver.Driver) []change {
	setting := map[string]map[string]any{driver.RBD.Name: {"mapOptions": "krbd:rxbounce"}, driver.CephFS.Name: {"kernelMountOptions": "ms_mode=prefer-crc"}}[d.Name]
	level := func(level operatorv1.LogLevel) func(context.Context) {
		return func(ctx context.Context) { patch(ctx, d, "/spec/logLevel", level) }
	}
	nothing := func(context.Context) {}
	return []change{
		{name: "a parameter of the class", prepare: given(d), do: func(ctx context.Context) { configure(ctx, d, setting) }, undo: func(ctx context.Context) { configure(ctx, d, nil) }},
		{name: "the log level", do: level(operatorv1.Debug), undo: level(operatorv1.Normal)},
		{name: "the credentials", do: func(ctx context.Context) {
			Expect(env.Kube.CoreV1().Secrets(driver.Namespace).Delete(ctx, driver.CredentialsSecret, metav1.DeleteOptions{})).To(Succeed())
		}, undo: func(ctx context.Context) { env.Declare(ctx, env.Credentials()) }},
		{name: "what somebody has deleted", do: func(ctx context.Context) { deleteOperands(ctx, d) }, undo: nothing},
		{name: "a class of snapshots that somebody has deleted", do: func(ctx context.Context) {
			Expect(env.Snapshots.SnapshotV1().VolumeSnapshotClasses().Delete(ctx, d.SnapshotClass, metav1.DeleteOptions{})).To(Succeed())
		}, undo: nothing},
		{name: "the cluster's proxy", do: func(ctx context.Context) {
			Expect(env.Cluster.SetProxy(ctx, configv1.ProxyStatus{HTTPProxy: "http://proxy.example.com:3128", NoProxy: ".cluster.local"})).To(Succeed())
		}, undo: func(ctx context.Context) {
			Expect(env.Cluster.SetProxy(ctx, configv1.ProxyStatus{})).To(Succeed())
		}},
		{name: "a pool that a class of a user's wants", do: func(ctx context.Context) { createClass(ctx, d) }, undo: func(ctx context.Context) {
			Expect(env.Kube.StorageV1().StorageClasses().Delete(ctx, another(d), metav1.DeleteOptions{})).To(Succeed())
		}},
		{name: "Unmanaged and back", do: func(ctx context.Context) {
			patch(ctx, d, "/spec/managementState", operatorv1.Unmanaged)
			deleteOperands(ctx, d)
			patch(ctx, d, "/spec/managementState", operatorv1.Managed)
		}, undo: nothing},
		{name: "Removed and back, with volumes", prepare: given(d), do: func(ctx context.Context) {
			patch(ctx, d, "/spec/managementState", operatorv1.Removed)
		}, undo: func(ctx context.Context) {
			patch(ctx, d, "/spec/managementState", operatorv1.Managed)
		}},
		{name: "keys of the driver's users", do: func(ctx context.Context) { deleteUsers(ctx, d) }, undo: nothing, begun: noticed},
		{name: "the operator's user", do: func(ctx context.Context) { env.Declare(ctx, rotated()) }, undo: func(ctx context.Context) { env.Declare(ctx, env.Credentials()) }},
		monReplaced(), secondCluster(d),
	}
}

// another is a pool, and a class that wants it: for volumes, or for their data.
func another(d driver.Driver) string { return "another-" + d.Kind }

func createClass(ctx context.Context, d driver.Driver) {
	GinkgoHelper()
	class, err := env.Kube.StorageV1().StorageClasses().Get(ctx, d.StorageClass, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	parameters := class.Parameters
	parameters["pool"] = another(d)
	_, err = env.Kube.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: another(d)}, Provisioner: d.Name, Parameters: parameters,
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// given has an administrator give the StorageClass what is not the operator's, and what must be there again when the
// class was made anew.
func given(d driver.Driver) func(context.Context) {
	const own = `{"metadata":{"annotations":{"storageclass.kubernetes.io/is-default-class":"false","example.com/note":"for databases"},"labels":{"example.com/team":"storage"}}}`
	return func(ctx context.Context) {
		GinkgoHelper()
		_, err := env.Kube.StorageV1().StorageClasses().Patch(ctx, d.StorageClass, types.MergePatchType, []byte(own), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
}

// configure sets the driver's settings, of which one is there always.
func configure(ctx context.Context, d driver.Driver, ceph map[string]any) {
	GinkgoHelper()
	all := map[string]any{"withdrawAfter": "5s"}
	maps.Copy(all, ceph)
	patch(ctx, d, "/spec/driverConfig", map[string]any{"driverType": driver.DriverType, "ceph": all})
}

// patch sets a member of a ClusterCSIDriver.
func patch(ctx context.Context, d driver.Driver, path string, value any) {
	GinkgoHelper()
	text, err := json.Marshal([]map[string]any{{"op": "add", "path": path, "value": value}})
	Expect(err).NotTo(HaveOccurred())
	_, err = env.Drivers.Patch(ctx, d.Name, types.JSONPatchType, text, metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// deleteOperands deletes most of what the operator made.
func deleteOperands(ctx context.Context, d driver.Driver) {
	GinkgoHelper()
	orphans := metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}
	core, apps, storage := env.Kube.CoreV1(), env.Kube.AppsV1(), env.Kube.StorageV1()
	for _, err := range []error{
		apps.Deployments(driver.Namespace).Delete(ctx, d.ControllerName(), orphans),
		apps.DaemonSets(driver.Namespace).Delete(ctx, d.NodeName(), orphans),
		storage.StorageClasses().Delete(ctx, d.StorageClass, orphans),
		storage.CSIDrivers().Delete(ctx, d.Name, orphans),
		env.Snapshots.SnapshotV1().VolumeSnapshotClasses().Delete(ctx, d.SnapshotClass, orphans),
		core.Secrets(driver.Namespace).Delete(ctx, d.ConfigSecret(), orphans),
		core.Secrets(driver.Namespace).Delete(ctx, d.NodeSecret(), orphans),
		core.Secrets(driver.Namespace).Delete(ctx, d.ProvisionerSecret(), orphans),
	} {
		if !apierrors.IsNotFound(err) {
			Expect(err).NotTo(HaveOccurred())
		}
	}
}
