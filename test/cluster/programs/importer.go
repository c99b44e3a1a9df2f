package programs

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

const (
	importerProgram = "cdi"
	// importerTimeout bounds the building, download included: nobody needs the program for sure.
	importerTimeout = 10 * time.Minute
)

// EnsureImporter builds the controller of CDI that test/cluster/cdi is made of, unless it is in
// the cache. Where it cannot be had, tests go with what Importer says.
func EnsureImporter(ctx context.Context, log io.Writer) error {
	b, target, err := importer(log)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, importerTimeout)
	defer cancel()
	_, err = install(ctx, target, log, func(ctx context.Context, dir string) error {
		return b.step(ctx, "building CDI's controller of StorageProfiles", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, importerProgram), ".")
	})
	return err
}

// Importer is the file of that program; empty where EnsureImporter has not made it.
func Importer() (string, error) {
	_, target, err := importer(io.Discard)
	if err != nil || !exists(target) {
		return "", err
	}
	return Installed{target}.Path(importerProgram), nil
}

func importer(log io.Writer) (builder, string, error) {
	root, err := repository.Root()
	if err != nil {
		return builder{}, "", err
	}
	cache, err := CacheRoot(log)
	if err != nil {
		return builder{}, "", err
	}
	b := builder{module: filepath.Join(root, "test", "cluster", "cdi"), root: root, cache: cache, log: log}
	inputs, err := readAll(filepath.Join(b.module, "go.mod"), filepath.Join(b.module, "go.sum"), filepath.Join(b.module, "main.go"))
	if err != nil {
		return builder{}, "", fmt.Errorf("module of CDI's controller: %w", err)
	}
	return b, filepath.Join(cache, "cdi-"+key(inputs...)), nil
}
