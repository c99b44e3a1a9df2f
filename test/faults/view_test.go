package faults

import (
	"bufio"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// ask is a GET; the status is 0 where nobody answers.
func ask(t *testing.T, p *Proxy, client *http.Client, path string) (int, *bufio.Reader) {
	t.Helper()
	response, err := client.Get(p.URL() + path)
	if err != nil {
		return 0, nil
	}
	t.Cleanup(func() { response.Body.Close() })
	return response.StatusCode, bufio.NewReader(response.Body)
}

func expect(t *testing.T, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%s: status %d, want %d", what, got, want)
	}
}

// write makes the one write at which a view begins.
func write(t *testing.T, p *Proxy, client *http.Client, view View, want int) {
	t.Helper()
	p.Arm(Fault{View: view, Ends: view == Past, Done: view == Past}, 1, "7", func() {})
	status := 0
	if response, err := client.Post(p.URL()+"/configmaps", "", nil); err == nil {
		response.Body.Close()
		status = response.StatusCode
	}
	expect(t, "the write", status, want)
}

// TestLate: what happens is told at the end, and not before; lists and writes are of now.
func TestLate(t *testing.T) {
	s, p, client := stage(t)
	_, events := ask(t, p, client, "/pods?watch=1")
	write(t, p, client, Late, http.StatusCreated)
	var ended atomic.Bool
	early := make(chan bool, 1)
	go func() {
		line, _ := events.ReadString('\n')
		early <- line != "a\n" || !ended.Load()
	}()
	s.events <- "a"
	<-s.told
	status, _ := ask(t, p, client, "/pods?resourceVersion=0")
	expect(t, "a list", status, http.StatusCreated)
	ended.Store(true)
	p.end()
	if <-early {
		t.Error("the event was told at once, or another was told")
	}
}

// TestSkipped: what happens is never told, and who watches has to list anew, once.
func TestSkipped(t *testing.T) {
	s, p, client := stage(t)
	_, events := ask(t, p, client, "/pods?watch=1&labelSelector=a")
	write(t, p, client, Skipped, http.StatusCreated)
	s.events <- "a"
	<-s.told
	p.end()
	if line, err := events.ReadString('\n'); err == nil {
		t.Errorf("told of %q", line)
	}
	for _, tc := range []struct {
		path string
		want int
	}{
		{"/pods?watch=1&labelSelector=b", http.StatusCreated},
		{"/pods?watch=1&labelSelector=a", http.StatusGone},
		{"/pods?watch=1&labelSelector=a", http.StatusCreated},
	} {
		status, _ := ask(t, p, client, tc.path)
		expect(t, tc.path, status, tc.want)
	}
}

// TestMissed: the first thing that happens is not told, and who watches has to list anew, without a stream.
func TestMissed(t *testing.T) {
	s, p, client := stage(t)
	_, events := ask(t, p, client, "/pods?watch=1")
	write(t, p, client, Missed, http.StatusCreated)
	s.events <- "a"
	<-s.told
	if line, err := events.ReadString('\n'); err == nil {
		t.Errorf("told of %q", line)
	}
	for _, tc := range []struct {
		path string
		want int
	}{
		{"/pods?watch=1&sendInitialEvents=true", http.StatusUnprocessableEntity},
		{"/pods?watch=1", http.StatusGone},
		{"/pods?resourceVersion=0", http.StatusCreated},
	} {
		status, _ := ask(t, p, client, tc.path)
		expect(t, tc.path, status, tc.want)
	}
	p.end()
	status, _ := ask(t, p, client, "/pods?watch=1&sendInitialEvents=true")
	expect(t, "afterwards", status, http.StatusCreated)
}

// TestHold: only what happens at that path waits, until it is released.
func TestHold(t *testing.T) {
	for path, waits := range map[string]bool{"/pods": true, "/nodes": false} {
		s, p, client := stage(t)
		_, events := ask(t, p, client, path+"?watch=1")
		p.Hold("/pods")
		var released atomic.Bool
		early := make(chan bool, 1)
		go func() {
			line, _ := events.ReadString('\n')
			early <- line == "a\n" && !released.Load()
		}()
		s.events <- "a"
		<-s.told
		if waits {
			released.Store(true)
			p.Release()
		}
		if <-early == waits {
			t.Errorf("%s waits: %t", path, !waits)
		}
		p.Release()
	}
}

// TestPast: what may come from a cache is old, what asks for the latest is not.
func TestPast(t *testing.T) {
	s, p, client := stage(t)
	write(t, p, client, Past, 0)
	for path, want := range map[string]int{
		"/pods?sendInitialEvents=true&watch=1": http.StatusUnprocessableEntity,
		"/pods?resourceVersion=0":              http.StatusCreated,
		"/pods?limit=500":                      http.StatusCreated,
	} {
		status, _ := ask(t, p, client, path)
		expect(t, path, status, want)
	}
	p.end()
	ask(t, p, client, "/nodes?resourceVersion=0")
	slices.Sort(s.got)
	if got, want := strings.Join(s.got, "\n"), strings.Join([]string{
		"GET /nodes?resourceVersion=0 Bearer mine",
		"GET /pods?limit=500 Bearer mine",
		"GET /pods?resourceVersion=7&resourceVersionMatch=Exact Bearer mine",
		"POST /configmaps Bearer mine",
	}, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestAway: nothing is answered, watches end, and then all is as before.
func TestAway(t *testing.T) {
	_, p, client := stage(t)
	_, events := ask(t, p, client, "/pods?watch=1")
	write(t, p, client, Away, 0)
	if line, err := events.ReadString('\n'); err == nil {
		t.Errorf("told of %q", line)
	}
	status, _ := ask(t, p, client, "/pods")
	expect(t, "away", status, 0)
	p.end()
	status, _ = ask(t, p, client, "/pods")
	expect(t, "back", status, http.StatusCreated)
}

// TestRefusing: writes of that kind are refused, of any name and namespace, until it ends; others and reads are not.
func TestRefusing(t *testing.T) {
	s, p, client := stage(t)
	_, events := ask(t, p, client, "/api/v1/secrets?watch=1")
	p.Arm(Fault{View: Refusing, Status: http.StatusForbidden}, 1, "", nil)
	post := func(path string, want int) {
		t.Helper()
		response, err := client.Post(p.URL()+path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		expect(t, path, response.StatusCode, want)
	}
	post("/api/v1/namespaces/a/secrets", http.StatusForbidden)
	post("/api/v1/namespaces/b/secrets/x", http.StatusForbidden)
	post("/api/v1/namespaces/a/configmaps", http.StatusCreated)
	post("/apis/example.com/v1/namespaces/a/secrets", http.StatusCreated)
	status, _ := ask(t, p, client, "/api/v1/namespaces/a/secrets/x")
	expect(t, "a read", status, http.StatusCreated)
	s.events <- "a"
	<-s.told
	if line, err := events.ReadString('\n'); line != "a\n" {
		t.Errorf("told of %q, %v", line, err)
	}
	p.end()
	post("/api/v1/namespaces/b/secrets/x", http.StatusCreated)
	if p.Hit() != "POST /api/v1/namespaces/a/secrets" || len(p.Writes()) != 5 {
		t.Errorf("hit %q of %q", p.Hit(), p.Writes())
	}
}

// TestSilent: the write is made, and Ceph is silenced, or a clock set.
func TestSilent(t *testing.T) {
	for _, fault := range []Fault{{Silent: Mgr}, {Jump: time.Hour}} {
		t.Run(string(fault.Silent)+fault.Jump.String(), func(t *testing.T) { silent(t, fault) })
	}
}

func silent(t *testing.T, fault Fault) {
	t.Helper()
	s, p, client := stage(t)
	silenced := false
	p.Arm(fault, 1, "", func() { silenced = true })
	response, err := client.Post(p.URL()+"/configmaps", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if !silenced || len(s.got) != 1 {
		t.Errorf("silenced is %t, the server has got %q", silenced, s.got)
	}
}
