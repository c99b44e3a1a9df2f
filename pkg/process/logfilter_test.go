package process

import (
	"bytes"
	"encoding/base64"
	"flag"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// TestBodiesAreNotLogged: operatorLogLevel TraceAll is -v=8, where client-go logs what it sends and gets.
func TestBodiesAreNotLogged(t *testing.T) {
	const key = "AQBzZWNyZXRzZWNyZXRzZWNyZXQ="
	encoded := base64.StdEncoding.EncodeToString([]byte(key))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"},"data":{"userKey":"` + encoded + `"}}`))
	}))
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	for name, filtered := range map[string]bool{"Unfiltered": false, "Filtered": true} {
		t.Run(name, func(t *testing.T) {
			state := klog.CaptureState()
			t.Cleanup(state.Restore)
			var log bytes.Buffer
			flags := flag.NewFlagSet("klog", flag.ContinueOnError)
			klog.InitFlags(flags)
			if err := flags.Parse([]string{"-v=10", "-logtostderr=false"}); err != nil {
				t.Fatal(err)
			}
			klog.SetOutput(&log)
			if filtered {
				klog.SetLogFilter(WithoutBodies{})
			}
			secrets := client.CoreV1().Secrets("n")
			if _, err := secrets.Get(t.Context(), "s", metav1.GetOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := secrets.Update(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"userKey": key}}, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			klog.Flush()
			said := log.String()
			if leaks := strings.Contains(said, key) || strings.Contains(said, encoded); leaks == filtered {
				t.Errorf("leaks: %t\n%s", leaks, said)
			}
			if !strings.Contains(said, "Response Body") || !strings.Contains(said, "Request Body") {
				t.Errorf("client-go calls bodies something else:\n%s", said)
			}
		})
	}
}
