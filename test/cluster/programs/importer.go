package programs

import (
	"context"
	"io"
	"path/filepath"
	"time"
)

const (
	importerProgram = "cdi"
	// importerTimeout bounds the building, download included: nobody needs the program for sure.
	importerTimeout = 10 * time.Minute
)

// EnsureImporter builds the controller of CDI that test/cluster/cdi is made of, unless it is in
// the cache. Where it cannot be had, tests go with what Importer says.
func EnsureImporter(ctx context.Context, log io.Writer) error {
	p, err := importer(log)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, importerTimeout)
	defer cancel()
	_, err = install(ctx, p.target, log, func(ctx context.Context, dir string) error {
		return p.step(ctx, "building CDI's controller of StorageProfiles", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, importerProgram), ".")
	})
	return err
}

// Importer is the file of that program; empty where EnsureImporter has not made it.
func Importer() (string, error) {
	p, err := importer(io.Discard)
	if err != nil || !exists(p.target) {
		return "", err
	}
	return Installed{p.target}.Path(importerProgram), nil
}

func importer(log io.Writer) (pins, error) {
	return pinned(log, importerProgram, "go.mod", "go.sum", "main.go")
}
