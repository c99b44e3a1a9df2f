package faults

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// Proxy passes requests on with the credentials that they carry, watches too. It speaks HTTP/2, as the API
// server does: one broken request leaves the others of its connection alone.
type Proxy struct {
	server http.Server
	url    string
	pass   *httputil.ReverseProxy

	mu     sync.Mutex
	writes []string
	armed  *armed
	seen   seen
}

// armed is a fault that waits for its write.
type armed struct {
	Fault
	at   int
	act  func()
	past string
	hit  string
	// striking are those of its writes that it is still acting at.
	striking sync.WaitGroup
}

// Start serves with the files of the API server's own certificate, so that who trusts that trusts this. The
// API server's address and CA are taken from config, and nobody's credentials.
func Start(config *rest.Config, certificate, key string) (*Proxy, error) {
	to, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("address of the API server: %w", err)
	}
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(config))
	if err != nil {
		return nil, fmt.Errorf("connecting to the API server: %w", err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(to.Hostname(), "0"))
	if err != nil {
		return nil, fmt.Errorf("listening in front of the API server: %w", err)
	}
	p := &Proxy{url: "https://" + listener.Addr().String()}
	quiet := log.New(io.Discard, "", 0)
	p.pass = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport:     transport,
		FlushInterval: -1,
		ErrorLog:      quiet,
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.server = http.Server{Handler: http.HandlerFunc(p.serve), ErrorLog: quiet}
	go func() { _ = p.server.ServeTLS(listener, certificate, key) }()
	return p, nil
}

// URL is where it is.
func (p *Proxy) URL() string { return p.url }

// Stop cuts all connections.
func (p *Proxy) Stop() error { return p.server.Close() }

// Arm forgets the writes and ends the fault so far, and has the fault happen at the one of that number, from 1; 0 is none.
// act does what is not the API server's: it ends the program and returns when it has ended, silences Ceph, or sets a clock.
// past is the resourceVersion for a View of the past. A fault before that is acting just now has acted when Arm returns.
func (p *Proxy) Arm(fault Fault, at int, past string, act func()) {
	p.end()
	p.mu.Lock()
	before := p.armed
	p.writes, p.armed = nil, &armed{Fault: fault, at: at, past: past, act: act}
	p.mu.Unlock()
	if before != nil {
		before.striking.Wait()
	}
}

// Hit is the first write that the fault has happened at, if any.
func (p *Proxy) Hit() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.armed == nil {
		return ""
	}
	return p.armed.hit
}

// Writes are those since the last Arm.
func (p *Proxy) Writes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.writes)
}

// isWrite says whether a request changes what others see. Leases are renewed at any time, events are told
// at some time, reviews, tokens and dry runs change nothing.
func isWrite(r *http.Request) bool {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return false
	}
	return !r.URL.Query().Has("dryRun") && !slices.ContainsFunc([]string{"/leases", "/events", "reviews", "/token"}, func(part string) bool { return strings.Contains(r.URL.Path, part) })
}

// take counts a write, and returns the fault if this is its turn, which strike is to be called for.
func (p *Proxy) take(r *http.Request) *armed {
	if !isWrite(r) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	what := r.Method + " " + r.URL.Path
	p.writes = append(p.writes, what)
	if p.armed == nil || !p.armed.falls(p.armed.at, len(p.writes)) {
		return nil
	}
	p.armed.hit = cmp.Or(p.armed.hit, what)
	p.armed.striking.Add(1)
	return p.armed
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	fault := p.take(r)
	if fault == nil {
		p.show(w, r)
		return
	}
	p.strike(fault, r)
	switch {
	case fault.passes():
		p.pass.ServeHTTP(w, r)
	case fault.Status == 0:
		panic(http.ErrAbortHandler)
	default:
		answer(w, fault.Status)
	}
}

// strike has the fault happen, apart from what the program is answered.
func (p *Proxy) strike(fault *armed, r *http.Request) {
	defer fault.striking.Done()
	if fault.Done {
		// Who asked may hang up; the API server is to have it all the same.
		p.pass.ServeHTTP(&unheard{header: http.Header{}}, r.WithContext(context.WithoutCancel(r.Context())))
	}
	switch fault.View {
	case Present:
	case Refusing:
		p.refuse(r, fault.Status)
	default:
		p.look(fault.View, fault.past)
	}
	if fault.Ends || fault.Silent != "" || fault.Jump != 0 {
		fault.act()
	}
}

func answer(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	reasons := map[int]metav1.StatusReason{
		http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusConflict: metav1.StatusReasonConflict,
		http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests, http.StatusInternalServerError: metav1.StatusReasonInternalError,
		http.StatusServiceUnavailable: metav1.StatusReasonServiceUnavailable, http.StatusGone: metav1.StatusReasonExpired,
		http.StatusUnprocessableEntity: metav1.StatusReasonInvalid,
	}
	text, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: int32(status), Reason: reasons[status], Message: "a fault on purpose: " + http.StatusText(status),
	})
	if err == nil {
		_, err = w.Write(text)
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// unheard is an answer that nobody gets.
type unheard struct{ header http.Header }

func (u *unheard) Header() http.Header            { return u.header }
func (u *unheard) Write(part []byte) (int, error) { return len(part), nil }
func (u *unheard) WriteHeader(int)                {}
