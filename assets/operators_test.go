package assets_test

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// operatorManifests are the files of a driver's operator, by their base names.
func operatorManifests(t *testing.T, d driver.Driver) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(operatorFolder(d)), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		embedded, err := assets.Operator(path.Join(filepath.ToSlash(operatorFolder(d)), name))
		out[name] = string(embedded)
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("manifests in %s: %v (%v)", operatorFolder(d), out, err)
	}
	return out
}

// TestOperatorFiles: the layout is that of cluster-storage-operator, which copies the files.
func TestOperatorFiles(t *testing.T) {
	kinds := map[string]any{
		"01_service.yaml":                &corev1.Service{},
		"02_sa.yaml":                     &corev1.ServiceAccount{},
		"03_configmap.yaml":              &corev1.ConfigMap{},
		"03_role.yaml":                   &rbacv1.Role{},
		"04_rolebinding.yaml":            &rbacv1.RoleBinding{},
		"05_clusterrole.yaml":            &rbacv1.ClusterRole{},
		"05_clusterrole_elsewhere.yaml":  &rbacv1.ClusterRole{},
		"05_clusterrole_images.yaml":     &rbacv1.ClusterRole{},
		"05_clusterrole_machines.yaml":   &rbacv1.ClusterRole{},
		"05_clusterrole_modules.yaml":    &rbacv1.ClusterRole{},
		"05_clusterrole_rook.yaml":       &rbacv1.ClusterRole{},
		"06_clusterrolebinding.yaml":     &rbacv1.ClusterRoleBinding{},
		"07_deployment.yaml":             &appsv1.Deployment{},
		"08_cr.yaml":                     &operatorv1.ClusterCSIDriver{},
		"09_servicemonitor.yaml":         &map[string]any{},
		"10_prometheus_role.yaml":        &rbacv1.Role{},
		"11_prometheus_rolebinding.yaml": &rbacv1.RoleBinding{},
	}
	for _, d := range driver.All {
		files := operatorManifests(t, d)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(kinds)), slices.Sorted(maps.Keys(files))); diff != "" {
			t.Errorf("%s: files (-want +got):\n%s", d.Kind, diff)
		}
		for name, content := range files {
			if err := yaml.UnmarshalStrict([]byte(content), kinds[name]); err != nil {
				t.Errorf("%s: %s: %v", d.Kind, name, err)
			}
			if !strings.Contains(content, "  name: "+d.OperatorName()) && !strings.Contains(content, "  name: "+d.Name+"\n") {
				t.Errorf("%s is not of %s", name, d.OperatorName())
			}
			if strings.Contains(content, "${") && name != "07_deployment.yaml" {
				t.Errorf("%s has a placeholder, which nobody replaces", name)
			}
		}
	}
}

// TestOperatorFoldersAreAlike: what differs between the operators is their rights in the
// cluster, their names, and the role of which RBD alone has one.
func TestOperatorFoldersAreAlike(t *testing.T) {
	renamed := map[string]string{}
	for name, content := range operatorManifests(t, driver.CephFS) {
		renamed[name] = strings.NewReplacer(
			driver.CephFS.OperatorName(), driver.RBD.OperatorName(), driver.CephFS.Name, driver.RBD.Name,
			driver.CephFS.ProvisionerLease(), driver.RBD.ProvisionerLease(),
			"--driver=cephfs", "--driver=rbd", "ceph-cephfs-", "ceph-rbd-",
		).Replace(content)
	}
	want := operatorManifests(t, driver.RBD)
	want["03_role.yaml"] = strings.ReplaceAll(want["03_role.yaml"], "  - ceph-rbd-csi-driver-healer\n", "")
	delete(want, "05_clusterrole.yaml")
	delete(renamed, "05_clusterrole.yaml")
	if diff := cmp.Diff(want, renamed); diff != "" {
		t.Errorf("(-rbd +cephfs):\n%s", diff)
	}
}

// operatorDeployment is the operator's Deployment as cluster-storage-operator fills it in.
func operatorDeployment(t *testing.T, d driver.Driver) appsv1.Deployment {
	t.Helper()
	pairs := []string{"${LOG_LEVEL}", "2", "${OPERATOR_IMAGE_VERSION}", "4.23.0", "${OPERATOR_IMAGE}", "operator"}
	for name, image := range images() {
		pairs = append(pairs, "${"+name+"}", image)
	}
	content := strings.NewReplacer(pairs...).Replace(operatorManifests(t, d)["07_deployment.yaml"])
	if strings.Contains(content, "${") {
		t.Fatalf("%s: cluster-storage-operator has no value for a placeholder:\n%s", d.Kind, content)
	}
	var out appsv1.Deployment
	if err := yaml.UnmarshalStrict([]byte(content), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOperatorDeployment(t *testing.T) {
	for _, d := range driver.All {
		deployment := operatorDeployment(t, d)
		w := workload{driver: d, meta: deployment.ObjectMeta, selector: deployment.Spec.Selector, template: deployment.Spec.Template}
		pod := w.template.Spec
		c := pod.Containers[0]
		values := map[string][2]any{
			"name":             {w.meta.Name, d.OperatorName()},
			"namespace":        {w.meta.Namespace, driver.Namespace},
			"ServiceAccount":   {pod.ServiceAccountName, d.OperatorName()},
			"replicas":         {*deployment.Spec.Replicas, int32(1)},
			"priority":         {pod.PriorityClassName, "system-cluster-critical"},
			"containers":       {len(pod.Containers), 1},
			"serving cert":     {pod.Volumes[1].Secret.SecretName, d.OperatorName() + "-serving-cert"},
			"operator config":  {pod.Volumes[2].ConfigMap.Name, d.OperatorName() + "-config"},
			"port, as a range": {c.Ports[0].ContainerPort, int32(8443)},
		}
		for _, policy := range []string{"dns", "api-server", "operator-metrics-range", "all-egress"} {
			label := "openshift.storage.network-policy." + policy
			values["label "+label] = [2]any{w.template.Labels[label], "allow"}
		}
		for _, problem := range slices.Concat(unequal(values), wrongSelector(w), wrongSCC(w), wrongContainers(w), wrongVolumes(w), notRestricted(w)) {
			t.Errorf("%s: %s", d.Kind, problem)
		}
		want := []string{
			"start", "--driver=" + d.Kind, "-v=2",
			"--config=/var/run/configmaps/config/config.yaml", "--terminate-on-files=/var/run/configmaps/config/config.yaml",
		}
		if diff := cmp.Diff(want, c.Args); diff != "" {
			t.Errorf("%s: arguments (-want +got):\n%s", d.Kind, diff)
		}
	}
}

// TestOperatorEnvironment: what `start` needs, quoted, so that no image can be read as something
// else than a text.
func TestOperatorEnvironment(t *testing.T) {
	for _, d := range driver.All {
		want := images()
		want["OPERATOR_IMAGE_VERSION"], want["OPERATOR_NAME"], want["POD_NAME"], want["MALLOC_ARENA_MAX"] = "4.23.0", d.OperatorName(), "metadata.name", "2"
		got := map[string]string{}
		for _, v := range operatorDeployment(t, d).Spec.Template.Spec.Containers[0].Env {
			got[v.Name] = v.Value
			if v.ValueFrom != nil {
				got[v.Name] = v.ValueFrom.FieldRef.FieldPath
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d.Kind, diff)
		}
	}
}
