package faults

import (
	"context"
	"io"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// seen is what the program sees for a while.
type seen struct {
	view View
	// only is the path of what is seen so, if not all is.
	only string
	// status is the answer to writes of a kind, if to any.
	status int
	kind   schema.GroupResource
	// past is a resourceVersion, pastBegun whether anything was listed as of it.
	past      string
	pastBegun bool
	// over is closed when it ends, by the timer at the latest.
	over  chan struct{}
	timer *time.Timer
	// watches end with their cancel.
	watches map[*context.CancelFunc]string
	// tooOld are watches that are told so when they are asked for again.
	tooOld map[string]bool
}

// look has the program see the cluster in a way, for Lasting: from now on, and the past from the first time
// that it is asked for.
func (p *Proxy) look(view View, past string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin(view, "")
	p.seen.past, p.seen.pastBegun = past, false
	if view == Away {
		p.cut()
	}
	if view != Past {
		p.seen.timer = time.AfterFunc(Lasting, p.end)
	}
}

// refuse has every write of a request's kind answered like that, for Lasting.
func (p *Proxy) refuse(r *http.Request, status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin(Refusing, "")
	p.seen.kind, p.seen.status = kindOf(r), status
	p.seen.timer = time.AfterFunc(Lasting, p.end)
}

var requestInfo = request.RequestInfoFactory{APIPrefixes: map[string]sets.Empty{"api": {}, "apis": {}}, GrouplessAPIPrefixes: map[string]sets.Empty{"api": {}}}

// kindOf is empty for what is no request for objects.
func kindOf(r *http.Request) schema.GroupResource {
	info, err := requestInfo.NewRequestInfo(r)
	if err != nil {
		return schema.GroupResource{}
	}
	return schema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
}

func (p *Proxy) begin(view View, only string) {
	p.seen.view, p.seen.only, p.seen.over = view, only, make(chan struct{})
}

// Hold has the watches of one path say nothing until Release, whatever is armed.
func (p *Proxy) Hold(path string) {
	p.end()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.timer = nil
	p.begin(Late, path)
}

// Release ends a Hold: all is told.
func (p *Proxy) Release() { p.end() }

// Clear says that the program sees all there is.
func (p *Proxy) Clear() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.view == Present
}

// end has the program see all there is.
func (p *Proxy) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen.view == Present {
		return
	}
	if p.seen.view == Skipped {
		p.seen.tooOld = map[string]bool{}
		for _, watch := range p.seen.watches {
			p.seen.tooOld[watch] = true
		}
		p.cut()
	}
	if p.seen.timer != nil {
		p.seen.timer.Stop()
		p.seen.timer = nil
	}
	p.seen.view = Present
	close(p.seen.over)
}

// cut ends all watches.
func (p *Proxy) cut() {
	for cancel := range p.seen.watches {
		(*cancel)()
	}
}

// show passes a request on as far as the program is to see the answer.
func (p *Proxy) show(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	view, past, kind, status := p.seen.view, p.seen.past, p.seen.kind, p.seen.status
	p.mu.Unlock()
	query := r.URL.Query()
	switch isWatch := query.Get("watch") != ""; {
	case view == Away:
		panic(http.ErrAbortHandler)
	case view == Refusing && isWrite(r) && kindOf(r) == kind:
		answer(w, status)
	case isWatch && (view == Past || view == Missed) && query.Get("sendInitialEvents") != "":
		answer(w, http.StatusUnprocessableEntity) // As of an API server that only lists.
	case isWatch:
		p.watch(w, r)
	case view == Past && query.Get("resourceVersion") == "0":
		query.Set("resourceVersion", past)
		query.Set("resourceVersionMatch", "Exact")
		r.URL.RawQuery = query.Encode()
		p.startPast()
		p.pass.ServeHTTP(w, r)
	default:
		p.pass.ServeHTTP(w, r)
	}
}

// startPast begins the time for which the past is shown.
func (p *Proxy) startPast() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.seen.pastBegun {
		p.seen.pastBegun = true
		p.seen.timer = time.AfterFunc(Lasting, p.end)
	}
}

func (p *Proxy) watch(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	what := r.URL.Path + " " + query.Get("fieldSelector") + " " + query.Get("labelSelector")
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	p.mu.Lock()
	tooOld := p.seen.tooOld[what] && query.Get("sendInitialEvents") == ""
	if tooOld {
		delete(p.seen.tooOld, what)
	} else {
		if p.seen.watches == nil {
			p.seen.watches = map[*context.CancelFunc]string{}
		}
		p.seen.watches[&cancel] = what
	}
	p.mu.Unlock()
	if tooOld {
		answer(w, http.StatusGone)
		return
	}
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.seen.watches, &cancel)
	}()
	p.pass.ServeHTTP(&held{ResponseWriter: w, proxy: p, ctx: ctx, path: r.URL.Path, miss: func() {
		p.miss(what)
		cancel()
	}}, r.WithContext(ctx))
}

// held is a watch whose events wait for as long as the program is not to see them.
type held struct {
	http.ResponseWriter
	proxy *Proxy
	ctx   context.Context
	path  string
	// miss ends it as too old.
	miss func()
}

// miss has a watch told that it is too old when it is asked for again.
func (p *Proxy) miss(watch string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen.tooOld == nil {
		p.seen.tooOld = map[string]bool{}
	}
	p.seen.tooOld[watch] = true
}

// Unwrap is for flushing.
func (h *held) Unwrap() http.ResponseWriter { return h.ResponseWriter }

func (h *held) Write(part []byte) (int, error) {
	h.proxy.mu.Lock()
	view, over, only := h.proxy.seen.view, h.proxy.seen.over, h.proxy.seen.only
	h.proxy.mu.Unlock()
	switch {
	case view == Present, view == Refusing, only != "" && only != h.path:
	case view == Missed:
		h.miss()
	default:
		select {
		case <-over:
		case <-h.ctx.Done():
		}
	}
	if h.ctx.Err() != nil {
		return 0, io.ErrClosedPipe
	}
	return h.ResponseWriter.Write(part)
}
