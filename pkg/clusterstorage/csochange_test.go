package clusterstorage

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
)

// CSIOperatorConfig is CSO's struct, field by field, as in
// pkg/operator/csidriveroperator/csioperatorclient/types.go of August 2026.
type CSIOperatorConfig struct {
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

// AllPlatforms is CSO's.
const AllPlatforms configv1.PlatformType = "AllPlatforms"

// What follows is ceph.go as the README of configs has it, up to TestChangeInCSO.

// CephFeatureGate is asked for while Ceph's drivers are in Tech Preview; empty once they are GA.
const CephFeatureGate configv1.FeatureGateName = "CSIDriverCeph"

// CephDeclarations watch the Secrets that declare a Ceph cluster: no others, and not what is in them.
func CephDeclarations(client kubernetes.Interface, resync time.Duration) ([]cache.SharedIndexInformer, error) {
	var out []cache.SharedIndexInformer
	for _, s := range configs.Declarations() {
		informer := coreinformers.NewFilteredSecretInformer(client, configs.Namespace, resync, cache.Indexers{}, func(o *metav1.ListOptions) {
			o.FieldSelector, o.LabelSelector = s.Fields, s.Labels
		})
		if err := informer.SetTransform(func(object any) (any, error) {
			if secret, ok := object.(*corev1.Secret); ok {
				secret.Data = nil
			}
			return object, nil
		}); err != nil {
			return nil, err
		}
		out = append(out, informer)
	}
	return out, nil
}

// GetCephCSIOperatorConfigs are those of RBD and CephFS.
func GetCephCSIOperatorConfigs(declarations []cache.SharedIndexInformer, csiDrivers storagelisters.CSIDriverLister) []CSIOperatorConfig {
	cluster := configs.Cluster{
		Getenv: os.Getenv,
		Declared: func() bool {
			return slices.ContainsFunc(declarations, func(i cache.SharedIndexInformer) bool { return len(i.GetStore().ListKeys()) > 0 })
		},
		FeatureGate: string(CephFeatureGate),
		Foreign: func(name string) bool {
			csiDriver, err := csiDrivers.Get(name)
			return err == nil && configs.IsForeign(csiDriver.Annotations)
		},
	}
	var out []CSIOperatorConfig
	for _, c := range configs.Configs(cluster) {
		out = append(out, CSIOperatorConfig{
			CSIDriverName:                 c.CSIDriverName,
			ConditionPrefix:               c.ConditionPrefix,
			Platform:                      AllPlatforms,
			StatusFilter:                  func(_ *configv1.InfrastructureStatus, isInstalled bool) bool { return c.StatusFilter(isInstalled) },
			StaticAssets:                  c.StaticAssets,
			StandaloneOperatorConfigAsset: c.StandaloneOperatorConfigAsset,
			CRAsset:                       c.CRAsset,
			ServiceMonitorAsset:           c.ServiceMonitorAsset,
			DeploymentAsset:               c.DeploymentAsset,
			ImageReplacer:                 c.ImageReplacer,
			AllowDisabled:                 true,
			RequireFeatureGate:            configv1.FeatureGateName(c.RequireFeatureGate),
		})
	}
	return out
}

// TestChangeInCSO: what the README has CSO add is what these tests run.
func TestChangeInCSO(t *testing.T) {
	source, err := os.ReadFile("csochange_test.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join("configs", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(source), "up to TestChangeInCSO.\n\n")
	code, _, _ = strings.Cut(code, "\n// TestChangeInCSO:")
	for line := range strings.Lines(code) {
		bare := strings.TrimLeft(line, "\t")
		if want := "       " + strings.Repeat("    ", len(line)-len(bare)) + bare; bare != "\n" && !strings.Contains(string(readme), want) {
			t.Errorf("configs/README.md lacks the line\n%s", want)
		}
	}
}
