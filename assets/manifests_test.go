package assets_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// clusterStorage is the name of `cluster-storage` in the cluster.
const clusterStorage = "ceph-cluster-storage"

// installManifests are the files that `oc apply -f manifests/` reads.
func installManifests(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(manifestsDir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	out := map[string][]byte{}
	for _, file := range files {
		if out[filepath.Base(file)], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestManifests: all parse, are numbered, and carry what the cluster version operator reads.
func TestManifests(t *testing.T) {
	kinds := map[string]func() any{
		"Namespace": func() any { return &corev1.Namespace{} }, "ServiceAccount": func() any { return &corev1.ServiceAccount{} },
		"ConfigMap": func() any { return &corev1.ConfigMap{} }, "Service": func() any { return &corev1.Service{} },
		"Role": func() any { return &rbacv1.Role{} }, "RoleBinding": func() any { return &rbacv1.RoleBinding{} },
		"ClusterRole": func() any { return &rbacv1.ClusterRole{} }, "ClusterRoleBinding": func() any { return &rbacv1.ClusterRoleBinding{} },
		"Deployment": func() any { return &appsv1.Deployment{} }, "ServiceMonitor": func() any { return &map[string]any{} },
	}
	shared := assets.SharedRoles()
	for name, content := range installManifests(t) {
		var object struct {
			Kind     string
			Metadata struct {
				Name, Namespace string
				Annotations     map[string]string
			}
		}
		if err := yaml.Unmarshal(content, &object); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if kinds[object.Kind] == nil {
			t.Errorf("%s: kind %q", name, object.Kind)
		} else if err := yaml.UnmarshalStrict(content, kinds[object.Kind]()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name[2] != '_' || strings.Trim(name[:2], "0123456789") != "" {
			t.Errorf("%s has no number, which is its place in the order of applying", name)
		}
		for _, key := range []string{
			"include.release.openshift.io/self-managed-high-availability", "include.release.openshift.io/single-node-developer", "capability.openshift.io/name",
		} {
			if object.Metadata.Annotations[key] == "" {
				t.Errorf("%s lacks annotation %s", name, key)
			}
		}
		if shared[object.Metadata.Name] != nil {
			t.Errorf("%s carries %s, which is cluster-storage-operator's", name, object.Metadata.Name)
		}
		unbound := slices.ContainsFunc(driver.All, func(d driver.Driver) bool {
			return slices.Contains(installedRoles(d), object.Metadata.Name)
		})
		if ours := unbound || strings.HasPrefix(object.Metadata.Name, clusterStorage); !ours && object.Kind != "Namespace" {
			t.Errorf("%s: %s %s is not of %s", name, object.Kind, object.Metadata.Name, clusterStorage)
		}
	}
}

func glueDeployment(t *testing.T) appsv1.Deployment {
	t.Helper()
	var out appsv1.Deployment
	if err := yaml.UnmarshalStrict(installManifests(t)["10_deployment.yaml"], &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGlueDeployment(t *testing.T) {
	deployment := glueDeployment(t)
	w := workload{meta: deployment.ObjectMeta, selector: deployment.Spec.Selector, template: deployment.Spec.Template}
	pod := w.template.Spec
	values := map[string][2]any{
		"name":           {w.meta.Name, clusterStorage},
		"namespace":      {w.meta.Namespace, driver.Namespace},
		"ServiceAccount": {pod.ServiceAccountName, clusterStorage},
		"replicas":       {*deployment.Spec.Replicas, int32(1)},
		"subcommand":     {pod.Containers[0].Args[0], "cluster-storage"},
	}
	for _, problem := range slices.Concat(unequal(values), wrongSelector(w), wrongSCC(w), wrongContainers(w), wrongVolumes(w), notRestricted(w)) {
		t.Error(problem)
	}
}

// TestGlueServiceMonitor: cluster-storage is scraped as the operators are.
func TestGlueServiceMonitor(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(operatorFolder(driver.RBD), "09_servicemonitor.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	renamed := strings.ReplaceAll(string(content), driver.RBD.OperatorName(), clusterStorage)
	var want, have struct{ Spec map[string]any }
	var service corev1.Service
	manifests := installManifests(t)
	for text, into := range map[string]any{renamed: &want, string(manifests["12_servicemonitor.yaml"]): &have, string(manifests["04_service.yaml"]): &service} {
		if err := yaml.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("-as the operators' +have:\n%s", diff)
	}
	if service.Labels["app"] != clusterStorage || service.Spec.Ports[0].Name != "https" {
		t.Errorf("the Service is not the one that is selected: %v, %v", service.Labels, service.Spec.Ports)
	}
}

// TestImageReferences: the release tool replaces, in the Deployment, the images that the tags
// name.
func TestImageReferences(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(manifestsDir, "image-references"))
	if err != nil {
		t.Fatal(err)
	}
	var references struct {
		Kind       string `json:"kind"`
		APIVersion string `json:"apiVersion"`
		Spec       struct {
			Tags []struct {
				Name string                 `json:"name"`
				From corev1.ObjectReference `json:"from"`
			} `json:"tags"`
		} `json:"spec"`
	}
	if err := yaml.UnmarshalStrict(content, &references); err != nil {
		t.Fatal(err)
	}
	var tagged, used []string
	for _, tag := range references.Spec.Tags {
		tagged = append(tagged, tag.From.Name)
		if tag.From.Name != "quay.io/openshift/origin-"+tag.Name+":latest" {
			t.Errorf("tag %s is %s", tag.Name, tag.From.Name)
		}
	}
	c := glueDeployment(t).Spec.Template.Spec.Containers[0]
	used = append(used, c.Image)
	want := []string{"CEPH_CSI_DRIVER_IMAGE", "CEPH_CSI_DRIVER_OPERATOR_IMAGE", "OPERATOR_IMAGE_VERSION", "POD_NAME"}
	for _, name := range assets.RequiredImages() {
		if name != "DRIVER_IMAGE" {
			want = append(want, name)
		}
	}
	var have []string
	for _, v := range c.Env {
		have = append(have, v.Name)
		if strings.HasSuffix(v.Name, "_IMAGE") {
			used = append(used, v.Value)
		}
	}
	slices.Sort(tagged)
	slices.Sort(used)
	if diff := cmp.Diff(tagged, slices.Compact(used)); diff != "" {
		t.Errorf("(-image-references +Deployment):\n%s", diff)
	}
	slices.Sort(want)
	slices.Sort(have)
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}
