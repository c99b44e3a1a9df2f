package configs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	configv1 "github.com/openshift/api/config/v1"
	"github.com/openshift/library-go/pkg/controller/factory"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// csoConfig is CSO's struct, field by field, copied from
// pkg/operator/csidriveroperator/csioperatorclient/types.go of August 2026.
type csoConfig struct {
	CSIDriverName                 string
	CSIDriverDeploymentName       string
	ConditionPrefix               string
	Platform                      configv1.PlatformType
	StatusFilter                  func(*configv1.InfrastructureStatus, bool) bool
	StaticAssets                  []string
	MgmtStaticAssets              []string
	StandaloneOperatorConfigAsset string
	MgmtOperatorConfigAsset       string
	CRAsset                       string
	ServiceMonitorAsset           string
	DeploymentAsset               string
	ImageReplacer                 *strings.Replacer
	AllowDisabled                 bool
	ExtraControllers              []factory.Controller
	RequireFeatureGate            configv1.FeatureGateName
}

func never() bool { return false }

func noEnv(string) string { return "" }

// configs converts as CSO does; that it compiles is most of the test.
func configsOf(getenv func(string) string, declared func() bool) []csoConfig {
	var out []csoConfig
	for _, c := range configs.Configs(getenv, declared) {
		out = append(out, csoConfig(c))
	}
	return out
}

func TestConfigsNameTheDrivers(t *testing.T) {
	all := configsOf(noEnv, never)
	if len(all) != len(driver.All) {
		t.Fatalf("%d configurations for %d drivers", len(all), len(driver.All))
	}
	for i, d := range driver.All {
		c := all[i]
		got := []any{c.CSIDriverName, c.ConditionPrefix, string(c.Platform), c.AllowDisabled, string(c.RequireFeatureGate)}
		if diff := cmp.Diff([]any{d.Name, d.ConditionPrefix, "AllPlatforms", true, ""}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d.Kind, diff)
		}
	}
}

// TestConfigsNameEveryAsset: a file that no field names would never be applied.
func TestConfigsNameEveryAsset(t *testing.T) {
	root := os.DirFS(filepath.Join("..", "..", "..", "assets"))
	want, err := fs.Glob(root, "csidriveroperators/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range configsOf(noEnv, never) {
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
	tests := map[string]struct {
		reason              string
		installed, declared bool
		want                bool
	}{
		"Neither":   {"a cluster without Ceph gets no pods", false, false, false},
		"CR":        {"an administrator asked for this driver", true, false, true},
		"Secret":    {"a Ceph cluster was declared", false, true, true},
		"CRAndTrue": {"both", true, true, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, c := range configsOf(noEnv, func() bool { return tc.declared }) {
				if got := c.StatusFilter(&configv1.InfrastructureStatus{}, tc.installed); got != tc.want {
					t.Errorf("%s: %s: %v", c.CSIDriverName, tc.reason, got)
				}
			}
		})
	}
}

func TestImageReplacer(t *testing.T) {
	env := map[string]string{
		"CEPH_CSI_DRIVER_OPERATOR_IMAGE": "operator:1", "CEPH_CSI_DRIVER_IMAGE": "driver:1", "OPERATOR_IMAGE_VERSION": "4.23.0",
	}
	for _, c := range configsOf(func(name string) string { return env[name] }, never) {
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
		"ExtraControllers", "RequireFeatureGate",
	}
	for _, c := range configsOf(noEnv, never) {
		v := reflect.ValueOf(c)
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Field(i).IsZero() != slices.Contains(notOurs, name) {
				t.Errorf("%s: %s is empty: %v", c.CSIDriverName, name, v.Field(i).IsZero())
			}
		}
	}
}

func TestIsDeclaration(t *testing.T) {
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
	}
	if configs.Namespace != driver.Namespace {
		t.Errorf("namespace %s, the operators have %s", configs.Namespace, driver.Namespace)
	}
}
