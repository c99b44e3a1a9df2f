package standintest

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Driver is a CSI driver that does nothing but tell who and how it is.
type Driver struct {
	csi.UnimplementedIdentityServer
	Name string

	mu     sync.Mutex
	health Health
}

// Health is what a Driver answers probes.
type Health int

const (
	// Silent says nothing of its readiness, as most drivers do.
	Silent Health = iota
	// Ready and NotReady say so.
	Ready
	NotReady
	// Failing answers with an error.
	Failing
	// Hanging does not answer.
	Hanging
)

// Serve serves at a socket until the test ends.
func (d *Driver) Serve(t *testing.T, socket string) {
	t.Helper()
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	csi.RegisterIdentityServer(server, d)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
}

// Become sets what the driver answers from now on.
func (d *Driver) Become(h Health) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.health = h
}

// GetPluginInfo tells the name.
func (d *Driver) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: d.Name}, nil
}

// Probe tells the health.
func (d *Driver) Probe(ctx context.Context, _ *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	d.mu.Lock()
	health := d.health
	d.mu.Unlock()
	switch health {
	case Ready, NotReady:
		return &csi.ProbeResponse{Ready: wrapperspb.Bool(health == Ready)}, nil
	case Failing:
		return nil, status.Error(codes.FailedPrecondition, "no Ceph")
	case Hanging:
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &csi.ProbeResponse{}, nil
}
