package faults

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/controlplane"
)

// server is an API server that keeps what it got.
type server struct {
	mu  sync.Mutex
	got []string
	// events go to who watches; told gets one back for each that is sent.
	events, told chan string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	query := ""
	if r.Method == http.MethodGet {
		query = "?" + r.URL.RawQuery
	}
	s.got = append(s.got, r.Method+" "+r.URL.Path+query+" "+r.Header.Get("Authorization"))
	s.mu.Unlock()
	w.WriteHeader(http.StatusCreated)
	for r.URL.Query().Has("watch") {
		_ = http.NewResponseController(w).Flush()
		select {
		case event := <-s.events:
			_, _ = io.WriteString(w, event+"\n")
			_ = http.NewResponseController(w).Flush()
			s.told <- event
		case <-r.Context().Done():
			return
		}
	}
}

// stage is a server with a proxy in front of it.
func stage(t *testing.T) (*server, *Proxy, *http.Client) {
	t.Helper()
	s := &server{events: make(chan string), told: make(chan string)}
	behind := httptest.NewUnstartedServer(s)
	behind.EnableHTTP2 = true
	behind.StartTLS()
	t.Cleanup(behind.Close)
	authority, err := controlplane.NewAuthority("test")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Server("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	certificate, key := filepath.Join(t.TempDir(), "crt"), filepath.Join(t.TempDir(), "key")
	for file, content := range map[string][]byte{certificate: pair.Certificate, key: pair.Key} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: behind.Certificate().Raw})
	p, err := Start(&rest.Config{Host: behind.URL, BearerToken: "of nobody", TLSClientConfig: rest.TLSClientConfig{CAData: ca}}, certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop() })
	transport, err := rest.TransportFor(&rest.Config{Host: p.URL(), BearerToken: "mine", TLSClientConfig: rest.TLSClientConfig{CAData: authority.PEM()}})
	if err != nil {
		t.Fatal(err)
	}
	return s, p, &http.Client{Transport: transport}
}

// TestEach has a fault happen again and again, and Hit tell the first.
func TestEach(t *testing.T) {
	_, p, client := stage(t)
	p.Arm(Fault{Status: http.StatusForbidden, Each: 2}, 2, "", nil)
	var codes []int
	for _, path := range []string{"/configmaps/a", "/configmaps/b", "/configmaps/c", "/configmaps/d", "/configmaps/e"} {
		response, err := client.Post(p.URL()+path, "", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, response.StatusCode)
		response.Body.Close()
	}
	const yes, no = http.StatusCreated, http.StatusForbidden
	if want := []int{yes, no, yes, no, yes}; !slices.Equal(codes, want) || p.Hit() != "POST /configmaps/b" {
		t.Errorf("answers %v, want %v; first at %q", codes, want, p.Hit())
	}
}

func TestFaults(t *testing.T) {
	for _, fault := range All {
		if fault.View != Present || fault.Silent != "" || fault.Jump != 0 {
			continue
		}
		t.Run(fault.Name, func(t *testing.T) {
			s, p, client := stage(t)
			killed := false
			p.Arm(fault, 2, "", func() { killed = true })
			var codes []int
			for _, path := range []string{"/configmaps/a", "/leases/b", "/configmaps/b?dryRun=All", "/configmaps/c", "/configmaps/d"} {
				response, err := client.Post(p.URL()+path, "", strings.NewReader("{}"))
				if err != nil {
					codes = append(codes, 0)
					continue
				}
				codes = append(codes, response.StatusCode)
				response.Body.Close()
			}
			if want := []int{http.StatusCreated, http.StatusCreated, http.StatusCreated, fault.Status, http.StatusCreated}; !slices.Equal(codes, want) {
				t.Errorf("answers %v, want %v", codes, want)
			}
			if has := slices.Contains(s.got, "POST /configmaps/c Bearer mine"); has != fault.Done || len(s.got) < 4 {
				t.Errorf("the server has got %q", s.got)
			}
			if killed != fault.Ends || p.Hit() != "POST /configmaps/c" || len(p.Writes()) != 3 {
				t.Errorf("killed is %t, hit %q of %q", killed, p.Hit(), p.Writes())
			}
		})
	}
}

// TestArmWaits: who has armed anew does not see a fault of before end the program.
func TestArmWaits(t *testing.T) {
	_, p, client := stage(t)
	begun, end, ended := make(chan struct{}), make(chan struct{}), atomic.Bool{}
	p.Arm(Fault{Ends: true}, 1, "", func() {
		close(begun)
		<-end
		ended.Store(true)
	})
	go func() { _, _ = client.Post(p.URL()+"/configmaps/a", "", nil) }()
	<-begun
	time.AfterFunc(50*time.Millisecond, func() { close(end) })
	p.Arm(Fault{}, 0, "", nil)
	if !ended.Load() {
		t.Error("the fault of before goes on")
	}
}

func TestUnarmed(t *testing.T) {
	s, p, client := stage(t)
	for range 3 {
		response, err := client.Post(p.URL()+"/x", "", nil)
		if err != nil || response.ProtoMajor != 2 {
			t.Fatalf("%v, %v", response, err)
		}
		response.Body.Close()
	}
	if len(s.got) != 3 || len(p.Writes()) != 3 || p.Hit() != "" {
		t.Errorf("got %q, writes %q, hit %q", s.got, p.Writes(), p.Hit())
	}
}
