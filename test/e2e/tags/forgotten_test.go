package tags

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
)

// teardown runs the command beside the living cluster, with ceph.conf and keyring from its
// Secret.
func teardown(ctx context.Context, arguments ...string) (reasons map[string]string, code int) {
	GinkgoHelper()
	return report(ctx, append(arguments, "--kubeconfig="+env.Cluster.AdminKubeconfig())...)
}

// teardownAlone runs it without Kubernetes.
func teardownAlone(ctx context.Context, arguments ...string) (reasons map[string]string, code int) {
	GinkgoHelper()
	daemons := env.Cluster.Ceph()
	return report(ctx, append(arguments, "--ceph-conf="+daemons.ConfFile(), "--keyring="+daemons.KeyringFile())...)
}

// report has the reasons by verdict and name.
func report(ctx context.Context, arguments ...string) (reasons map[string]string, code int) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	binary, err := operatorprocess.Binary()
	Expect(err).NotTo(HaveOccurred())
	cmd := exec.CommandContext(ctx, binary, append([]string{"teardown", "-o", "json"}, arguments...)...)
	cmd.Env = []string{"TMPDIR=" + GinkgoT().TempDir()}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	var report struct {
		Items []struct{ Name, Verdict, Reason string }
	}
	Expect(json.Unmarshal(out.Bytes(), &report)).To(Succeed(), out.String()+errs.String())
	reasons = map[string]string{}
	for _, i := range report.Items {
		reasons[i.Verdict+" "+i.Name] = i.Reason
	}
	return reasons, cmd.ProcessState.ExitCode()
}

func forgotten(k kind) {
	It("that no object names are told of by teardown --orphans, which removes none", func(ctx SpecContext) {
		name, living, lost := k.driver.Kind+"-living", k.uuid(6, 1), k.uuid(7, 1)
		k.makeAll(ctx, living, lost)
		k.volume(ctx, name, living, corev1.PersistentVolumeReclaimDelete)
		k.has(ctx, living, own(name))
		for key, value := range owned(k.driver, own("lost")) {
			Expect(k.set(ctx, lost, key, value)).To(Succeed())
		}
		young, code := teardown(ctx, "--infra-id="+infraID, "--orphans")
		Expect(code).To(Equal(0))
		Expect(young).NotTo(HaveKey("keep csi-vol-"+lost), "it may be on its way")
		all, code := teardown(ctx, "--infra-id="+infraID, "--orphans", "--older-than=0s")
		Expect(code).To(Equal(0))
		Expect(all).To(HaveKeyWithValue("keep csi-vol-"+lost, ContainSubstring("lost")))
		Expect(all).NotTo(HaveKey("keep csi-vol-" + living))
		k.has(ctx, lost, own("lost"))
	})

	It("are removed one by one with the infra ID typed again, because the cluster lives, and others are not", func(ctx SpecContext) {
		name, living, lost := k.driver.Kind+"-named", k.uuid(9, 1), k.uuid(10, 1)
		k.makeAll(ctx, living, lost)
		handle := k.volume(ctx, name, living, corev1.PersistentVolumeReclaimDelete).Spec.CSI.VolumeHandle
		k.has(ctx, living, own(name))
		for key, value := range own("lost") {
			Expect(k.set(ctx, lost, key, value)).To(Succeed())
		}
		arguments := []string{"--infra-id=" + infraID, "--yes", "--volume=" + handle, "--volume=" + strings.TrimSuffix(handle, living) + lost}
		refused, code := teardown(ctx, arguments...)
		Expect(code).To(Equal(3))
		Expect(refused).To(HaveKeyWithValue("refuse csi-vol-"+lost, And(ContainSubstring("the cluster lives"), ContainSubstring("the operator of "+k.driver.Name))))
		forced, code := teardown(ctx, append(arguments, "--force-living="+infraID)...)
		Expect(code).To(Equal(3))
		Expect(forced).To(HaveKeyWithValue("refuse csi-vol-"+living, ContainSubstring("PersistentVolume "+name)))
		Expect(forced).To(HaveKey("remove csi-vol-" + lost))
		_, err := k.read(ctx, lost)
		Expect(err).To(HaveOccurred())
		k.has(ctx, living, own(name))
		remove(ctx, name)
	})

	It("of another cluster that a PersistentVolume of a living one names, are refused by teardown", func(ctx SpecContext) {
		name, uuid := k.driver.Kind+"-shared", k.uuid(8, 1)
		k.makeAll(ctx, uuid)
		for key, value := range map[string]string{ceph.TagCluster: "another-b4xk9", ceph.TagPV: "pvc-1"} {
			Expect(k.set(ctx, uuid, key, value)).To(Succeed())
		}
		alone, code := teardown(ctx, "--infra-id=another-b4xk9", "--dry-run")
		Expect(alone).To(HaveKey("remove csi-vol-" + uuid))
		Expect(code).To(Equal(3), "an earlier spec's volumes have no name of a PersistentVolume")
		k.volume(ctx, name, uuid, corev1.PersistentVolumeReclaimDelete)
		shared, code := teardown(ctx, "--infra-id=another-b4xk9", "--yes", "--unclaimed")
		Expect(code).To(Equal(3))
		Expect(shared).To(HaveKeyWithValue("refuse csi-vol-"+uuid, And(ContainSubstring(name), ContainSubstring(infraID))))
		k.has(ctx, uuid, map[string]string{ceph.TagCluster: "another-b4xk9", ceph.TagPV: "pvc-1"})
		remove(ctx, name)
		says(ctx, k.driver, operatorv1.ConditionTrue, "AsExpected")
	})
}
