package programs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// wanted are the programs, in the order of their building.
var wanted = []struct{ name, pkg string }{
	{"etcd", "go.etcd.io/etcd/server/v3"},
	{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"},
	{"kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"},
	{"kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"},
	{"kubectl", "k8s.io/kubernetes/cmd/kubectl"},
	{"kwok", "sigs.k8s.io/kwok/cmd/kwok"},
}

// stages are the parts of KWOK's behaviour that the fake nodes have: everything at once, no delays.
var stages = []string{
	"node/fast/node-initialize.yaml",
	"node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
	"pod/fast/pod-ready.yaml",
	"pod/fast/pod-complete.yaml",
	"pod/fast/pod-delete.yaml",
}

// progressEvery is how often a program that takes long is mentioned again.
const progressEvery = 15 * time.Second

type builder struct {
	// module is the folder of the module that pins the programs, root the repository's.
	module, root string
	ldflags      string
	// flags are the go command's; empty means those of a module without vendor folder.
	flags string
	// cache serves the go command where there is no home.
	cache string
	// settings are environment variables on top.
	settings []string
	log      io.Writer
}

func (b builder) all(ctx context.Context, dir string) error {
	fmt.Fprintln(b.log, "Building the control plane, once; this takes minutes on a machine that has not built Kubernetes before")
	if err := b.step(ctx, "downloading modules", "mod", "download"); err != nil {
		return err
	}
	for i, w := range wanted {
		what := fmt.Sprintf("building %s (%d of %d)", w.name, i+1, len(wanted))
		err := b.step(ctx, what, "build", "-trimpath", "-ldflags", b.ldflags, "-o", filepath.Join(dir, w.name), w.pkg)
		if err != nil {
			return err
		}
	}
	return b.copyData(ctx, Installed{dir})
}

// step runs the go command in the programs' module and shows that it goes on.
func (b builder) step(ctx context.Context, what string, args ...string) error {
	begin := time.Now()
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	done := make(chan error, 1)
	go func() {
		_, err := b.run(ctx, b.module, args...)
		done <- err
	}()
	fmt.Fprintf(b.log, "  %s\n", what)
	for {
		select {
		case err := <-done:
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			fmt.Fprintf(b.log, "  %s: %.0f s\n", what, time.Since(begin).Seconds())
			return nil
		case <-ticker.C:
			fmt.Fprintf(b.log, "  %s: still at it after %.0f s\n", what, time.Since(begin).Seconds())
		}
	}
}

func (b builder) run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Env = append(environment(os.Environ(), b.cache), b.settings...)
	if b.flags != "" {
		cmd.Env = append(cmd.Env, "GOFLAGS="+b.flags)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return bytes.TrimSpace(stdout.Bytes()), nil
}

func (b builder) copyData(ctx context.Context, to Installed) error {
	kwok, err := b.run(ctx, b.module, "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kwok")
	if err != nil {
		return err
	}
	if err := copyFiles(filepath.Join(string(kwok), "kustomize", "stage"), to.Stages(), stages); err != nil {
		return err
	}
	// These CRDs lie in no Go package, so that vendoring leaves them out.
	if _, err := b.run(ctx, b.root, "mod", "download", snapshotterModule); err != nil {
		return err
	}
	snapshotter, err := b.run(ctx, b.root, "list", "-m", "-f", "{{.Dir}}", snapshotterModule)
	if err != nil {
		return err
	}
	crds, err := filepath.Glob(filepath.Join(string(snapshotter), "config", "crd", "*.storage.k8s.io_*.yaml"))
	if err != nil || len(crds) == 0 {
		return fmt.Errorf("no CRDs in module %s (%s): %w", snapshotterModule, snapshotter, os.ErrNotExist)
	}
	for i, file := range crds {
		crds[i] = filepath.Base(file)
	}
	return copyFiles(filepath.Join(string(snapshotter), "config", "crd"), to.SnapshotCRDs(), crds)
}

func copyFiles(from, to string, names []string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(from, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(name)), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
