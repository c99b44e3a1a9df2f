package arguments

import (
	"errors"
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

// TestNoneIsForgotten compares what is started here with every file that has containers. Those that are
// not the operators' are parts of the two workloads of a driver, of which the walk starts all containers.
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
		err := filepath.WalkDir(filepath.Join(root, folder), func(file string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.Name() == "testdata" {
				return fs.SkipDir
			}
			if filepath.Ext(file) != ".yaml" {
				return nil
			}
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			name, operator, err := deployedIn(content)
			if dir := filepath.Base(filepath.Dir(file)); operator {
				shipped = append(shipped, name)
			} else if name != "" && dir != "controller" && dir != "node" {
				t.Errorf("%s: nothing here starts its containers", file)
			}
			return err
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

// deployedIn is the name of an object that has containers, wherever it has them, and whether they run
// the operator's image. Without containers there is no name; where it has none itself, it is "a part".
func deployedIn(content []byte) (name string, operator bool, err error) {
	var object struct {
		metav1.ObjectMeta `json:"metadata"`
	}
	var whole any
	if err := errors.Join(yaml.Unmarshal(content, &object), yaml.Unmarshal(content, &whole)); err != nil {
		return "", false, err
	}
	images := imagesIn(whole)
	if len(images) == 0 {
		return "", false, nil
	}
	operator = slices.ContainsFunc(images, func(image string) bool {
		return image == "${OPERATOR_IMAGE}" || strings.Contains(image, "ceph-csi-driver-operator")
	})
	if name = object.Name; name == "" {
		name = "a part"
	}
	return name, operator, nil
}

// imagesIn are those of all containers.
func imagesIn(part any) []string {
	var out []string
	switch part := part.(type) {
	case []any:
		for _, entry := range part {
			out = append(out, imagesIn(entry)...)
		}
	case map[string]any:
		for key, entry := range part {
			list, _ := entry.([]any)
			if key != "containers" && key != "initContainers" {
				out = append(out, imagesIn(entry)...)
				continue
			}
			for _, container := range list {
				image, _ := container.(map[string]any)["image"].(string)
				out = append(out, image)
			}
		}
	}
	return out
}

func TestDeployedIn(t *testing.T) {
	tests := map[string]struct {
		reason, content, name string
		operator              bool
	}{
		"Operator": {"it is started as it is", "metadata: {name: a}\nspec: {template: {spec: {containers: [{image: '${OPERATOR_IMAGE}'}]}}}", "a", true},
		"Job":      {"no kind is left out", "metadata: {name: b}\nspec: {jobTemplate: {spec: {template: {spec: {initContainers: [{image: x}]}}}}}", "b", false},
		"Part":     {"it is merged with others", "spec: {template: {spec: {containers: [{name: c}]}}}", "a part", false},
		"Other":    {"nothing runs", "metadata: {name: d}\nspec: {image: x}", "", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, operator, err := deployedIn([]byte(tc.content))
			if got != tc.name || operator != tc.operator || err != nil {
				t.Errorf("%s: %q, %t, %v", tc.reason, got, operator, err)
			}
		})
	}
}
