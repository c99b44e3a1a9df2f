package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/signal"
	"strconv"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// run serves until SIGTERM.
func run(ctx context.Context, o *options) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	client, err := newClient(o)
	if err != nil {
		return err
	}
	handler, err := newHandler(ctx, o, client)
	if err != nil {
		return err
	}
	if o.address == "" && o.insecureAddress == "" {
		return errors.New("no listen address provided")
	}
	ended := make(chan error, 4)
	var servers []*http.Server
	if o.address != "" {
		secure, err := serveSecurely(ctx, o, handler, ended)
		if err != nil {
			return err
		}
		servers = append(servers, secure...)
	}
	if o.insecureAddress != "" {
		server := newServer(o, handler)
		listener, err := net.Listen("tcp", o.insecureAddress)
		if err != nil {
			return fmt.Errorf("failed to listen on insecure address: %w", err)
		}
		klog.Infof("Listening insecurely on %v", o.insecureAddress)
		servers = append(servers, server)
		go func() { ended <- server.Serve(listener) }()
	}
	select {
	case err = <-ended:
	case <-ctx.Done():
		klog.Info("received interrupt, shutting down")
	}
	for _, server := range servers {
		if shutdownErr := server.Shutdown(context.Background()); shutdownErr != nil {
			klog.Errorf("failed to gracefully shutdown server: %+v", shutdownErr)
		}
	}
	if err != nil {
		return fmt.Errorf("failed to run groups: %w", err)
	}
	return nil
}

// serveSecurely starts the proxy's server and, when asked for, that of its own health.
func serveSecurely(ctx context.Context, o *options, handler http.Handler, ended chan<- error) ([]*http.Server, error) {
	config, err := tlsConfig(ctx, o, ended)
	if err != nil {
		return nil, err
	}
	start := func(address string, handler http.Handler) (*http.Server, error) {
		server := newServer(o, handler)
		server.TLSConfig = config.Clone()
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return nil, fmt.Errorf("failed to listen on secure address: %w", err)
		}
		klog.Infof("Listening securely on %v", address)
		go func() { ended <- server.ServeTLS(listener, "", "") }()
		return server, nil
	}
	proxy, err := start(o.address, handler)
	if err != nil || o.healthPort == 0 {
		return []*http.Server{proxy}, err
	}
	host, _, err := net.SplitHostPort(o.address)
	if err != nil {
		return nil, fmt.Errorf("failed to split %q into host and port: %w", o.address, err)
	}
	own := http.NewServeMux()
	own.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	health, err := start(net.JoinHostPort(host, strconv.Itoa(o.healthPort)), own)
	return []*http.Server{proxy, health}, err
}

func newServer(o *options, handler http.Handler) *http.Server {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(!o.withoutHTTP2)
	protocols.SetUnencryptedHTTP2(!o.withoutHTTP2)
	return &http.Server{Handler: handler, Protocols: protocols, HTTP2: &http.HTTP2Config{
		MaxConcurrentStreams: int(o.http2MaxStreams), MaxReadFrameSize: int(o.http2MaxSize),
	}}
}

func newClient(o *options) (kubernetes.Interface, error) {
	config, err := rest.InClusterConfig()
	if o.kubeconfig != "" {
		config, err = clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to load kubeconfig: %w", err)
	}
	if o.qps > 0 {
		config.QPS = o.qps
	}
	if o.burst > 0 {
		config.Burst = o.burst
	}
	return kubernetes.NewForConfig(config)
}
