package arguments

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/images"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
	"github.com/openshift/ceph-csi-driver-operator/test/standins/sidecar"
)

// walked is a container that runs.
type walked struct {
	*site
	pod       *corev1.Pod
	container corev1.Container
	process   *operatorprocess.Process
	// all are those of the pod.
	all map[string]*operatorprocess.Process
}

// duties are what a container must do to serve, by the program that it runs.
var duties = map[string]func(walked, context.Context) error{
	"cephcsi":                   walked.drives,
	"csi-node-driver-registrar": walked.registers,
	"livenessprobe":             walked.isHealthy,
	"kube-rbac-proxy":           walked.guards,
	"csi-provisioner":           walked.leads,
	"csi-attacher":              walked.leads,
	"csi-resizer":               walked.leads,
	"csi-snapshotter":           walked.leads,
}

// podServes starts a pod and waits until each of its containers serves.
func (s *site) podServes(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	all := s.startPod(t, pod)
	for _, c := range pod.Spec.Containers {
		t.Run(c.Name, func(t *testing.T) {
			program, err := images.Program(t.Context(), t.Output(), c.Image)
			if err != nil {
				t.Fatal(err)
			}
			duty, known := duties[path.Base(program.Entrypoint)]
			if !known {
				t.Fatalf("nobody here knows how %s serves", program.Entrypoint)
			}
			w := walked{site: s, pod: pod, container: c, process: all[c.Name], all: all}
			eventually(t, w.process, func(ctx context.Context) error {
				ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
				defer cancel()
				return errors.Join(duty(w, ctx), w.listens(), w.isAlive(ctx))
			})
			if secret := w.secretAt(path.Dir(w.flag("tls-cert-file"))); secret != "" {
				s.hasCertificate(t, w.at(w.portOf("secure-listen-address")), secret)
			}
		})
	}
}

// flag is the value of one; empty where it is not given.
func (w walked) flag(name string) string {
	for _, argument := range w.container.Args {
		if value, ok := strings.CutPrefix(argument, "--"+name+"="); ok {
			return value
		}
	}
	return ""
}

// portOf is the port in a flag that is an address, a URL or a number.
func (w walked) portOf(flag string) int {
	value := w.flag(flag)
	if _, port, err := net.SplitHostPort(value); err == nil {
		value = port
	}
	port, _ := strconv.Atoi(value)
	return port
}

// at is where a port of the pod is on this machine.
func (w walked) at(port int) string {
	address, err := w.process.At(port)
	if err != nil {
		return err.Error()
	}
	return address
}

// listens says which of the declared ports nobody listens at.
func (w walked) listens() error {
	for _, port := range w.container.Ports {
		conn, err := net.Dial("tcp", w.at(int(port.ContainerPort)))
		if err != nil {
			return fmt.Errorf("port %s: %w", port.Name, err)
		}
		_ = conn.Close()
	}
	return nil
}

// isAlive asks what the kubelet asks.
func (w walked) isAlive(ctx context.Context) error {
	for _, probe := range []*corev1.Probe{w.container.LivenessProbe, w.container.ReadinessProbe, w.container.StartupProbe} {
		switch {
		case probe == nil:
		case probe.HTTPGet == nil:
			return errors.New("has a probe of a kind that is not known here")
		default:
			if err := w.shows(ctx, w.numberOf(probe.HTTPGet.Port), probe.HTTPGet.Path, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w walked) numberOf(port intstr.IntOrString) int {
	for _, declared := range w.container.Ports {
		if declared.Name == port.StrVal && port.Type == intstr.String {
			return int(declared.ContainerPort)
		}
	}
	return port.IntValue()
}

// shows asks without TLS.
func (w walked) shows(ctx context.Context, port int, path, text string) error {
	code, body, err := ask(ctx, "http://"+w.at(port)+path, "")
	if err == nil && (code != http.StatusOK || !strings.Contains(body, text)) {
		err = fmt.Errorf("%s of port %d: %d, without %q: %.300s", path, port, code, text, body)
	}
	return err
}

// drives: a driver answers at its sockets, and what watches it has metrics of that.
func (w walked) drives(ctx context.Context) error {
	if w.flag("type") == "liveness" {
		return w.shows(ctx, w.portOf("metricsport"), "/metrics", "csi_liveness ")
	}
	addons, err := w.process.Outside(strings.TrimPrefix(w.flag("csi-addons-endpoint"), "unix://"))
	if err != nil {
		return err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", addons)
	if err != nil {
		return err
	}
	_ = conn.Close()
	return w.call(ctx, w.flag("endpoint"), func(conn *grpc.ClientConn) error {
		if name, err := sidecar.DriverName(ctx, conn); err != nil || name != w.flag("drivername") {
			return fmt.Errorf("says that it is %q: %w", name, err)
		}
		ready, err := csi.NewIdentityClient(conn).Probe(ctx, &csi.ProbeRequest{})
		if err == nil && !ready.GetReady().GetValue() {
			err = errors.New("is not ready")
		}
		return err
	})
}

// call has something asked at a socket of the container.
func (w walked) call(ctx context.Context, endpoint string, ask func(*grpc.ClientConn) error) error {
	socket, err := w.process.Outside(strings.TrimPrefix(endpoint, "unix://"))
	if err != nil {
		return err
	}
	conn, err := sidecar.Connect(ctx, socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	return ask(conn)
}

// registers: the kubelet finds who is where, and somebody is there.
func (w walked) registers(ctx context.Context) error {
	name := path.Base(path.Dir(w.flag("kubelet-registration-path")))
	err := w.call(ctx, "/registration/"+name+"-reg.sock", func(conn *grpc.ClientConn) error {
		info, err := registration.NewRegistrationClient(conn).GetInfo(ctx, &registration.InfoRequest{})
		if err == nil && (info.Name != name || info.Endpoint != w.flag("kubelet-registration-path")) {
			err = fmt.Errorf("registers %s at %s", info.Name, info.Endpoint)
		}
		return err
	})
	if err != nil {
		return err
	}
	plugins, err := w.all["csi-driver"].Outside(w.flag("kubelet-registration-path"))
	if err != nil {
		return err
	}
	conn, err := net.Dial("unix", plugins)
	if err == nil {
		err = conn.Close()
	}
	return err
}

// isHealthy: the kubelet is told that the driver is.
func (w walked) isHealthy(ctx context.Context) error {
	port := w.portOf("health-port")
	if port == 0 {
		port = w.portOf("http-endpoint")
	}
	return w.shows(ctx, port, "/healthz", "ok")
}

// guards: who may sees the metrics of the one behind.
func (w walked) guards(ctx context.Context) error {
	upstream, err := url.Parse(w.flag("upstream"))
	if err != nil {
		return err
	}
	_, behind, err := ask(ctx, "http://"+w.at(number(upstream.Port()))+"/metrics", "")
	if err != nil {
		return err
	}
	address := "https://" + w.at(w.portOf("secure-listen-address")) + "/metrics"
	for token, wanted := range map[string]int{w.token: http.StatusOK, "": http.StatusUnauthorized, "a wrong one": http.StatusUnauthorized} {
		code, body, err := ask(ctx, address, token)
		if err != nil {
			return err
		}
		if code != wanted || code == http.StatusOK && !sameMetrics(body, behind) {
			return fmt.Errorf("metrics with token %t: %d, want %d: %.300s", token != "", code, wanted, body)
		}
	}
	return nil
}

func number(text string) int {
	out, _ := strconv.Atoi(text)
	return out
}

// sameMetrics says whether both texts begin with the same metric, which has a value of its own time.
func sameMetrics(a, b string) bool {
	first, _, found := strings.Cut(a, "\n")
	return found && strings.HasPrefix(b, first)
}

// leads: it has metrics, and one of the leases that the pod's sidecars ask for is there for each, by a name that
// they may renew.
func (w walked) leads(ctx context.Context) error {
	if err := w.shows(ctx, w.portOf("http-endpoint"), "/metrics", "process_start_time_seconds "); err != nil {
		return err
	}
	leases, err := w.kube.CoordinationV1().Leases(driver.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var known []string
	for _, d := range driver.All {
		known = append(known, d.SidecarLeases()...)
	}
	held, wanted := 0, 0
	for _, lease := range leases.Items {
		if holder := lease.Spec.HolderIdentity; holder != nil && *holder == w.pod.Name && slices.Contains(known, lease.Name) {
			held++
		}
	}
	for _, c := range w.pod.Spec.Containers {
		if (walked{container: c}).flag("leader-election") == "true" {
			wanted++
		}
	}
	if held != wanted {
		return fmt.Errorf("the pod has %d of %d leases", held, wanted)
	}
	return nil
}

// secretAt is the Secret that the container mounts at a path.
func (w walked) secretAt(path string) string {
	for _, m := range w.container.VolumeMounts {
		for _, v := range w.pod.Spec.Volumes {
			if m.MountPath == path && v.Name == m.Name && v.Secret != nil {
				return v.Secret.SecretName
			}
		}
	}
	return ""
}

// refuses starts a pod whose containers all have an argument too much, and waits until each has ended.
func refuses(t *testing.T, s *site, pod *corev1.Pod) {
	t.Helper()
	t.Run("UnknownFlag", func(t *testing.T) {
		wrong := pod.DeepCopy()
		for i := range wrong.Spec.Containers {
			wrong.Spec.Containers[i].Args = append(wrong.Spec.Containers[i].Args, "--never-heard-of=1")
		}
		for name, p := range s.startPod(t, wrong) {
			select {
			case <-p.Done():
				if log, err := os.ReadFile(p.LogFile()); !strings.Contains(string(log), "never-heard-of") {
					t.Errorf("%s: %v, %v", name, err, p.Exited())
				}
			case <-time.After(patience):
				t.Errorf("%s runs with a flag that it cannot know", name)
			}
		}
	})
}
