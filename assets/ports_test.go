package assets_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// listeners are the addresses that the containers of a pod listen on, by their arguments, with
// the container's name.
func listeners(w workload) map[string]string {
	out := map[string]string{}
	for _, c := range w.template.Spec.Containers {
		for _, arg := range c.Args {
			flag, value, _ := strings.Cut(arg, "=")
			switch flag {
			case "--http-endpoint", "--secure-listen-address":
				out[value] = c.Name
			case "--health-port":
				out["0.0.0.0:"+value] = c.Name
			case "--metricsport":
				for _, env := range c.Env {
					if env.Name == "POD_IP" {
						out[env.Value+":"+value] = c.Name
					}
				}
			}
		}
	}
	return out
}

// TestListeners is the table of all ports of the operands. Ports of nodes are registered: no
// other CSI driver of OpenShift uses them, and both of ours run on one node.
func TestListeners(t *testing.T) {
	controller := map[string]string{
		"0.0.0.0:9201":   "kube-rbac-proxy-driver",
		"0.0.0.0:9202":   "kube-rbac-proxy-provisioner",
		"0.0.0.0:9203":   "kube-rbac-proxy-attacher",
		"0.0.0.0:9204":   "kube-rbac-proxy-resizer",
		"0.0.0.0:9205":   "kube-rbac-proxy-snapshotter",
		"127.0.0.1:8201": "csi-driver-metrics",
		"127.0.0.1:8202": "csi-provisioner",
		"127.0.0.1:8203": "csi-attacher",
		"127.0.0.1:8204": "csi-resizer",
		"127.0.0.1:8205": "csi-snapshotter",
		// The kubelet asks at the pod's address.
		"0.0.0.0:10301": "csi-liveness-probe",
	}
	want := map[string]map[string]string{
		driver.RBD.ControllerName():    controller,
		driver.CephFS.ControllerName(): controller,
		driver.RBD.NodeName():          {"127.0.0.1:10310": "csi-liveness-probe", "127.0.0.1:10311": "csi-node-driver-registrar"},
		driver.CephFS.NodeName():       {"127.0.0.1:10312": "csi-liveness-probe", "127.0.0.1:10313": "csi-node-driver-registrar"},
	}
	onNodes := map[string]string{}
	for _, w := range workloads(t) {
		have := listeners(w)
		if diff := cmp.Diff(want[w.meta.Name], have); diff != "" {
			t.Errorf("%s (-want +got):\n%s", w.meta.Name, diff)
		}
		if !w.node {
			continue
		}
		for address := range have {
			if other, taken := onNodes[address]; taken {
				t.Errorf("%s and %s both listen on %s of every node", other, w.meta.Name, address)
			}
			onNodes[address] = w.meta.Name
		}
	}
}

// TestContainerPorts shows that declared ports are listened on and that probes reach them.
func TestContainerPorts(t *testing.T) {
	for _, w := range workloads(t) {
		numbers := map[string]bool{}
		for address := range listeners(w) {
			numbers[address[strings.LastIndex(address, ":")+1:]] = true
		}
		names := map[string]bool{}
		for _, c := range w.template.Spec.Containers {
			for _, port := range c.Ports {
				if names[port.Name] {
					t.Errorf("%s: two ports are called %s", w.meta.Name, port.Name)
				}
				names[port.Name] = true
				if !numbers[strconv.Itoa(int(port.ContainerPort))] {
					t.Errorf("%s: nothing listens on port %d of %s", w.meta.Name, port.ContainerPort, c.Name)
				}
			}
			if probe := c.LivenessProbe; probe != nil {
				host := ""
				if w.node {
					host = "127.0.0.1"
				}
				if probe.HTTPGet.Host != host || !hasPort(c, probe.HTTPGet.Port) {
					t.Errorf("%s: the probe of %s asks %q, port %s", w.meta.Name, c.Name, probe.HTTPGet.Host, probe.HTTPGet.Port.String())
				}
			}
		}
	}
}

func hasPort(c corev1.Container, name intstr.IntOrString) bool {
	return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == name.StrVal })
}

// serviceMonitor has the fields of a ServiceMonitor that ours sets; others are an error.
type serviceMonitor struct {
	APIVersion string                           `json:"apiVersion"`
	Kind       string                           `json:"kind"`
	Metadata   struct{ Name, Namespace string } `json:"metadata"`
	Spec       struct {
		JobLabel string `json:"jobLabel"`
		Selector struct {
			MatchLabels map[string]string `json:"matchLabels"`
		} `json:"selector"`
		Endpoints []struct {
			Port, Path, Scheme, Interval, BearerTokenFile string
			TLSConfig                                     struct{ CAFile, CertFile, KeyFile, ServerName string } `json:"tlsConfig"`
		} `json:"endpoints"`
	} `json:"spec"`
}

// TestServiceMonitorsOfOperators: one field that prometheus-operator does not know, and oc apply fails.
func TestServiceMonitorsOfOperators(t *testing.T) {
	files, err := filepath.Glob("csidriveroperators/*/*_servicemonitor.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "../manifests/12_servicemonitor.yaml")
	if len(files) != 1+len(driver.All) {
		t.Fatalf("found %q", files)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct {
			serviceMonitor `json:",inline"`
			Metadata       metav1.ObjectMeta `json:"metadata"`
		}
		if err := yaml.UnmarshalStrict(content, &manifest); err != nil || len(manifest.Spec.Endpoints) == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestMetrics follows the way of a scrape: ServiceMonitor, Service, kube-rbac-proxy, sidecar.
func TestMetrics(t *testing.T) {
	for _, w := range workloads(t) {
		if w.node {
			continue
		}
		t.Run(w.driver.Kind, func(t *testing.T) {
			var service corev1.Service
			asset(t, w.driver, "static/10_controller_metrics_service.yaml", &service)
			var monitor serviceMonitor
			asset(t, w.driver, assets.ServiceMonitor, &monitor)
			if monitor.Metadata.Name != w.driver.ServiceMonitor() {
				t.Errorf("the operator watches ServiceMonitor %s, the asset is %s", w.driver.ServiceMonitor(), monitor.Metadata.Name)
			}
			if !labelSet(service.Labels).AsSelector().Matches(labelSet(monitor.Spec.Selector.MatchLabels)) {
				t.Errorf("ServiceMonitor selects %v, the Service has %v", monitor.Spec.Selector.MatchLabels, service.Labels)
			}
			if !labelSet(service.Spec.Selector).AsSelector().Matches(labelSet(w.template.Labels)) {
				t.Errorf("the Service selects %v, the pods have %v", service.Spec.Selector, w.template.Labels)
			}
			if secret := service.Annotations["service.beta.openshift.io/serving-cert-secret-name"]; secret != w.driver.MetricsCertSecret() {
				t.Errorf("the certificate goes to Secret %s, want %s", secret, w.driver.MetricsCertSecret())
			}
			scraped := map[string]bool{}
			for _, endpoint := range monitor.Spec.Endpoints {
				scraped[endpoint.Port] = true
				if want := service.Name + "." + driver.Namespace + ".svc"; endpoint.TLSConfig.ServerName != want {
					t.Errorf("%s is scraped as %s, the certificate is for %s", endpoint.Port, endpoint.TLSConfig.ServerName, want)
				}
			}
			checkProxies(t, w, service, scraped)
		})
	}
}

func checkProxies(t *testing.T, w workload, service corev1.Service, scraped map[string]bool) {
	t.Helper()
	listening := listeners(w)
	for _, c := range w.template.Spec.Containers {
		if !strings.HasPrefix(c.Name, "kube-rbac-proxy-") {
			continue
		}
		port := c.Ports[0]
		if !slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool {
			return p.Name == port.Name && p.Port == port.ContainerPort && p.TargetPort.StrVal == port.Name
		}) {
			t.Errorf("the Service lacks port %s (%d) of %s", port.Name, port.ContainerPort, c.Name)
		}
		if !scraped[port.Name] {
			t.Errorf("nobody scrapes port %s", port.Name)
		}
		delete(scraped, port.Name)
		if port.ContainerPort < 9201 || port.ContainerPort > 9223 {
			t.Errorf("%s: the NetworkPolicy for metrics lets nobody in at port %d", c.Name, port.ContainerPort)
		}
		job := strings.TrimPrefix(c.Name, "kube-rbac-proxy-")
		for _, arg := range c.Args {
			if upstream, ok := strings.CutPrefix(arg, "--upstream=http://"); ok && !strings.Contains(listening[strings.TrimSuffix(upstream, "/")], job) {
				t.Errorf("%s asks %s, where %q listens", c.Name, upstream, listening[strings.TrimSuffix(upstream, "/")])
			}
		}
	}
	if len(scraped) > 0 {
		t.Errorf("nothing is behind ports %v", slices.Sorted(maps.Keys(scraped)))
	}
}
