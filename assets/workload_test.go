package assets_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// workload is what Deployment and DaemonSet have in common.
type workload struct {
	driver   driver.Driver
	meta     metav1.ObjectMeta
	selector *metav1.LabelSelector
	template corev1.PodTemplateSpec
	// node: it is the DaemonSet.
	node bool
}

// workloads are those of both drivers.
func workloads(t *testing.T) []workload {
	t.Helper()
	var out []workload
	for _, d := range driver.All {
		set := render(t, d)
		var deployment appsv1.Deployment
		if err := yaml.UnmarshalStrict(set.Controller(), &deployment); err != nil {
			t.Fatal(err)
		}
		var daemonSet appsv1.DaemonSet
		if err := yaml.UnmarshalStrict(set.Node(), &daemonSet); err != nil {
			t.Fatal(err)
		}
		out = append(out,
			workload{driver: d, meta: deployment.ObjectMeta, selector: deployment.Spec.Selector, template: deployment.Spec.Template},
			workload{driver: d, meta: daemonSet.ObjectMeta, selector: daemonSet.Spec.Selector, template: daemonSet.Spec.Template, node: true})
	}
	return out
}

func TestWorkloads(t *testing.T) {
	tests := map[string]struct {
		reason string
		check  func(workload) []string
	}{
		"Names":       {reason: "other packages find objects by the names of pkg/driver", check: wrongNames},
		"Selector":    {reason: "a selector that misses the pods is refused", check: wrongSelector},
		"SCC":         {reason: "the SCC must not depend on what else the ServiceAccount may use", check: wrongSCC},
		"Containers":  {reason: "OpenShift's rules for containers of the platform", check: wrongContainers},
		"Written":     {reason: "ceph-csi and the programs that it starts write there, and the root file system is read-only", check: unwritable},
		"Settings":    {reason: "resources can be set for each container, and for no other one", check: unknownContainers},
		"Annotations": {reason: "an annotation that names a missing container or volume does nothing", check: wrongAnnotations},
		"Volumes":     {reason: "what is not mounted is decoration, what is missing keeps the pod from starting", check: wrongVolumes},
		"Images":      {reason: "every container gets the image of its job", check: wrongImages},
		"Scheduling":  {reason: "controllers run on masters, node pods everywhere", check: wrongScheduling},
		"Privileged":  {reason: "in node pods only what mounts is", check: tooPrivileged},
		"Restricted":  {reason: "controllers pass Pod Security `restricted`", check: notRestricted},
	}
	for _, w := range workloads(t) {
		for name, tc := range tests {
			t.Run(w.meta.Name+"/"+name, func(t *testing.T) {
				for _, problem := range tc.check(w) {
					t.Errorf("%s: %s", tc.reason, problem)
				}
			})
		}
	}
}

func wrongNames(w workload) []string {
	name := w.driver.ControllerName()
	if w.node {
		name = w.driver.NodeName()
	}
	return unequal(map[string][2]any{
		"name":           {w.meta.Name, name},
		"namespace":      {w.meta.Namespace, driver.Namespace},
		"ServiceAccount": {w.template.Spec.ServiceAccountName, name + "-sa"},
	})
}

// unequal lists the values that are not as wanted.
func unequal(values map[string][2]any) []string {
	var out []string
	for what, v := range values {
		if v[0] != v[1] {
			out = append(out, fmt.Sprintf("%s is %v, want %v", what, v[0], v[1]))
		}
	}
	return out
}

func unknownContainers(w workload) []string {
	var got []string
	for _, c := range w.template.Spec.Containers {
		got = append(got, c.Name)
	}
	want := driver.ControllerContainers
	if w.node {
		want = driver.NodeContainers
	}
	return unequal(map[string][2]any{"containers": {strings.Join(got, " "), strings.Join(want, " ")}})
}

func wrongSelector(w workload) []string {
	selector, err := metav1.LabelSelectorAsSelector(w.selector)
	if err != nil {
		return []string{err.Error()}
	}
	values := map[string]string{}
	maps.Copy(values, w.template.Labels)
	if len(w.selector.MatchLabels) != 1 || !selector.Matches(labelSet(values)) {
		return []string{fmt.Sprintf("selector %s, labels %v", selector, values)}
	}
	return nil
}

func wrongSCC(w workload) []string {
	want := "restricted-v2"
	if w.node {
		want = "privileged"
	}
	return unequal(map[string][2]any{"required-scc": {w.template.Annotations["openshift.io/required-scc"], want}})
}

func wrongContainers(w workload) []string {
	var out []string
	for _, c := range w.template.Spec.Containers {
		memory := "50Mi"
		if strings.HasPrefix(c.Name, "kube-rbac-proxy") {
			memory = "20Mi"
		}
		out = append(out, unequal(map[string][2]any{
			c.Name + " cpu request":              {c.Resources.Requests.Cpu().String(), "10m"},
			c.Name + " memory request":           {c.Resources.Requests.Memory().String(), memory},
			c.Name + " limits":                   {len(c.Resources.Limits), 0},
			c.Name + " imagePullPolicy":          {c.ImagePullPolicy, corev1.PullIfNotPresent},
			c.Name + " terminationMessagePolicy": {c.TerminationMessagePolicy, corev1.TerminationMessageFallbackToLogsOnError},
			c.Name + " command":                  {len(c.Command), 0},
			c.Name + " readOnlyRootFilesystem":   {ptr.Deref(c.SecurityContext.ReadOnlyRootFilesystem, false), true},
		})...)
	}
	return out
}

func wrongAnnotations(w workload) []string {
	containers, emptyDirs := map[string]bool{}, map[string]bool{}
	for _, c := range w.template.Spec.Containers {
		containers[c.Name] = true
	}
	for _, v := range w.template.Spec.Volumes {
		if v.EmptyDir != nil {
			emptyDirs[v.Name] = true
		}
	}
	out := unequal(map[string][2]any{"container csi-driver": {containers["csi-driver"], true}})
	for _, key := range []string{"config.openshift.io/inject-proxy", "config.openshift.io/inject-proxy-cabundle"} {
		for _, name := range strings.Split(w.meta.Annotations[key], ",") {
			if !containers[name] {
				out = append(out, fmt.Sprintf("%s names container %q", key, name))
			}
		}
	}
	const evict = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
	if listed, ok := w.template.Annotations[evict]; ok != !w.node ||
		!w.node && !slices.Equal(slices.Sorted(slices.Values(strings.Split(listed, ","))), slices.Sorted(maps.Keys(emptyDirs))) {
		out = append(out, fmt.Sprintf("%s is %q, emptyDirs are %v", evict, listed, emptyDirs))
	}
	return out
}

func wrongVolumes(w workload) []string {
	var out []string
	volumes, whole := map[string]bool{}, map[string]bool{}
	for _, v := range w.template.Spec.Volumes {
		volumes[v.Name], whole[v.Name] = false, v.DownwardAPI == nil && v.HostPath == nil // Those are the template's, and folders.
	}
	for _, c := range w.template.Spec.Containers {
		for _, mount := range c.VolumeMounts {
			if _, ok := volumes[mount.Name]; !ok {
				out = append(out, c.Name+" mounts "+mount.Name+", which is no volume")
			}
			if mount.SubPath != "" && whole[mount.Name] {
				out = append(out, c.Name+" mounts a part of "+mount.Name+", which is never updated")
			}
			volumes[mount.Name] = true
		}
	}
	for name, mounted := range volumes {
		if !mounted {
			out = append(out, "nothing mounts volume "+name)
		}
	}
	return out
}

// unwritable lists what ceph-csi, fscrypt, cryptsetup, mount, ceph-fuse and rbd-nbd write, by their sources.
func unwritable(w workload) []string {
	paths := []string{"/csi", "/etc/ceph", "/tmp/csi/keys"}
	if w.node {
		paths = append(paths, "/var/run/ceph", "/run/mount", "/var/log/ceph", "/var/lib/kubelet/plugins", "/var/lib/kubelet/pods", "/sys", "/dev",
			map[string]string{driver.RBD.Kind: "/run/cryptsetup", driver.CephFS.Kind: "/csi/mountinfo"}[w.driver.Kind])
	}
	var out []string
	for _, c := range w.template.Spec.Containers {
		if c.Name != "csi-driver" {
			continue
		}
		for _, path := range paths {
			if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == path && !m.ReadOnly }) {
				out = append(out, path+" is not writable")
			}
		}
		// ceph-csi writes it only where there is none.
		if w.node && !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/etc/fscrypt.conf" }) {
			out = append(out, "there is no /etc/fscrypt.conf")
		}
	}
	return out
}

func wrongImages(w workload) []string {
	var out []string
	for _, c := range w.template.Spec.Containers {
		variable := strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(c.Name, "csi-"), "-", "_"))
		if variable = strings.TrimSuffix(variable, "_METRICS"); strings.HasPrefix(variable, "KUBE_RBAC_PROXY") {
			variable = "KUBE_RBAC_PROXY"
		}
		out = append(out, unequal(map[string][2]any{c.Name: {c.Image, images()[variable+"_IMAGE"]}})...)
	}
	return out
}

// asset parses an asset of a driver into out.
func asset(t *testing.T, d driver.Driver, name string, out any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(content(t, render(t, d), name), out); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestRollout(t *testing.T) {
	for _, d := range driver.All {
		var deployment appsv1.Deployment
		asset(t, d, assets.Controller, &deployment)
		var daemonSet appsv1.DaemonSet
		asset(t, d, assets.Node, &daemonSet)
		rolling := deployment.Spec.Strategy.RollingUpdate
		for _, problem := range unequal(map[string][2]any{
			"replicas, which the topology decides":         {deployment.Spec.Replicas == nil, true},
			"maxUnavailable of the Deployment":             {rolling.MaxUnavailable.String(), "1"},
			"maxSurge of the Deployment":                   {rolling.MaxSurge.String(), "0"},
			"seconds until a standby is killed":            {*deployment.Spec.Template.Spec.TerminationGracePeriodSeconds, int64(10)},
			"maxUnavailable of the DaemonSet":              {daemonSet.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable.String(), "10%"},
			"the only method of replacing what is running": {daemonSet.Spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType},
		}) {
			t.Errorf("%s: %s", d.Kind, problem)
		}
	}
}
