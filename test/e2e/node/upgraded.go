package node

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/images"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/former"
)

// formerImage is the operator's of the version that the cluster begins with.
const formerImage = "ceph-csi-driver-operator.test/former:1"

// formerDriver is the newest release of ceph-csi with which the former version mounts CephFS: it makes users that may not
// keep what later ones note of mounts.
const formerDriver = "3.15"

// stock is the CRD of ClusterCSIDrivers that OpenShift's cluster version operator puts back.
const stock = "vendor/github.com/openshift/api/operator/v1/zz_generated.crd-manifests/0000_50_csi-driver_01_clustercsidrivers-Default.crd.yaml"

// before is the former version, present what is built from this checkout.
var before, present former.Release

// StartFormer gives the suite a cluster without OpenShift whose nodes have the images of both versions.
func StartFormer(ctx context.Context) {
	GinkgoHelper()
	version := fixture.BuildFormer(ctx)
	root, err := repository.Root()
	Expect(err).NotTo(HaveOccurred())
	before, err = former.NewRelease("4.22.0", formerImage, filepath.Join(version.Manifests(), "kubernetes"), GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	present, err = former.NewRelease("4.23.0", former.UnreleasedImage, filepath.Join(root, "manifests", "kubernetes"), GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	image, err := images.EnsureOperator(ctx, GinkgoWriter, formerImage, version.Binary())
	Expect(err).NotTo(HaveOccurred())
	older, err := images.EnsureDriver(ctx, GinkgoWriter, formerDriver)
	Expect(err).NotTo(HaveOccurred())
	Start(ctx, embedded.Options{Plain: true}, image, older)
	env.RunVersions()
}

// Upgraded has pods write to volumes of both drivers on both nodes from the first to the last, and the stock CRD put
// back after each of the commands that patch it.
func Upgraded() {
	// writers are the pods, and who they were when they began.
	writers := map[string]types.UID{}
	var began time.Time

	It("runs the former version, with pods that write on each node", func(ctx SpecContext) {
		env.Kubectl(ctx, "apply", "-f", "test/e2e/node/snapshot-controller.yaml")
		begin := time.Now()
		env.Kubectl(ctx, "apply", "-f", before.Folder)
		env.Declare(ctx, env.Credentials())
		expectVersion(ctx, before, begin)
		env.Settle(ctx)
		choose(ctx)
		for _, pod := range startWriting(ctx) {
			writers[pod] = unbroken(ctx, pod)
		}
	})

	for i, move := range []struct {
		does string
		to   *former.Release
	}{{"is upgraded", &present}, {"is taken back", &before}, {"is upgraded again", &present}} {
		It("goes on writing while the operator "+move.does, func(ctx SpecContext) {
			begin := time.Now()
			if i == 0 {
				began = begin
			}
			moveTo(ctx, *move.to)
			figure("all is "+move.to.Version, begin)
			for pod, uid := range writers {
				Expect(unbroken(ctx, pod)).To(Equal(uid), pod)
			}
			expectChosen(ctx)
			forBoth(func(d driver.Driver) {
				begin := time.Now()
				c := claimed{name: fmt.Sprintf("new-%d-%s", i, d.Kind), class: d.StorageClass}
				useNew(ctx, c, nodes[i%len(nodes)])
				figure(d.Kind+" volume claimed, mounted and written then", begin)
			})
		})
	}

	It("was Available all the time, and no write has failed", func(ctx SpecContext) {
		unavailable, said := fixture.Unavailable(slices.DeleteFunc(env.ClusterOperators(), func(v fixture.Version) bool { return v.At.Before(began) }))
		note(fmt.Sprintf("%5.1f s  without Available", unavailable.Seconds()))
		for pod, uid := range writers {
			Expect(unbroken(ctx, pod)).To(Equal(uid), pod)
			written := ended(ctx, pod)
			Expect(written).NotTo(BeEmpty(), "%s has not ended as it was told", pod)
			note(pod + " wrote " + written)
		}
		Expect(said).To(BeEmpty())
	})
}

// startWriting starts a pod for each driver on each node.
func startWriting(ctx context.Context) []string {
	GinkgoHelper()
	var pods []string
	for _, d := range driver.All {
		for _, on := range nodes {
			c := claimed{name: "log-" + d.Kind + "-" + on, class: d.StorageClass}
			claim(ctx, c)
			pods = append(pods, create(ctx, c, on, "append", file))
		}
	}
	expectRunning(ctx, pods...)
	return pods
}

// useNew claims a volume, which a pod writes to.
func useNew(ctx context.Context, c claimed, on string) {
	GinkgoHelper()
	claim(ctx, c)
	pod := hold(ctx, c, on)
	do(ctx, pod, "write", file, mebibyte, c.name)
	end(ctx, pod)
}

// moveTo applies the manifests of a release, whose CRD does not stay, and waits until the cluster reports it.
func moveTo(ctx context.Context, to former.Release) {
	GinkgoHelper()
	begin := time.Now()
	env.Kubectl(ctx, "apply", "-f", to.Folder)
	env.Kubectl(ctx, "replace", "-f", stock)
	expectVersion(ctx, to, begin)
}

// expectVersion waits until the cluster reports a release whose manifests were applied.
func expectVersion(ctx context.Context, to former.Release, begin time.Time) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		o := env.ClusterOperator(ctx, g)
		g.Expect(o.Status.Versions).To(ConsistOf(configv1.OperandVersion{Name: "operator", Version: to.Version}))
		for kind, wanted := range map[configv1.ClusterStatusConditionType]string{configv1.OperatorAvailable: "True", configv1.OperatorProgressing: "False"} {
			status, message := fixture.Status(o, kind)
			g.Expect(status).To(Equal(wanted), "%s: %s", kind, message)
		}
	}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	// A version whose roles are not there yet, or no longer, is refused what it asks for.
	env.Lawless(begin, time.Now())
}

// chosen are what an administrator sets while the CRD knows it, and the parameters of the classes that show it.
var chosen = map[string]struct{ setting, parameter, value string }{
	driver.RBD.Name:    {`{"imageFeatures":"layering"}`, "imageFeatures", "layering"},
	driver.CephFS.Name: {`{"kernelMountOptions":"noatime"}`, "kernelMountOptions", "noatime"},
}

func choose(ctx context.Context) {
	GinkgoHelper()
	env.Kubectl(ctx, "apply", "-f", filepath.Join(before.Folder, "00_crd_clustercsidrivers.yaml"))
	for _, d := range driver.All {
		patch := `{"spec":{"driverConfig":{"driverType":"Ceph","ceph":` + chosen[d.Name].setting + `}}}`
		env.Kubectl(ctx, "patch", "clustercsidriver", d.Name, "--type=merge", "-p", patch)
	}
	expectChosen(ctx)
	env.Kubectl(ctx, "replace", "-f", stock)
}

// expectChosen waits for the classes that show the settings.
func expectChosen(ctx context.Context) {
	GinkgoHelper()
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			class, err := env.Kube.StorageV1().StorageClasses().Get(ctx, d.StorageClass, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(class.Parameters).To(HaveKeyWithValue(chosen[d.Name].parameter, chosen[d.Name].value))
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	}
}

// unbroken is who a pod is that goes on writing, with its first container still.
func unbroken(ctx context.Context, pod string) types.UID {
	GinkgoHelper()
	expectWriting(ctx, pod)
	p, err := env.Kube.CoreV1().Pods(metav1.NamespaceDefault).Get(ctx, pod, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	Expect(p.Status.ContainerStatuses).To(HaveEach(HaveField("RestartCount", BeZero())))
	return p.UID
}

var lastLine = regexp.MustCompile(`(?m)^\d+ lines, longest pause .*$`)

// ended deletes a pod that appends, and returns what it says in the end. It says something else of a
// write that failed.
func ended(ctx context.Context, pod string) string {
	GinkgoHelper()
	log, err := env.Kube.CoreV1().Pods(metav1.NamespaceDefault).GetLogs(pod, &corev1.PodLogOptions{Follow: true}).Stream(ctx)
	Expect(err).NotTo(HaveOccurred())
	defer log.Close()
	end(ctx, pod)
	text, err := io.ReadAll(log)
	Expect(err).NotTo(HaveOccurred())
	return lastLine.FindString(string(text))
}
