package virtualization

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/programs"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var (
	profiles        = fixture.StorageProfiles
	snapshotClasses = schema.GroupVersionResource{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshotclasses"}
)

// cdi is CDI's controller of StorageProfiles, or a stand-in for it: it makes one for each
// StorageClass, takes it away with the class, and tells in the status what the spec says or,
// failing that, what it knows of the driver.
type cdi struct {
	client dynamic.ResourceInterface
	// subresource says that the CRD has status apart.
	subresource bool
	// real is the controller itself, where `test/cluster binaries` has been able to build it; the
	// stand-in elsewhere.
	real bool
	// ignorant of Ceph's drivers, as CDI is of names that are not in its table.
	ignorant bool
	// stop ends it.
	stop func()
}

// standInPolling is how often stand-ins look: each time is some requests.
const standInPolling = 200 * time.Millisecond

// startCDI installs the CRD and runs the stand-in until the spec ends, before which it takes
// the CRD away.
func startCDI(ctx context.Context, c *cdi) {
	GinkgoHelper()
	crd := fixture.Read(fixture.StorageProfilesCRD)
	if c.subresource {
		versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
		Expect(err).NotTo(HaveOccurred())
		versions[0].(map[string]any)["subresources"] = map[string]any{"status": map[string]any{}}
		Expect(unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions")).To(Succeed())
	}
	env.Install(ctx, crd)
	c.client = env.Dynamic.Resource(profiles)
	if c.real && c.startReal() {
		return
	}
	running, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	c.stop = sync.OnceFunc(func() { cancel(); done.Wait() })
	DeferCleanup(c.stop)
	done.Go(func() {
		_ = wait.PollUntilContextCancel(running, standInPolling, true, func(ctx context.Context) (bool, error) {
			c.sync(ctx)
			return false, nil
		})
	})
}

// startReal runs CDI's own controller, which has all rights, as a process. It says whether there
// is one.
func (c *cdi) startReal() bool {
	GinkgoHelper()
	program, err := programs.Importer()
	Expect(err).NotTo(HaveOccurred())
	if program == "" {
		AddReportEntry("a stand-in for CDI", "its own controller is not built here: go run ./test/cluster binaries", ReportEntryVisibilityAlways)
		return false
	}
	group := process.NewGroup(filepath.Join(env.Cluster.Dir(), "logs"), func(process.Record) error { return nil })
	command := exec.Command(program)
	command.Env = []string{"KUBECONFIG=" + env.Cluster.AdminKubeconfig(), "HOME=" + env.Cluster.Dir()}
	running, err := group.StartCommand("cdi", command)
	Expect(err).NotTo(HaveOccurred())
	c.stop = running.Kill
	DeferCleanup(c.stop)
	return true
}

// sync ignores errors: the next one is soon.
func (c *cdi) sync(ctx context.Context) {
	classes, err := env.Kube.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	held, err := c.client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	snapshots, err := env.Dynamic.Resource(snapshotClasses).List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	there := map[string]bool{}
	for _, class := range classes.Items {
		there[class.Name] = true
		i := slices.IndexFunc(held.Items, func(p unstructured.Unstructured) bool { return p.GetName() == class.Name })
		if i < 0 {
			c.create(ctx, class.Name)
			continue
		}
		c.tell(ctx, &held.Items[i], class, snapshots.Items)
	}
	for _, p := range held.Items {
		if !there[p.GetName()] {
			_ = c.client.Delete(ctx, p.GetName(), metav1.DeleteOptions{})
		}
	}
}

func (c *cdi) create(ctx context.Context, name string) {
	profile := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	profile.SetAPIVersion(profiles.GroupVersion().String())
	profile.SetKind("StorageProfile")
	profile.SetName(name)
	_, _ = c.client.Create(ctx, profile, metav1.CreateOptions{FieldManager: "cdi"})
}

func (c *cdi) tell(ctx context.Context, profile *unstructured.Unstructured, class storagev1.StorageClass, snapshots []unstructured.Unstructured) {
	status := map[string]any{"provisioner": class.Provisioner, "storageClass": class.Name, "dataImportCronSourceFormat": "pvc", "cloneStrategy": "copy"}
	if name := firstSnapshotClass(class.Provisioner, snapshots); name != "" {
		status["snapshotClass"], status["cloneStrategy"] = name, "snapshot"
	}
	if i := slices.IndexFunc(driver.All, func(d driver.Driver) bool { return d.Name == class.Provisioner }); i >= 0 && !c.ignorant {
		set := driver.All[i].Virtualization.ClaimSets[0]
		status["cloneStrategy"] = "csi-clone"
		status["claimPropertySets"] = []any{map[string]any{"accessModes": []any{set.AccessMode}, "volumeMode": set.VolumeMode}}
	}
	if strategy, there := class.Annotations["cdi.kubevirt.io/clone-strategy"]; there {
		status["cloneStrategy"] = strategy
	}
	spec, _, _ := unstructured.NestedMap(profile.Object, "spec")
	for key, value := range spec {
		status[key] = value
	}
	if equality.Semantic.DeepEqual(profile.Object["status"], any(status)) {
		return
	}
	profile.Object["status"] = status
	options := metav1.UpdateOptions{FieldManager: "cdi"}
	if c.subresource {
		_, _ = c.client.UpdateStatus(ctx, profile, options)
		return
	}
	_, _ = c.client.Update(ctx, profile, options)
}

// firstSnapshotClass is CDI's choice: the default one of the driver, else the first by name.
func firstSnapshotClass(provisioner string, all []unstructured.Unstructured) string {
	var names []string
	for _, s := range all {
		if s.Object["driver"] != provisioner {
			continue
		}
		if s.GetAnnotations()["snapshot.storage.kubernetes.io/is-default-class"] == "true" {
			return s.GetName()
		}
		names = append(names, s.GetName())
	}
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}

// spec and status of a StorageProfile.
func spec(ctx context.Context, g Gomega, name string) map[string]any {
	return part(ctx, g, name, "spec")
}
func status(ctx context.Context, g Gomega, name string) map[string]any {
	return part(ctx, g, name, "status")
}

func part(ctx context.Context, g Gomega, name, key string) map[string]any {
	GinkgoHelper()
	profile, err := env.Dynamic.Resource(profiles).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	g.Expect(err).NotTo(HaveOccurred())
	out, _, err := unstructured.NestedMap(profile.Object, key)
	g.Expect(err).NotTo(HaveOccurred())
	return out
}
