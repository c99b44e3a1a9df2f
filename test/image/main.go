// Program image builds the Dockerfile with buildah over a root file system of this machine's
// distribution, tries what came of it as a pod would run it, and leaves it as an archive in
// bin/image.tar, which needs no registry.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// limit is for everything; only the first run downloads.
const limit = 30 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	root, err := repository.Root()
	if err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("folder for the base image: %w", err)
	}
	s := store{root: root, dir: filepath.Join(cache, "ceph-csi-driver-operator", "image")}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return fmt.Errorf("folder for the base image: %w", err)
	}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"base image", s.base}, {"build", s.build}, {"try", s.try}, {"archive", s.archive}, {"clean up", s.prune},
	} {
		began := time.Now()
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Printf("%s: %s\n", step.name, time.Since(began).Round(100*time.Millisecond))
	}
	return nil
}

// command runs as root, by sudo where this user is somebody else, and returns what was printed to
// stdout.
func command(ctx context.Context, program string, arguments ...string) (string, error) {
	arguments = append([]string{program}, arguments...)
	if os.Geteuid() != 0 {
		arguments = append([]string{"sudo"}, arguments...)
	}
	cmd := exec.CommandContext(ctx, arguments[0], arguments[1:]...)
	var out, problems strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(out.String() + problems.String())
		lines := strings.Split(text, "\n")
		return out.String(), fmt.Errorf("%s: %w:\n%s", program, err, strings.Join(lines[max(0, len(lines)-20):], "\n"))
	}
	return strings.TrimSpace(out.String()), nil
}
