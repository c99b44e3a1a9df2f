// Package repository finds the files of this repository, which tests and the embedded
// cluster read where they lie instead of carrying copies.
package repository

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

const modulePath = "github.com/openshift/ceph-csi-driver-operator"

// Root is the folder with this module's go.mod: found upwards from the working directory
// (`go run` and `go test` run inside the module), else from where this file was compiled.
func Root() (string, error) {
	starts := []string{}
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	if _, file, _, ok := runtime.Caller(0); ok {
		starts = append(starts, filepath.Dir(file))
	}
	for _, start := range starts {
		if root, ok := rootAbove(start); ok {
			return root, nil
		}
	}
	return "", fmt.Errorf("no go.mod of %s above %q: run inside its repository", modulePath, starts)
}

func rootAbove(dir string) (string, bool) {
	for {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.Contains(content, []byte("module "+modulePath+"\n")) {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// PackageDir is the folder of an imported Go package: in vendor/ when there is one, else in
// the module cache.
func PackageDir(ctx context.Context, root, importPath string) (string, error) {
	vendored := filepath.Join(root, "vendor", filepath.FromSlash(importPath))
	if _, err := os.Stat(vendored); err == nil {
		return vendored, nil
	}
	cmd := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", importPath)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("finding package %s: %w", importPath, withStderr(err))
	}
	return string(bytes.TrimSpace(out)), nil
}

func withStderr(err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return err
}
