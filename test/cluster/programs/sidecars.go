package programs

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
)

// sidecars are the sidecars' programs and snapshot-controller, and the modules of their versions.
var sidecars = []struct{ name, module string }{
	{"csi-provisioner", "github.com/kubernetes-csi/external-provisioner/v6"},
	{"csi-attacher", "github.com/kubernetes-csi/external-attacher/v4"},
	{"csi-resizer", "github.com/kubernetes-csi/external-resizer/v2"},
	{"csi-snapshotter", "github.com/kubernetes-csi/external-snapshotter/v8"},
	{"snapshot-controller", "github.com/kubernetes-csi/external-snapshotter/v8"},
}

// EnsureSidecars returns the sidecars that test/cluster/sidecars pins, built now unless they are in
// the cache.
func EnsureSidecars(ctx context.Context, log io.Writer) (Installed, error) {
	p, err := pinned(log, "sidecars", "go.mod", "go.sum")
	if err != nil {
		return Installed{}, err
	}
	return install(ctx, p.target, log, func(ctx context.Context, dir string) error {
		for i, s := range sidecars {
			version, err := required(p.inputs[0], s.module)
			if err != nil {
				return err
			}
			what := fmt.Sprintf("building %s %s (%d of %d)", s.name, version, i+1, len(sidecars))
			err = p.step(ctx, what, "build", "-trimpath", "-ldflags", "-s -w -X main.version="+version,
				"-o", filepath.Join(dir, s.name), s.module+"/cmd/"+s.name)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
