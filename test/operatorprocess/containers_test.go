package operatorprocess

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess/box"
)

var errUnknown = errors.New("no such image")

// pair is a pod of a node whose containers share a folder of it.
func pair() *corev1.Pod {
	mounts := []corev1.VolumeMount{{Name: "shared", MountPath: "/csi", SubPath: "x"}}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "driver-x", Namespace: "drivers"},
		Spec: corev1.PodSpec{
			NodeName: "worker-0", HostNetwork: true,
			Volumes: []corev1.Volume{{Name: "shared", VolumeSource: corev1.VolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: "/var/lib/kubelet/plugins", Type: ptr.To(corev1.HostPathDirectoryOrCreate)},
			}}},
			Containers: []corev1.Container{
				{Name: "driver", Image: "driver:1", Args: []string{"--node=$(NODE)"}, VolumeMounts: mounts, Env: []corev1.EnvVar{{
					Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}},
				}}},
				{Name: "sidecar", Image: "sidecar:1", VolumeMounts: mounts, SecurityContext: &corev1.SecurityContext{
					RunAsUser: ptr.To[int64](1234), ReadOnlyRootFilesystem: ptr.To(true),
				}},
			},
		},
	}
}

// scripts are the programs of images.
func scripts(t *testing.T, bodies map[string]string) func(string) (Program, error) {
	t.Helper()
	dir := t.TempDir()
	return func(image string) (Program, error) {
		body, known := bodies[image]
		if !known {
			return Program{}, errUnknown
		}
		file := filepath.Join(dir, strings.ReplaceAll(image, ":", "-"))
		return Program{File: file, Entrypoint: "/usr/bin/program"}, os.WriteFile(file, []byte("#!/bin/sh\n"+body+"\n"+obeys+"\n"), 0o755)
	}
}

func pairConfig(t *testing.T) Config {
	t.Helper()
	return Config{Pod: pair(), Client: clientWith(), APIServer: "https://127.0.0.1:6443", Dir: t.TempDir(), Node: t.TempDir()}
}

func TestStartContainers(t *testing.T) {
	if err := box.Available(); err != nil {
		t.Skipf("no root file system for a process here: %v", err)
	}
	const wait = `while [ ! -e /csi/said ]; do /bin/sleep 0.01; done; `
	programs := scripts(t, map[string]string{
		"driver:1":  `echo "$@"; cat /proc/sys/kernel/hostname; id -u; echo kept > /tmp/file && cat /tmp/file; echo hello > /csi/said`,
		"sidecar:1": wait + `cat /csi/said; id -u; (echo > /file) 2>/dev/null || echo read-only`,
	})
	c := pairConfig(t)
	all, err := StartContainers(t.Context(), c, programs)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, p := range all {
		t.Cleanup(p.Kill)
		got[name], _, _ = strings.Cut(printed(t, p, "started", 1), "started")
	}
	want := map[string]string{"driver": "--node=worker-0\nworker-0\n0\nkept\n", "sidecar": "hello\n1234\nread-only\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(c.Node, "var/lib/kubelet/plugins/x/said")); err != nil {
		t.Errorf("the node does not have what its pod wrote: %v", err)
	}
}

func TestContainersThatAreRefused(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(*Config)
		want   string
	}{
		"Init":    {"it would have run before", func(c *Config) { c.Pod.Spec.InitContainers = []corev1.Container{{Name: "first"}} }, "init containers"},
		"Image":   {"nobody knows what it starts", func(c *Config) { c.Pod.Spec.Containers[1].Image = "new:1" }, "container sidecar of pod driver-x: no such image"},
		"Missing": {"a kubelet does not make it", func(c *Config) { c.Pod.Spec.Volumes[0].HostPath.Type = ptr.To(corev1.HostPathDirectory) }, "no such file"},
		"NoNode":  {"the machine's own folders are not a node's", func(c *Config) { c.Node = "" }, "there is none here"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := pairConfig(t)
			tc.change(&c)
			_, err := StartContainers(t.Context(), c, scripts(t, map[string]string{"driver:1": "", "sidecar:1": ""}))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}
