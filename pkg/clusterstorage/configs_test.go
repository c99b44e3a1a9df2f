package clusterstorage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// inCSO are the configurations as CSO has them, on a cluster with these objects.
func inCSO(t *testing.T, objects ...runtime.Object) []CSIOperatorConfig {
	t.Helper()
	client := fake.NewClientset(objects...)
	csiDrivers := informers.NewSharedInformerFactory(client, 0).Storage().V1().CSIDrivers()
	declarations, err := CephDeclarations(client, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range append(declarations, csiDrivers.Informer()) {
		go i.Run(t.Context().Done())
		if !cache.WaitForCacheSync(t.Context().Done(), i.HasSynced) {
			t.Fatal("an informer did not list")
		}
	}
	return GetCephCSIOperatorConfigs(declarations, csiDrivers.Lister())
}

func TestConfigsNameTheDrivers(t *testing.T) {
	all := inCSO(t)
	if len(all) != len(driver.All) {
		t.Fatalf("%d configurations for %d drivers", len(all), len(driver.All))
	}
	for i, d := range driver.All {
		c := all[i]
		got := []any{c.CSIDriverName, c.ConditionPrefix, string(c.Platform), c.AllowDisabled, c.RequireFeatureGate}
		if diff := cmp.Diff([]any{d.Name, d.ConditionPrefix, "AllPlatforms", true, CephFeatureGate}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d.Kind, diff)
		}
	}
}

// TestConfigsNameEveryAsset: a file that no field names would never be applied.
func TestConfigsNameEveryAsset(t *testing.T) {
	want, err := fs.Glob(os.DirFS(filepath.Join("..", "..", "assets")), "csidriveroperators/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range inCSO(t) {
		got = append(got, c.StaticAssets...)
		got = append(got, c.StandaloneOperatorConfigAsset, c.CRAsset, c.ServiceMonitorAsset, c.DeploymentAsset)
		if !slices.IsSorted(c.StaticAssets) {
			t.Errorf("%s: ServiceAccount and roles must come before their bindings: %q", c.CSIDriverName, c.StaticAssets)
		}
		for _, asset := range c.StaticAssets {
			if slices.Contains([]string{c.StandaloneOperatorConfigAsset, c.CRAsset, c.ServiceMonitorAsset, c.DeploymentAsset}, asset) {
				t.Errorf("%s has a field of its own and must not be static, too", asset)
			}
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-files +named):\n%s", diff)
	}
}

func TestConfigsStartWhereCephIsDeclared(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.CredentialsSecret}}
	named := func(annotations map[string]string) *storagev1.CSIDriver {
		return &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver.RBD.Name, Annotations: annotations}}
	}
	ours := map[string]string{"csi.openshift.io/managed": "true"}
	tests := map[string]struct {
		reason    string
		installed bool
		objects   []runtime.Object
		want      bool
	}{
		"Neither":          {"a cluster without Ceph gets no pods", false, nil, false},
		"CR":               {"an administrator asked for this driver", true, nil, true},
		"Secret":           {"a Ceph cluster was declared", false, []runtime.Object{secret}, true},
		"Both":             {"both", true, []runtime.Object{secret}, true},
		"Ours":             {"CSO starts anew", true, []runtime.Object{secret, named(ours)}, true},
		"Foreign":          {"CSO would ask that of a driver with a gate, and be Degraded", false, []runtime.Object{secret, named(nil)}, false},
		"ForeignInstalled": {"there, too", true, []runtime.Object{named(nil)}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := inCSO(t, tc.objects...)[0].StatusFilter(&configv1.InfrastructureStatus{}, tc.installed); got != tc.want {
				t.Errorf("%s: %v", tc.reason, got)
			}
		})
	}
}

// TestForeignWithoutGate: the operator itself says that it is disabled, and why.
func TestForeignWithoutGate(t *testing.T) {
	cluster := configs.Cluster{Getenv: os.Getenv, Declared: func() bool { return true }, Foreign: func(string) bool { return true }}
	for _, c := range configs.Configs(cluster) {
		if !c.StatusFilter(false) {
			t.Errorf("%s is not started", c.CSIDriverName)
		}
	}
}

func TestImageReplacer(t *testing.T) {
	t.Setenv(configs.EnvOperatorImage, "operator:1")
	t.Setenv(configs.EnvDriverImage, "driver:1")
	t.Setenv(configs.EnvVersion, "4.23.0")
	for _, c := range inCSO(t) {
		got := c.ImageReplacer.Replace("${OPERATOR_IMAGE} ${DRIVER_IMAGE} ${OPERATOR_IMAGE_VERSION} ${LOG_LEVEL} ${PROVISIONER_IMAGE}")
		want := "operator:1 driver:1 4.23.0 ${LOG_LEVEL} ${PROVISIONER_IMAGE}"
		if got != want {
			t.Errorf("%s: %s, want %s: CSO replaces the rest itself", c.CSIDriverName, got, want)
		}
	}
}

func TestNoFieldIsForgotten(t *testing.T) {
	notOurs := []string{
		"CSIDriverDeploymentName", "MgmtStaticAssets", "MgmtOperatorConfigAsset", // HyperShift
		"ExtraControllers",
	}
	for _, c := range inCSO(t) {
		v := reflect.ValueOf(c)
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Field(i).IsZero() != slices.Contains(notOurs, name) {
				t.Errorf("%s: %s is empty: %v", c.CSIDriverName, name, v.Field(i).IsZero())
			}
		}
	}
}

// TestDeclarations: what selects Secrets and what judges them say the same.
func TestDeclarations(t *testing.T) {
	tests := map[string]struct {
		name   string
		labels map[string]string
		want   bool
	}{
		"Default":  {name: driver.CredentialsSecret, want: true},
		"Labelled": {name: "second", labels: map[string]string{"storage.openshift.io/ceph-cluster": ""}, want: true},
		"Other":    {name: driver.RBD.NodeSecret(), labels: map[string]string{"app": "x"}},
	}
	for name, tc := range tests {
		if got := configs.IsDeclaration(tc.name, tc.labels); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
		selected := slices.ContainsFunc(configs.Declarations(), func(s configs.Selector) bool {
			byField, byLabel := fields.ParseSelectorOrDie(s.Fields), labels.SelectorFromSet(nil)
			if s.Labels != "" {
				byLabel, _ = labels.Parse(s.Labels)
			}
			return byField.Matches(fields.Set{"metadata.name": tc.name}) && byLabel.Matches(labels.Set(tc.labels))
		})
		if selected != tc.want {
			t.Errorf("%s: selected: %v", name, selected)
		}
	}
	if configs.Namespace != driver.Namespace {
		t.Errorf("namespace %s, the operators have %s", configs.Namespace, driver.Namespace)
	}
}

// TestExplain; what an API server with the stock CRD says is tried in test/e2e/glue.
func TestExplain(t *testing.T) {
	other := errors.New("etcdserver: request timed out")
	if got := configs.Explain(other); got != other {
		t.Errorf("of another error it says %q", got)
	}
	if configs.Explain(nil) != nil {
		t.Error("no error became one")
	}
	refused := errors.New(`ClusterCSIDriver.operator.openshift.io "rbd.csi.ceph.com" is invalid: metadata.name: Unsupported value: "rbd.csi.ceph.com"`)
	if got := configs.Explain(refused); !errors.Is(got, refused) || !strings.Contains(got.Error(), configs.PatchCommand) {
		t.Errorf("it says %q", got)
	}
}
