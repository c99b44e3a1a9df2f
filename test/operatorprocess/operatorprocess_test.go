package operatorprocess

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess/box"
)

// mountedObjects are what the pod of RBD's operator mounts.
func mountedObjects() []runtime.Object {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: driver.Namespace, Name: name} }
	return []runtime.Object{
		&corev1.ConfigMap{ObjectMeta: meta("kube-root-ca.crt"), Data: map[string]string{"ca.crt": "the CA\n"}},
		&corev1.ConfigMap{ObjectMeta: meta("ceph-rbd-csi-driver-operator-config"), Data: map[string]string{"config.yaml": "the configuration\n"}},
		&corev1.Secret{ObjectMeta: meta("ceph-rbd-csi-driver-operator-serving-cert"), Data: map[string][]byte{"tls.crt": []byte("a certificate\n"), "tls.key": []byte("a key\n")}},
	}
}

func clientWith(objects ...runtime.Object) kubernetes.Interface {
	return clientWithTokens(time.Hour, func() string { return "a token\n" }, objects...)
}

func clientWithTokens(life time.Duration, token func() string, objects ...runtime.Object) kubernetes.Interface {
	client := fake.NewClientset(objects...)
	client.PrependReactor("create", "serviceaccounts/token", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return true, &authenticationv1.TokenRequest{Status: authenticationv1.TokenRequestStatus{Token: token(), ExpirationTimestamp: metav1.NewTime(time.Now().Add(life))}}, nil
	})
	return client
}

func operatorPod(t *testing.T) *corev1.Pod {
	t.Helper()
	deployment, err := Deployment(driver.RBD)
	if err != nil {
		t.Fatal(err)
	}
	return PodOf(deployment)
}

// standIn is an operator's pod whose program prints what it was started with and then behaves as
// told.
func standIn(t *testing.T, behaviour string) Config {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "operator")
	script := "#!/bin/sh\necho arguments: \"$@\"\n/usr/bin/env\n" + behaviour + "\n"
	if err := os.WriteFile(binary, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return Config{
		Pod: operatorPod(t), Binary: binary, Client: clientWith(mountedObjects()...),
		APIServer: "https://127.0.0.1:6443", Dir: filepath.Join(dir, "rbd"),
	}
}

const (
	waits   = `echo started; while :; do /bin/sleep 0.01; done`
	obeys   = `trap 'echo bye; exit 0' TERM; ` + waits
	ignores = `trap '' TERM; echo deaf; ` + waits
)

func run(t *testing.T, c Config) *Process {
	t.Helper()
	p, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.Exited() == nil {
			p.Kill()
		}
	})
	return p
}

// printed waits until the log has the text n times.
func printed(t *testing.T, p *Process, text string, n int) string {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(30 * time.Second)
	for {
		content, err := os.ReadFile(p.LogFile())
		if err == nil && bytes.Count(content, []byte(text)) >= n {
			return string(content)
		}
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("the log does not have %q %d times:\n%s", text, n, content)
		}
	}
}

// TestNothingIsAdded compares what the program sees with the rendered Deployment, whole.
func TestNothingIsAdded(t *testing.T) {
	if err := box.Available(); err != nil {
		t.Skipf("no root file system for a process here: %v", err)
	}
	t.Setenv("CEPH_ARGS", "--leaked")
	const files = `cd /var/run; cat configmaps/config/config.yaml secrets/serving-cert/tls.crt secrets/serving-cert/tls.key
		cd secrets/kubernetes.io/serviceaccount; cat token ca.crt namespace; echo; /usr/bin/id -u; echo kept > /tmp/file && cat /tmp/file; `
	c := standIn(t, files+obeys)
	log := printed(t, run(t, c), "started", 1)
	log, _, _ = strings.Cut(log, "started")
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(log), "\n"), func(line string) bool {
		return strings.HasPrefix(line, "PWD=") || strings.HasPrefix(line, "OLDPWD=") || strings.HasPrefix(line, "_=") || strings.HasPrefix(line, "SHLVL=") // the shell's
	})
	container := c.Pod.Spec.Containers[0]
	want := []string{
		"arguments: " + strings.Join(container.Args, " "),
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME=" + c.Pod.Name, "HOME=/",
		"KUBERNETES_SERVICE_HOST=127.0.0.1", "KUBERNETES_SERVICE_PORT=6443",
		"the configuration", "a certificate", "a key", "a token", "the CA", driver.Namespace, "1001", "kept",
	}
	for _, v := range container.Env {
		if v.ValueFrom != nil {
			v.Value = "ceph-rbd-csi-driver-operator-0"
		}
		want = append(want, v.Name+"="+v.Value)
	}
	slices.Sort(lines)
	slices.Sort(want)
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOutside pins what is replaced where nothing can be mounted: no more than that.
func TestOutside(t *testing.T) {
	dir := t.TempDir()
	pod := operatorPod(t)
	plan := box.Plan{Arguments: slices.Clone(pod.Spec.Containers[0].Args), Environment: []string{"A=1"}, Mounts: []box.Mount{
		{Target: "/tmp", Source: "/d/tmp"}, {Target: "/var/run/configmaps/config", Source: "/d/config"}, {Target: accountPath, Source: "/d/account"},
	}}
	got, err := outside(plan, Config{Pod: pod, Dir: dir, APIServer: "https://127.0.0.1:6443"})
	if err != nil {
		t.Fatal(err)
	}
	want := box.Plan{
		Arguments: []string{
			"start", "--driver=rbd", "-v=2", "--config=/d/config/config.yaml", "--terminate-on-files=/d/config/config.yaml",
			"--kubeconfig=" + dir + "/kubeconfig",
		},
		Environment: []string{"A=1", "TMPDIR=/d/tmp"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPodsThatAreRefused(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(*Config)
		want   string
	}{
		"Variable":  {"a value that a kubelet would know must not be left out", func(c *Config) { c.Pod.Spec.Containers[0].Env[0].ValueFrom = &corev1.EnvVarSource{} }, "DRIVER_IMAGE"},
		"Volume":    {"nor a file", func(c *Config) { c.Pod.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{} }, "volume tmp"},
		"Missing":   {"a pod whose ConfigMap is missing does not start", func(c *Config) { c.Client = clientWith(mountedObjects()[:1]...) }, "serving-cert"},
		"Container": {"there is one program", func(c *Config) { c.Pod.Spec.Containers = append(c.Pod.Spec.Containers, corev1.Container{}) }, "one container"},
		"Command":   {"it is the image's", func(c *Config) { c.Pod.Spec.Containers[0].Command = []string{"sh"} }, "the image's program"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := standIn(t, obeys)
			tc.change(&c)
			if _, err := start(t.Context(), c); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

func TestWaitsForWhatIsMounted(t *testing.T) {
	objects := mountedObjects()
	c := standIn(t, obeys)
	c.Client = clientWith(objects[:2]...)
	_, err := start(t.Context(), c)
	if !apierrors.IsNotFound(err) {
		t.Fatalf("without its Secret: %v", err)
	}
	made := make(chan error, 1)
	go func() {
		_, err := c.Client.CoreV1().Secrets(driver.Namespace).Create(t.Context(), objects[2].(*corev1.Secret), metav1.CreateOptions{})
		made <- err
	}()
	printed(t, run(t, c), "started", 1)
	if err := <-made; err != nil {
		t.Error(err)
	}
}

func TestStopAsksAndRestartLogsOn(t *testing.T) {
	p := run(t, standIn(t, obeys))
	printed(t, p, "started", 1)
	if err := p.Restart(); err == nil || !strings.Contains(err.Error(), "runs already") {
		t.Errorf("Restart of a running one: %v", err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.Exited() == nil {
		t.Error("still runs after Stop")
	}
	if err := p.Restart(); err != nil {
		t.Fatal(err)
	}
	printed(t, p, "started", 2)
	p.Kill()
	if log := printed(t, p, "bye", 1); strings.Count(log, "bye") != 1 {
		t.Errorf("Kill must not ask first:\n%s", log)
	}
}

func TestStopKillsTheDeaf(t *testing.T) {
	p := run(t, standIn(t, ignores))
	printed(t, p, "deaf", 1)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := p.Stop(ctx)
	if err == nil || !strings.Contains(err.Error(), "ignored SIGTERM") || p.Exited() == nil {
		t.Errorf("Stop: %v; ended: %v", err, p.Exited())
	}
}

func TestDumpLeavesTheStacks(t *testing.T) {
	p := run(t, standIn(t, `trap 'echo goroutine 1; exit 2' QUIT; `+waits))
	printed(t, p, "started", 1)
	if err := p.Dump(t.Context()); err != nil || p.Exited() == nil {
		t.Errorf("Dump: %v; ended: %v", err, p.Exited())
	}
	printed(t, p, "goroutine 1", 1)
}

func TestBinaryThatIsMissing(t *testing.T) {
	t.Setenv("OPERATOR_BINARY", filepath.Join(t.TempDir(), "nothing"))
	if _, err := Binary(); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("the error must say what to do: %v", err)
	}
}
