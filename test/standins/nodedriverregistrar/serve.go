package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"google.golang.org/grpc"
	"k8s.io/klog/v2"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/sidecar"
)

// registrar is what the kubelet asks.
type registrar struct {
	registration.UnimplementedRegistrationServer
	name, endpoint string
}

// GetInfo tells which driver is where.
func (r registrar) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{Type: registration.CSIPlugin, Name: r.name, Endpoint: r.endpoint, SupportedVersions: []string{"1.0.0"}}, nil
}

// NotifyRegistrationStatus ends the program when the kubelet does not want the driver: its pod
// starts again and tries again.
func (r registrar) NotifyRegistrationStatus(_ context.Context, status *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	klog.Background().Info("Received NotifyRegistrationStatus call", "status", status)
	if !status.PluginRegistered {
		sidecar.Fail(errors.New(status.Error), "Registration process failed with error, restarting registration container")
	}
	return &registration.RegistrationStatusResponse{}, nil
}

// serve registers the driver until SIGTERM.
func serve(o *options, name string) {
	socket := filepath.Join(o.registrationDir, name+"-reg.sock")
	listener, err := listen(socket)
	if err != nil {
		sidecar.Fail(err, "Failed to listen on socket", "socketPath", socket)
	}
	klog.Background().Info("Registration Server started", "socketPath", socket)
	server := grpc.NewServer()
	registration.RegisterRegistrationServer(server, registrar{name: name, endpoint: o.kubeletSocket})
	if o.httpEndpoint != "" {
		go func() {
			sidecar.Fail(http.ListenAndServe(o.httpEndpoint, o.health(socket, name)), "HTTP server ended")
		}()
	}
	go endOnSignal(socket)
	if err := server.Serve(listener); err != nil {
		sidecar.Fail(err, "Registration Server stopped serving")
	}
}

// listen makes the socket, which only its owner may use, in the place of one that was left.
func listen(socket string) (net.Listener, error) {
	info, err := os.Lstat(socket)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSocket == 0:
		return nil, fmt.Errorf("%s is there and no socket", socket)
	default:
		if err := os.Remove(socket); err != nil {
			return nil, err
		}
	}
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	return net.Listen("unix", socket)
}

func endOnSignal(socket string) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	<-signals
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		sidecar.Fail(err, "Failed to remove socket with error", "socket", socket)
	}
	os.Exit(0)
}

func (o *options) health(socket, name string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) {
		if info, err := os.Stat(socket); errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSocket == 0 {
			http.Error(w, "registration socket does not exist", http.StatusNotFound)
			return
		}
		if err := o.ask(r.Context(), socket, name); err != nil {
			klog.Background().Error(err, "Health check failed")
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write([]byte("ok"))
	})
	if o.pprof {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	return mux
}

// ask asks at the registration socket as the kubelet would.
func (o *options) ask(ctx context.Context, socket, name string) error {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	conn, err := sidecar.Connect(ctx, socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	info, err := registration.NewRegistrationClient(conn).GetInfo(ctx, &registration.InfoRequest{})
	if err != nil {
		return fmt.Errorf("getting info from the registration socket: %w", err)
	}
	if info.Name != name {
		return fmt.Errorf("invalid driver name %s", info.Name)
	}
	return nil
}
