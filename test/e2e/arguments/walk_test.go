package arguments

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
)

// deploymentsOf are those of the manifests in a folder.
func deploymentsOf(t *testing.T, root, folder string) []*appsv1.Deployment {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var out []*appsv1.Deployment
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(content, &kind); err != nil {
			t.Fatal(err)
		}
		if kind.Kind != "Deployment" {
			continue
		}
		deployment := &appsv1.Deployment{}
		if err := yaml.UnmarshalStrict(content, deployment); err != nil {
			t.Fatal(err)
		}
		out = append(out, deployment)
	}
	return out
}

// operators are the Deployments that cluster-storage makes.
func operators(t *testing.T) []*appsv1.Deployment {
	t.Helper()
	var out []*appsv1.Deployment
	for _, d := range driver.All {
		deployment, err := operatorprocess.Deployment(d)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, deployment)
	}
	return out
}

// TestNoneIsForgotten compares what is started here with every file that deploys the operator's own
// image.
func TestNoneIsForgotten(t *testing.T) {
	root, err := repository.Root()
	if err != nil {
		t.Fatal(err)
	}
	var started, shipped []string
	for _, d := range slices.Concat(deploymentsOf(t, root, "manifests"), deploymentsOf(t, root, "manifests/kubernetes"), operators(t)) {
		started = append(started, d.Name)
	}
	for _, folder := range []string{"manifests", "assets"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.Name() == "testdata" {
				return fs.SkipDir
			}
			if filepath.Ext(path) != ".yaml" {
				return nil
			}
			content, err := os.ReadFile(path)
			var workload struct {
				metav1.ObjectMeta `json:"metadata"`
				Spec              appsv1.DaemonSetSpec
			}
			if err != nil || yaml.Unmarshal(content, &workload) != nil {
				return err
			}
			for _, c := range workload.Spec.Template.Spec.Containers {
				if c.Image == "${OPERATOR_IMAGE}" || strings.Contains(c.Image, "ceph-csi-driver-operator") {
					shipped = append(shipped, workload.Name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(started)
	slices.Sort(shipped)
	if diff := cmp.Diff(shipped, started); diff != "" || len(shipped) < 4 {
		t.Errorf("(-shipped +started):\n%s", diff)
	}
}
