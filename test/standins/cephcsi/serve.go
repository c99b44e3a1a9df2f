package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"k8s.io/klog/v2"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/cephcsi/images"
	"github.com/openshift/ceph-csi-driver-operator/test/standins/cephcsi/subvolumes"
)

// serve answers on the driver's socket, and listens on that of the add-ons, which nothing asks.
func serve(o options) error {
	topology, err := nodeTopology(o)
	if err != nil {
		return err
	}
	if o.kind == "rbd" && o.node {
		if err := images.LoadModule(); err != nil {
			return err
		}
	}
	o.Secret = secret
	server := grpc.NewServer(grpc.UnaryInterceptor(logged))
	csi.RegisterIdentityServer(server, &identity{options: o})
	if o.kind == "rbd" {
		if o.controller {
			controller := images.NewController(o.Settings)
			csi.RegisterControllerServer(server, controller)
			csi.RegisterGroupControllerServer(server, controller)
		}
		if o.node {
			node := &images.Node{Settings: o.Settings, Topology: topology}
			csi.RegisterNodeServer(server, node)
			go node.Follow()
		}
	} else {
		if o.controller {
			controller := subvolumes.NewController(o.Settings)
			csi.RegisterControllerServer(server, controller)
			csi.RegisterGroupControllerServer(server, controller)
		}
		if o.node {
			csi.RegisterNodeServer(server, &subvolumes.Node{Settings: o.Settings, Topology: topology})
		}
	}
	ended := make(chan error, 2)
	go func() { ended <- listen(o.addonsEndpoint, grpc.NewServer()) }()
	go func() { ended <- listen(o.endpoint, server) }()
	if o.kind == "rbd" && o.node && onKubernetes() {
		go heal(o)
	}
	return <-ended
}

func listen(endpoint string, server *grpc.Server) error {
	protocol, address, found := strings.Cut(endpoint, "://")
	if !found {
		return fmt.Errorf("invalid endpoint: %v", endpoint)
	}
	if protocol == "unix" {
		if err := os.Remove(address); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("failed to remove %s: %w", address, err)
		}
	}
	listener, err := net.Listen(protocol, address)
	if err != nil {
		return fmt.Errorf("failed to listen: %w", err)
	}
	klog.Infof("Listening for connections on address: %v", listener.Addr())
	return server.Serve(listener)
}

// logged tells of failed calls; requests have secrets.
func logged(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	klog.V(4).Infof("GRPC call: %s", info.FullMethod)
	answer, err := handler(ctx, request)
	if err != nil {
		klog.Errorf("GRPC error: %s: %v", info.FullMethod, err)
	}
	return answer, err
}
