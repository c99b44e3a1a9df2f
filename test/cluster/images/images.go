package images

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/images/archive"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/programs"
)

// Names of images that the manifests do not name.
const (
	// Sandbox is that of pods' sandboxes.
	Sandbox = "ceph-csi-driver-operator.test/pause:1"
	// Workload is that of test pods; its program says what it can do.
	Workload = "ceph-csi-driver-operator.test/workload:1"
	// SnapshotController is a cluster's own.
	SnapshotController = "registry.k8s.io/sig-storage/snapshot-controller:v8.6.0"
)

// unusedFor is how long an archive is kept that nobody asks for.
const unusedFor = 24 * time.Hour

const imageFile = "image.tar"

// Archive is a file that `ctr images import` takes, with the image of that name.
type Archive struct{ Name, File string }

// Ensure returns archives of the named images, all that there are when none is named: those of
// the manifests, under exactly the manifests' names, and those that are named above. They are made
// now unless they are in the cache; those that the environment replaces are copied, or pulled.
func Ensure(ctx context.Context, log io.Writer, names ...string) ([]Archive, error) {
	all, err := recipes()
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	var out []Archive
	for _, r := range all {
		known[r.name] = true
		if len(names) > 0 && !slices.Contains(names, r.name) {
			continue
		}
		given, err := replacement(r.variable)
		if err != nil {
			return nil, err
		}
		file, err := r.ensure(ctx, log, given)
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", r.name, err)
		}
		out = append(out, Archive{Name: r.name, File: file})
	}
	for _, name := range names {
		if !known[name] {
			return nil, fmt.Errorf("image %s: neither the manifests nor the tests name it", name)
		}
	}
	return out, nil
}

// EnsureOperator returns an archive of another version of the operator, by its program, under a name.
func EnsureOperator(ctx context.Context, log io.Writer, name, file string) (Archive, error) {
	all, err := recipes()
	if err != nil {
		return Archive{}, err
	}
	r := all[slices.IndexFunc(all, func(r recipe) bool { return r.variable == operatorVariable })]
	r.name, r.short = name, "other-operator"
	r.program = func(context.Context, io.Writer) (string, error) { return file, nil }
	archived, err := r.ensure(ctx, log, replaced{})
	if err != nil {
		return Archive{}, fmt.Errorf("image %s: %w", name, err)
	}
	return Archive{Name: name, File: archived}, nil
}

// EnsureDriver returns an archive, of a name, of ceph-csi's stand-in as of another release, such as "3.15". An image that
// is given instead of stand-ins is that of all releases.
func EnsureDriver(ctx context.Context, log io.Writer, name, release string) (Archive, error) {
	all, err := recipes()
	if err != nil {
		return Archive{}, err
	}
	r := all[slices.IndexFunc(all, func(r recipe) bool { return r.variable == driverVariable })]
	given, err := replacement(r.variable)
	if err != nil {
		return Archive{}, err
	}
	r.name, r.short = name, "older-driver"
	r.program = func(ctx context.Context, log io.Writer) (string, error) {
		return programs.EnsureDriver(ctx, log, release)
	}
	file, err := r.ensure(ctx, log, given)
	if err != nil {
		return Archive{}, fmt.Errorf("image %s: %w", r.name, err)
	}
	return Archive{Name: r.name, File: file}, nil
}

// ensure returns the file of the archive.
func (r recipe) ensure(ctx context.Context, log io.Writer, given replaced) (string, error) {
	cache, err := programs.CacheRoot(log)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "images")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	if given.pull != "" {
		scratch, err := os.MkdirTemp(folder, "pulled-")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(scratch)
		given.file = filepath.Join(scratch, imageFile)
		if err := pull(ctx, log, given.pull, given.file); err != nil {
			return "", err
		}
	}
	write, key, err := r.renamed(given.file)
	if given.file == "" {
		write, key, err = r.made(ctx, log)
	}
	if err != nil {
		return "", err
	}
	target := filepath.Join(folder, r.short+"-"+key)
	err = programs.Once(ctx, target, log, func(_ context.Context, dir string) error {
		fmt.Fprintf(log, "Making image %s\n", r.name)
		return toFile(filepath.Join(dir, imageFile), write)
	})
	if err != nil {
		return "", err
	}
	return filepath.Join(target, imageFile), errors.Join(os.Chtimes(target, time.Time{}, time.Now()), forget(folder, r.short, time.Now().Add(-unusedFor)))
}

// forget removes what was made of an earlier program and not asked for since.
func forget(folder, short string, since time.Time) error {
	entries, err := filepath.Glob(filepath.Join(folder, short+"-*"))
	for _, entry := range entries {
		info, statErr := os.Stat(entry)
		if statErr == nil && info.ModTime().Before(since) {
			err = errors.Join(err, os.RemoveAll(entry))
		}
	}
	return err
}

func toFile(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// renamed is somebody's archive with the name that the manifests carry.
func (r recipe) renamed(file string) (func(io.Writer) error, string, error) {
	if file == "" {
		return nil, "", nil
	}
	key, err := stamp(r.name, file, nil)
	return func(w io.Writer) error {
		in, err := os.Open(file)
		if err != nil {
			return err
		}
		defer in.Close()
		if err := archive.Rename(w, in, r.name); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	}, key, err
}
