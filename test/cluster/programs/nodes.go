package programs

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// DNS is the name of the program that serves the names of a cluster's Services.
const DNS = "dns"

// onNodes are the programs that real nodes run, of the module that has the control plane's.
var onNodes = []struct{ name, pkg string }{
	{"kubelet", "k8s.io/kubernetes/cmd/kubelet"},
	{"kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy"},
}

// EnsureNodes returns the programs that real nodes run (kubelet, kube-proxy, DNS), built now if they are
// not in the cache yet. Clusters of fake nodes do not need them.
func EnsureNodes(ctx context.Context, log io.Writer) (Installed, error) {
	b, pins, err := newBuilder(log)
	if err != nil {
		return Installed{}, err
	}
	names := b
	names.module = filepath.Join(b.root, "test", "cluster", "dns")
	inputs, err := readAll(filepath.Join(names.module, "go.mod"), filepath.Join(names.module, "go.sum"), filepath.Join(names.module, "main.go"))
	if err != nil {
		return Installed{}, fmt.Errorf("module of the DNS server: %w", err)
	}
	target := filepath.Join(b.cache, "nodes-"+key(append(inputs, pins[0], pins[1], b.ldflags)...))
	return install(ctx, target, log, func(ctx context.Context, dir string) error {
		fmt.Fprintln(log, "Building what real nodes run, once")
		for _, p := range onNodes {
			if err := b.step(ctx, "building "+p.name, "build", "-trimpath", "-ldflags", b.ldflags, "-o", filepath.Join(dir, p.name), p.pkg); err != nil {
				return err
			}
		}
		return names.step(ctx, "building the DNS server", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, DNS), ".")
	})
}

// BuildOwn builds a program of this repository that needs no cgo, by its folder, and writes it to a file.
func BuildOwn(ctx context.Context, folder, file string) error {
	root, err := repository.Root()
	if err != nil {
		return err
	}
	cache, err := CacheRoot(io.Discard)
	if err != nil {
		return err
	}
	b := builder{root: root, cache: cache, log: io.Discard, flags: "-mod=vendor", settings: []string{"CGO_ENABLED=0"}}
	_, err = b.run(ctx, root, "build", "-trimpath", "-ldflags", "-s -w", "-o", file, "./"+folder)
	return err
}
