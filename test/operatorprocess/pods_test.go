package operatorprocess

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// eventually waits for a condition.
func eventually(t *testing.T, what string, reached func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(30 * time.Second)
	for !reached() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("%s: not reached", what)
		}
	}
}

type safeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *safeBuffer) count(text string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Count(b.Bytes(), []byte(text))
}

// TestRunPods follows a pod from before its Secret is there to its deletion.
func TestRunPods(t *testing.T) {
	objects := mountedObjects()
	c := standIn(t, obeys)
	c.Client = clientWith(objects[:2]...)
	ctx, cancel := context.WithCancel(t.Context())
	var log safeBuffer
	pods, err := RunPods(ctx, PodsConfig{
		Client: c.Client, Namespace: driver.Namespace, Selector: "name=" + driver.RBD.OperatorName(),
		Binary: c.Binary, APIServer: c.APIServer, Dir: t.TempDir(), Log: &log,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		<-pods.Done()
	}()
	pod := c.Pod.DeepCopy()
	pod.Status.Phase = corev1.PodRunning
	if _, err := c.Client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "word of the missing Secret", func() bool { return log.count("serving-cert") > 0 })
	if _, err := c.Client.CoreV1().Secrets(pod.Namespace).Create(ctx, objects[2].(*corev1.Secret), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var p *Process
	eventually(t, "its process", func() bool { p = pods.Processes()[pod.Name]; return p != nil })
	printed(t, p, "started", 1)
	if n := log.count("running pods:"); n != 1 {
		t.Errorf("said %d times what is missing", n)
	}
	p.Kill()
	printed(t, p, "started", 2)
	if err := c.Client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	printed(t, p, "bye", 1)
	eventually(t, "the end of its process", func() bool { return len(pods.Processes()) == 0 && p.Exited() != nil })
}

func TestPrepare(t *testing.T) {
	client := fake.NewClientset()
	for _, d := range driver.All {
		for range 2 { // what is there already is somebody's who has edited it
			if err := Prepare(t.Context(), client, d); err != nil {
				t.Fatal(err)
			}
		}
		deployment, err := Deployment(d)
		if err != nil {
			t.Fatal(err)
		}
		service, err := client.CoreV1().Services(driver.Namespace).Get(t.Context(), d.OperatorName()+"-metrics", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range deployment.Spec.Template.Spec.Volumes {
			if v.ConfigMap != nil {
				if _, err := client.CoreV1().ConfigMaps(driver.Namespace).Get(t.Context(), v.ConfigMap.Name, metav1.GetOptions{}); err != nil {
					t.Error(err)
				}
			}
			if v.Secret != nil && service.Annotations["service.beta.openshift.io/serving-cert-secret-name"] != v.Secret.SecretName {
				t.Errorf("nobody makes Secret %s: %v", v.Secret.SecretName, service.Annotations)
			}
		}
	}
}
