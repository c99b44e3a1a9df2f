package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/status"
	"k8s.io/component-base/metrics"
	"k8s.io/klog/v2"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/sidecar"
)

// probe asks the driver whenever it is asked.
type probe struct {
	*options
	driver   string
	registry metrics.KubeRegistry
	calls    *metrics.HistogramVec
}

func newProbe(o *options, driver string) *probe {
	p := &probe{options: o, driver: driver, registry: metrics.NewKubeRegistry()}
	p.calls = metrics.NewHistogramVec(&metrics.HistogramOpts{
		Subsystem: "csi_sidecar", Name: "operations_seconds",
		Help:           "Container Storage Interface operation duration with gRPC error code status total",
		Buckets:        []float64{.1, .25, .5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600},
		StabilityLevel: metrics.ALPHA,
	}, []string{"driver_name", "method_name", "grpc_status_code"})
	p.registry.MustRegister(p.calls)
	return p
}

func (p *probe) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", p.answer)
	if p.httpEndpoint != "" {
		mux.Handle(p.metricsPath, p.metrics())
	}
	return mux
}

func (p *probe) metricsAlone() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(p.metricsPath, p.metrics())
	return mux
}

func (p *probe) metrics() http.Handler {
	return metrics.HandlerFor(p.registry, metrics.HandlerOpts{ErrorHandling: metrics.ContinueOnError})
}

func (p *probe) answer(w http.ResponseWriter, r *http.Request) {
	if err := p.ask(r.Context()); err != nil {
		klog.Background().Error(err, "Health check failed", "driver", p.driver)
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(err.Error()))
		return
	}
	_, _ = w.Write([]byte("ok"))
}

func (p *probe) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.probeTimeout)
	defer cancel()
	conn, err := sidecar.Connect(ctx, p.csiAddress)
	if err != nil {
		return err
	}
	defer conn.Close()
	begin := time.Now()
	answer, err := csi.NewIdentityClient(conn).Probe(ctx, &csi.ProbeRequest{})
	p.calls.WithLabelValues(p.driver, "/csi.v1.Identity/Probe", status.Code(err).String()).Observe(time.Since(begin).Seconds())
	// A driver that says nothing is ready.
	if err == nil && answer.GetReady() != nil && !answer.GetReady().GetValue() {
		return errors.New("driver responded but is not ready")
	}
	return err
}
