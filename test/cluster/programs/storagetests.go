package programs

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
)

// Kubernetes' tests of storage drivers: the tests, the program that runs them side by side, and that of their pods.
const (
	StorageTests       = "e2e.test"
	StorageTestsRunner = "ginkgo"
	StorageTestsPod    = "agnhost"
)

// EnsureStorageTests returns the programs that test/cluster/storagetests pins, built now unless they are in the
// cache. No other tests need them.
func EnsureStorageTests(ctx context.Context, log io.Writer) (Installed, error) {
	p, err := pinned(log, "storagetests", "go.mod", "go.sum", "e2e_test.go")
	if err != nil {
		return Installed{}, err
	}
	version, err := required(p.inputs[0], kubernetesModule)
	if err != nil {
		return Installed{}, err
	}
	flags, err := linkerFlags(version)
	if err != nil {
		return Installed{}, err
	}
	return install(ctx, p.target, log, func(ctx context.Context, dir string) error {
		fmt.Fprintln(log, "Building Kubernetes' tests of storage drivers, once")
		for _, program := range []struct {
			name  string
			build []string
			pkg   string
		}{
			{StorageTests, []string{"test", "-c"}, "."},
			{StorageTestsRunner, []string{"build"}, "github.com/onsi/ginkgo/v2/ginkgo"},
			{StorageTestsPod, []string{"build"}, "k8s.io/kubernetes/test/images/agnhost"},
		} {
			arguments := append(program.build, "-trimpath", "-ldflags", flags, "-o", filepath.Join(dir, program.name), program.pkg)
			if err := p.step(ctx, "building "+program.name, arguments...); err != nil {
				return err
			}
		}
		return nil
	})
}
