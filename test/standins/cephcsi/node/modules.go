package node

import (
	"context"
	"fmt"
	"os"
	"strings"
)

const modules = "/lib/modules"

// LoadModule loads a module of the kernel, and fails where ceph-csi would: without modprobe, without
// the node's modules, or without the right to load them. That the node has no such module is no
// failure: ceph-fuse, rbd-nbd or rbd-fuse stand in for it.
func LoadModule(ctx context.Context, name string) error {
	_, err := Run(ctx, "modprobe", name)
	if err == nil {
		return nil
	}
	if !strings.Contains(err.Error(), "not found in directory") {
		return fmt.Errorf("modprobe failed: %w", err)
	}
	if os.Getenv("KUBERNETES_SERVICE_HOST") == "" {
		return nil
	}
	// A pod that cannot see the node's modules hears the same.
	mounted, err := Mounted(modules)
	if err == nil && !mounted {
		err = fmt.Errorf("%s is not the node's", modules)
	}
	return err
}
