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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/images"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/former"
)

// Images of the version that the cluster begins with: the operator's, and ceph-csi's.
const (
	formerImage       = "ceph-csi-driver-operator.test/former:1"
	formerDriverImage = "ceph-csi-driver-operator.test/former-driver:1"
)

// formerDriver is the newest release of ceph-csi with which the former version mounts CephFS: it makes users that may not
// keep what later ones note of mounts.
const formerDriver = "3.15"

// putBackEvery is how often the cluster version operator puts its CRD of ClusterCSIDrivers back.
const putBackEvery = 10 * time.Second

// before is the former version, present what is built from this checkout.
var before, present former.Release

// StartFormer gives the suite an OpenShift whose nodes have the images of both versions.
func StartFormer(ctx context.Context) {
	GinkgoHelper()
	version := fixture.BuildFormer(ctx)
	root, err := repository.Root()
	Expect(err).NotTo(HaveOccurred())
	before, err = former.NewRelease(ctx, repository.Release{
		Version: "4.22.0", Image: formerImage, DriverImage: formerDriverImage, Manifests: version.Manifests(),
	}, GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	present, err = former.NewRelease(ctx, repository.Release{
		Version: "4.23.0", Image: repository.Unreleased, Manifests: filepath.Join(root, "manifests"),
	}, GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	image, err := images.EnsureOperator(ctx, GinkgoWriter, formerImage, version.Binary())
	Expect(err).NotTo(HaveOccurred())
	older, err := images.EnsureDriver(ctx, GinkgoWriter, formerDriverImage, formerDriver)
	Expect(err).NotTo(HaveOccurred())
	Start(ctx, embedded.Options{WithoutOperatorRBAC: true}, image, older)
	env.RunVersions()
}

// Upgraded has pods write to volumes of both drivers on both nodes from the first to the last, and the stock CRD put
// back all the time: an administrator's patch of it holds for seconds.
func Upgraded() {
	// writers are the pods, and who they were when they began.
	writers := map[string]types.UID{}
	var began time.Time
	stop := func() {}
	AfterAll(func() { stop() })

	It("runs the former version, with pods that write on each node", func(ctx SpecContext) {
		installFormer(ctx)
		stop = env.PutStockCRDBackEach(context.WithoutCancel(ctx), putBackEvery)
		for _, pod := range startWriting(ctx) {
			writers[pod] = unbroken(ctx, pod)
		}
		began = time.Now()
	})

	for i, move := range []struct {
		does     string
		from, to *former.Release
	}{{"is upgraded", &before, &present}, {"is taken back", &present, &before}, {"is upgraded again", &before, &present}} {
		It("goes on writing while the operator "+move.does, func(ctx SpecContext) {
			choose(ctx, *move.from, i)
			begin := time.Now()
			moveTo(ctx, *move.to)
			figure("all is "+move.to.Version, begin)
			for pod, uid := range writers {
				Expect(unbroken(ctx, pod)).To(Equal(uid), pod)
			}
			expectOnlyKept(ctx, i)
			forBoth(func(d driver.Driver) {
				begin := time.Now()
				c := claimed{name: fmt.Sprintf("new-%d-%s", i, d.Kind), class: d.StorageClass}
				useNew(ctx, c, nodes[i%len(nodes)])
				figure(d.Kind+" volume claimed, mounted and written then", begin)
			})
		})
	}

	It("lost no setting, if only for a moment", func() {
		for _, c := range choices {
			Expect(env.Shown(c.StorageClass, c.setting, began)).To(Equal(c.values[:]), "what the classes have shown, one after the other")
		}
	})

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

// installFormer does so on a patched CRD: without that, there would be no ClusterCSIDrivers.
func installFormer(ctx context.Context) {
	GinkgoHelper()
	env.Kubectl(ctx, "apply", "-f", "test/e2e/node/snapshot-controller.yaml")
	env.PutStockCRDBack(ctx)
	patchCRD(ctx, Default, before)
	begin := time.Now()
	env.Kubectl(ctx, "apply", "-f", before.Folder)
	env.Declare(ctx, env.Credentials())
	expectVersion(ctx, before, begin)
	env.Settle(ctx)
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

// moveTo applies the manifests of a release, and waits until the cluster reports it.
func moveTo(ctx context.Context, to former.Release) {
	GinkgoHelper()
	begin := time.Now()
	env.Kubectl(ctx, "apply", "-f", to.Folder)
	expectVersion(ctx, to, begin)
}

// expectVersion waits until the cluster reports a release whose manifests were applied.
func expectVersion(ctx context.Context, to former.Release, begin time.Time) {
	GinkgoHelper()
	// A version whose roles are not there yet, or no longer, is refused what it asks for.
	defer func() { env.Lawless(begin, time.Now()) }()
	Eventually(func(g Gomega) {
		o := env.ClusterOperator(ctx, g)
		g.Expect(o.Status.Versions).To(ConsistOf(configv1.OperandVersion{Name: "operator", Version: to.Version}))
		for kind, wanted := range map[configv1.ClusterStatusConditionType]string{
			configv1.OperatorAvailable: "True", configv1.OperatorProgressing: "False", configv1.OperatorUpgradeable: "True",
		} {
			status, message := fixture.Status(o, kind)
			g.Expect(status).To(Equal(wanted), "%s: %s", kind, message)
		}
	}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
}

// choices are the settings, and what they are set to before each move, as the classes show it.
var choices = []struct {
	driver.Driver
	setting string
	values  [3]string
}{
	{driver.RBD, "imageFeatures", [3]string{"layering", "layering,exclusive-lock", "layering,deep-flatten"}},
	{driver.CephFS, "kernelMountOptions", [3]string{"noatime", "nodiratime", "relatime"}},
}

// choose sets them until the operator goes by them and remembers that: the CRD that knows them may be gone at any moment.
func choose(ctx context.Context, running former.Release, turn int) {
	GinkgoHelper()
	for _, c := range choices {
		Eventually(func(g Gomega) {
			patchCRD(ctx, g, running)
			_, err := env.Configure(ctx, c.Driver, map[string]any{c.setting: c.values[turn]})
			g.Expect(err).NotTo(HaveOccurred())
			expectParameter(ctx, g, c.StorageClass, c.setting, c.values[turn])
			remembered, err := env.Kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, c.StateConfigMap(), metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(remembered.Data["settings"]).To(ContainSubstring(`"` + c.values[turn] + `"`))
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).WithPolling(time.Second).Should(Succeed())
	}
}

// patchCRD is what an administrator does who has a release.
func patchCRD(ctx context.Context, g Gomega, of former.Release) {
	GinkgoHelper()
	env.TryKubectl(ctx, g, "patch", "crd", fixture.DriverCRD, "--type=json", "--patch-file", of.Patch)
}

// expectOnlyKept waits until nobody but the operator has the settings any more, and looks whether it goes by them.
func expectOnlyKept(ctx context.Context, turn int) {
	GinkgoHelper()
	for _, c := range choices {
		Eventually(func(g Gomega) {
			cr, err := env.DriverResources().Get(ctx, c.Name, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			_, found, err := unstructured.NestedMap(cr.Object, "spec", "driverConfig", "ceph")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(found).To(BeFalse(), "the CRD is put back")
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
		expectParameter(ctx, Default, c.StorageClass, c.setting, c.values[turn])
	}
}

func expectParameter(ctx context.Context, g Gomega, class, name, value string) {
	GinkgoHelper()
	c, err := env.Kube.StorageV1().StorageClasses().Get(ctx, class, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Parameters).To(HaveKeyWithValue(name, value))
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
