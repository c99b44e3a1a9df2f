package glue

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// The cluster version operator puts its CRD back each putBackEvery, for putBackFor at least.
const (
	putBackEvery = 10 * time.Second
	putBackFor   = 2 * time.Minute
)

// edited is a setting of a driver, as its class shows it, with what it is set to in turn.
type edited struct {
	driver.Driver
	name   string
	values []string
	// logLevel is what the driver has before and after.
	logLevel operatorv1.LogLevel
}

var edits = []edited{
	{driver.RBD, "mapOptions", []string{"krbd:rxbounce", "krbd:noudev", "krbd:rxbounce,noudev"}, operatorv1.Trace},
	{driver.CephFS, "kernelMountOptions", []string{"noatime", "nodiratime", "noatime,nodiratime"}, operatorv1.Debug},
}

// putBack exercises everything meanwhile.
func putBack() {
	It("loses no setting, and complains of nothing, while the stock CRD is put back again and again and all operators are restarted", func(ctx SpecContext) {
		begin := time.Now()
		set := map[string][]string{}
		for _, e := range edits {
			set[e.Name] = []string{e.values[len(e.values)-1]}
			e.configure(ctx, set[e.Name][0])
		}
		DeferCleanup(env.PatchDriverCRD, Default)
		stop := env.PutStockCRDBackEach(ctx, putBackEvery)
		DeferCleanup(stop)
		for round := 0; time.Since(begin) < putBackFor; round++ {
			for _, e := range edits {
				inSpec, inAnnotation := e.values[2*round%len(e.values)], e.values[(2*round+1)%len(e.values)]
				set[e.Name] = append(set[e.Name], inSpec, inAnnotation)
				e.setMember(ctx, inSpec)
				e.setAnnotation(ctx, inAnnotation)
				e.setLogLevel(ctx, []operatorv1.LogLevel{operatorv1.Normal, e.logLevel}[round%2])
			}
			restartOperators(ctx)
			for _, e := range edits {
				e.expectInForce(ctx, Default, set[e.Name][len(set[e.Name])-1])
			}
			env.Settle(ctx)
			Eventually(func(g Gomega) { env.ExpectStatus(ctx, g, "True", "False", "False") }).WithContext(ctx).Should(Succeed())
		}
		stop()
		for _, e := range edits {
			Expect(env.Shown(e.StorageClass, e.name, begin)).To(Equal(set[e.Name]), "what the classes have shown, one after the other")
		}
		Expect(complaints(begin)).To(BeEmpty())
		env.PatchDriverCRD(ctx, Default)
		for _, e := range edits {
			e.takeBack(ctx)
		}
		env.Settle(ctx)
	})
}

// configure edits the spec, on a CRD that knows it, until the operator has seen that.
func (e edited) configure(ctx context.Context, value string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		env.PatchDriverCRD(ctx, g)
		_, err := env.Configure(ctx, e.Driver, map[string]any{e.name: value})
		g.Expect(err).NotTo(HaveOccurred())
		cr, err := env.DriverResources().Get(ctx, e.Name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(cr.GetAnnotations()[driver.SettingsAnnotation]).To(ContainSubstring(`"` + value + `"`))
	}).WithContext(ctx).WithPolling(time.Second).Should(Succeed())
	e.awaitInForce(ctx, value)
}

// setMember does so while that CRD does not stay, and waits until the setting is in force without it.
func (e edited) setMember(ctx context.Context, value string) {
	GinkgoHelper()
	e.configure(ctx, value)
	Eventually(func(g Gomega) {
		cr, err := env.DriverResources().Get(ctx, e.Name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		_, found, err := unstructured.NestedMap(cr.Object, "spec", "driverConfig", "ceph")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found).To(BeFalse(), "the CRD is put back")
	}).WithContext(ctx).Should(Succeed())
	e.expectInForce(ctx, Default, value)
}

func (e edited) setAnnotation(ctx context.Context, value string) {
	GinkgoHelper()
	env.Kubectl(ctx, "annotate", "clustercsidriver", e.Name, "--overwrite", driver.SettingsAnnotation+`={"`+e.name+`":"`+value+`"}`)
	e.awaitInForce(ctx, value)
}

func (e edited) expectInForce(ctx context.Context, g Gomega, value string) {
	GinkgoHelper()
	class, err := env.Kube.StorageV1().StorageClasses().Get(ctx, e.StorageClass, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(class.Parameters).To(HaveKeyWithValue(e.name, value))
}

func (e edited) awaitInForce(ctx context.Context, value string) {
	GinkgoHelper()
	Eventually(func(g Gomega) { e.expectInForce(ctx, g, value) }).WithContext(ctx).Should(Succeed())
}

// setLogLevel waits for the pods and for the status, which tells of which generation they are.
func (e edited) setLogLevel(ctx context.Context, level operatorv1.LogLevel) {
	GinkgoHelper()
	before := env.Controller(ctx, Default, e.Driver).Generation
	_, err := env.Drivers.Patch(ctx, e.Name, types.MergePatchType, []byte(`{"spec":{"logLevel":"`+string(level)+`"}}`), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
	Eventually(func(g Gomega) {
		now := env.Controller(ctx, g, e.Driver).Generation
		g.Expect(now).To(BeNumerically(">", before), "log level %s", level)
		cr, err := env.Drivers.Get(ctx, e.Name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(cr.Status.Generations).To(ContainElement(And(HaveField("Name", e.ControllerName()), HaveField("LastGeneration", now))))
	}).WithContext(ctx).Should(Succeed())
}

// takeBack leaves the driver as it was.
func (e edited) takeBack(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		_, err := env.Configure(ctx, e.Driver, nil)
		g.Expect(err).NotTo(HaveOccurred())
		env.TryKubectl(ctx, g, "annotate", "clustercsidriver", e.Name, driver.SettingsAnnotation+"-")
		class, err := env.Kube.StorageV1().StorageClasses().Get(ctx, e.StorageClass, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(class.Parameters).NotTo(HaveKey(e.name))
	}).WithContext(ctx).WithPolling(time.Second).Should(Succeed())
	_, err := env.Drivers.Patch(ctx, e.Name, types.MergePatchType, []byte(`{"spec":{"logLevel":"`+string(e.logLevel)+`"}}`), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// restartOperators has `cluster-storage` and the operators begin anew, and waits until the new ones lead.
func restartOperators(ctx context.Context) {
	GinkgoHelper()
	leaders := env.RestartPods(ctx)
	Eventually(func(g Gomega) {
		for _, name := range []string{fixture.GlueAccount, driver.RBD.OperatorName(), driver.CephFS.OperatorName()} {
			lease, err := env.Kube.CoordinationV1().Leases(driver.Namespace).Get(ctx, name+"-lock", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			holder, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
			g.Expect(leaders).To(ContainElement(holder), name)
		}
	}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
}

// complaints are what operators have said since a moment that keeps the cluster from being called healthy.
func complaints(since time.Time) []string {
	GinkgoHelper()
	var out []string
	for _, v := range env.History.Of(func(v fixture.Version) bool {
		return slices.Contains([]string{"ClusterCSIDriver", "Storage", "ClusterOperator"}, v.Object.GetKind()) && !v.At.Before(since)
	}) {
		conditions, _, err := unstructured.NestedSlice(v.Object.Object, "status", "conditions")
		Expect(err).NotTo(HaveOccurred())
		for _, each := range conditions {
			c := each.(map[string]any)
			kind, status := c["type"].(string), c["status"].(string)
			if strings.HasSuffix(kind, "Degraded") && status != "False" || strings.HasSuffix(kind, "Available") && status != "True" ||
				strings.HasSuffix(kind, "Upgradeable") && status != "True" {
				out = append(out, v.At.Format(time.TimeOnly)+" "+v.String()+" "+kind+"="+status+" "+fmt.Sprint(c["message"]))
			}
		}
	}
	return out
}
