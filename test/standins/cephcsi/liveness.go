package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/klog/v2"
)

// liveness serves whether the driver answers, where Prometheus is told to look.
func liveness(o options) error {
	conn, err := grpc.NewClient(o.endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("failed to establish connection to CSI driver: %w", err)
	}
	defer conn.Close()
	gauge := newGauge()
	go poll(o, csi.NewIdentityClient(conn), gauge)
	ip := os.Getenv("POD_IP")
	if ip == "" {
		klog.Warning("missing POD_IP env var defaulting to 0.0.0.0")
		ip = "0.0.0.0"
	}
	mux := http.NewServeMux()
	mux.Handle(o.metricsPath, gauge)
	server := http.Server{Addr: net.JoinHostPort(ip, strconv.Itoa(o.metricsPort)), Handler: mux, ReadHeaderTimeout: o.timeout}
	return server.ListenAndServe()
}

func poll(o options, driver csi.IdentityClient, gauge *gauge) {
	for range time.Tick(o.pollTime) {
		ctx, cancel := context.WithTimeout(context.Background(), o.timeout)
		_, err := driver.Probe(ctx, &csi.ProbeRequest{})
		cancel()
		gauge.set(err == nil)
		if err != nil {
			klog.Errorf("health check failed: %v", err)
		}
	}
}

// gauge is the one metric.
type gauge struct{ alive chan bool }

func newGauge() *gauge {
	g := &gauge{make(chan bool, 1)}
	g.alive <- false
	return g
}

func (g *gauge) set(alive bool) {
	<-g.alive
	g.alive <- alive
}

func (g *gauge) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	alive := <-g.alive
	g.alive <- alive
	value := 0
	if alive {
		value = 1
	}
	fmt.Fprintf(w, "# HELP csi_liveness Liveness Probe\n# TYPE csi_liveness gauge\ncsi_liveness %d\n", value)
}
