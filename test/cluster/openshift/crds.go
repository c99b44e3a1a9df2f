package openshift

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	jsonpatch "github.com/evanphx/json-patch"
	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/yaml"

	// The CRDs lie beside these empty packages: importing them makes vendoring bring them.
	_ "github.com/openshift/api/config/v1/zz_generated.crd-manifests"
	_ "github.com/openshift/api/operator/v1/zz_generated.crd-manifests"
	_ "github.com/openshift/api/security/v1/zz_generated.crd-manifests"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

const (
	configCRDs    = "github.com/openshift/api/config/v1/zz_generated.crd-manifests"
	operatorCRDs  = "github.com/openshift/api/operator/v1/zz_generated.crd-manifests"
	securityCRDs  = "github.com/openshift/api/security/v1/zz_generated.crd-manifests"
	clusterCSICRD = "0000_50_csi-driver_01_clustercsidrivers-Default.crd.yaml"
)

// DriverCRDPatches are what an administrator gives to the CRD of ClusterCSIDrivers, in this order.
func DriverCRDPatches() []string {
	return []string{"manifests/crd-patch/clustercsidriver.patch.json", "manifests/crd-patch/clustercsidriver-rules.patch.json"}
}

// openshiftCRDs are the files of openshift/api that describe a default OpenShift as far as a
// storage operator sees it.
var openshiftCRDs = map[string][]string{
	configCRDs: {
		"0000_00_cluster-version-operator_01_clusteroperators.crd.yaml",
		"0000_00_cluster-version-operator_01_clusterversions-Default.crd.yaml",
		"0000_03_config-operator_01_proxies.crd.yaml",
		"0000_10_config-operator_01_apiservers-Default.crd.yaml",
		"0000_10_config-operator_01_featuregates.crd.yaml",
		"0000_10_config-operator_01_infrastructures-Default.crd.yaml",
	},
	operatorCRDs: {
		"0000_50_storage_01_storages.crd.yaml",
		clusterCSICRD,
	},
	securityCRDs: {
		"0000_03_config-operator_01_securitycontextconstraints.crd.yaml",
	},
}

// Prometheus-operator publishes its CRDs in no Go module of reasonable size.
//
//go:embed crds
var ownCRDs embed.FS

// CRD is a custom resource definition of the cluster.
type CRD = apiextensionsv1.CustomResourceDefinition

// LoadCRDs reads all CRDs of the cluster: openshift/api's with the project's patch of
// ClusterCSIDriver, those in the folder snapshotCRDs, and prometheus-operator's.
func LoadCRDs(ctx context.Context, root, snapshotCRDs string) ([]*CRD, error) {
	contents := map[string][]byte{}
	for pkg, files := range openshiftCRDs {
		dir, err := repository.PackageDir(ctx, root, pkg)
		if err != nil {
			return nil, err
		}
		if err := readFiles(contents, os.DirFS(dir), files...); err != nil {
			return nil, err
		}
	}
	if err := readFiles(contents, os.DirFS(snapshotCRDs), "*.yaml"); err != nil {
		return nil, err
	}
	if err := readFiles(contents, ownCRDs, "crds/*.yaml"); err != nil {
		return nil, err
	}
	return parseCRDs(contents, func(file string, crd []byte) ([]byte, error) {
		if file != clusterCSICRD {
			return crd, nil
		}
		return patchClusterCSIDriver(root, crd)
	})
}

// parseCRDs reads files by their names, each after patch, which gets JSON.
func parseCRDs(contents map[string][]byte, patch func(file string, crd []byte) ([]byte, error)) ([]*CRD, error) {
	var crds []*CRD
	for file, content := range contents {
		data, err := yaml.YAMLToJSON(content)
		if err == nil {
			data, err = patch(file, data)
		}
		crd := &CRD{}
		if err == nil {
			err = json.Unmarshal(data, crd)
		}
		if err != nil {
			return nil, fmt.Errorf("CRD %s: %w", file, err)
		}
		crds = append(crds, crd)
	}
	return crds, nil
}

func patchClusterCSIDriver(root string, crd []byte) ([]byte, error) {
	for _, file := range DriverCRDPatches() {
		content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return nil, err
		}
		patch, err := jsonpatch.DecodePatch(content)
		if err == nil {
			crd, err = patch.Apply(crd)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return crd, nil
}

// CreateCRDs returns when the API server serves all of them.
func CreateCRDs(ctx context.Context, client apiextensions.CustomResourceDefinitionInterface, crds []*CRD) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, crd := range crds {
		group.Go(func() error {
			err := retry.OnError(retry.DefaultBackoff, overloaded, func() error {
				_, err := client.Create(ctx, crd, metav1.CreateOptions{FieldManager: fieldManager})
				return err
			})
			// A request that timed out may have been done.
			if err != nil && !apierrors.IsAlreadyExists(err) {
				return fmt.Errorf("creating CRD %s: %w", crd.Name, err)
			}
			return waitEstablished(ctx, client, crd.Name)
		})
	}
	return group.Wait()
}

// overloaded says that the API server had no time, as where several start at once.
func overloaded(err error) bool { return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) }

func waitEstablished(ctx context.Context, client apiextensions.CustomResourceDefinitionInterface, name string) error {
	var last []apiextensionsv1.CustomResourceDefinitionCondition
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, startTimeout, false, func(ctx context.Context) (bool, error) {
		crd, err := client.Get(ctx, name, metav1.GetOptions{})
		if overloaded(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		last = crd.Status.Conditions
		for _, c := range last {
			if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("CRD %s is not served: %w; conditions: %+v", name, err, last)
	}
	return nil
}
