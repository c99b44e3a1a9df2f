// Package former builds the version of the operator from which clusters are upgraded to the present
// one, out of this repository's own history: once, into the user's cache folder.
package former

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/programs"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// unreleased is taken for a version as long as there is no tag: the last commit that knows settings in
// the state ConfigMap alone, and whose node pods may read Secrets.
const unreleased = "584fca76e8ecccd1ec1b2010dab86e383f470956"

const (
	binary    = "ceph-csi-driver-operator"
	manifests = "manifests"
)

// ErrNoHistory says that this is no clone with the history that the former version is built from.
var ErrNoHistory = errors.New("the former version cannot be built")

// Version is one that was built.
type Version struct {
	Commit string
	dir    string
}

// Binary is the path of its program.
func (v Version) Binary() string { return filepath.Join(v.dir, binary) }

// Manifests is the folder of what installs it.
func (v Version) Manifests() string { return filepath.Join(v.dir, manifests) }

// Build returns the newest version that was tagged before the present commit, or while there is none,
// an earlier commit. It tells log what takes time.
func Build(ctx context.Context, log io.Writer) (Version, error) {
	root, err := repository.Root()
	if err != nil {
		return Version{}, err
	}
	commit, err := find(ctx, root, unreleased)
	if err != nil {
		return Version{}, err
	}
	cache, err := programs.CacheRoot(log)
	if err != nil {
		return Version{}, err
	}
	// What librados is installed decides over the tags.
	tags, err := run(ctx, root, "test/librados-tag.sh")
	if err != nil {
		return Version{}, err
	}
	name := strings.Join([]string{"former", commit[:12], runtime.Version(), tags}, "-")
	v := Version{Commit: commit, dir: filepath.Join(cache, name)}
	err = programs.Once(ctx, v.dir, log, func(ctx context.Context, dir string) error {
		fmt.Fprintln(log, "Building the former version, commit", commit)
		return build(ctx, root, commit, dir)
	})
	if err != nil {
		return Version{}, fmt.Errorf("building the former version, commit %s: %w", commit, err)
	}
	return v, nil
}

// find returns the commit of the newest tag of the history that is not the present commit's, or
// otherwise.
func find(ctx context.Context, root, otherwise string) (string, error) {
	tags, err := git(ctx, root, "tag", "--merged=HEAD", "--no-contains=HEAD", "--sort=-version:refname")
	if err != nil {
		return "", fmt.Errorf("%w: it is built from the repository's history: %w", ErrNoHistory, err)
	}
	revision, _, _ := strings.Cut(tags, "\n")
	if revision == "" {
		revision = otherwise
	}
	commit, err := git(ctx, root, "rev-parse", "--verify", "--quiet", revision+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%w: %s is not in this clone: if it is a shallow one, run `git fetch --unshallow --tags`", ErrNoHistory, revision)
	}
	return commit, nil
}

// build leaves program and manifests of a commit in dir.
func build(ctx context.Context, root, commit, dir string) error {
	source := filepath.Join(dir, "source")
	if err := unpack(ctx, root, commit, source); err != nil {
		return err
	}
	tags, err := run(ctx, source, "test/librados-tag.sh")
	if err != nil {
		return err
	}
	_, err = run(ctx, source, "go", "build", "-trimpath", "-tags="+tags, "-ldflags=-s -w", "-o", filepath.Join(dir, binary), "./cmd/"+binary)
	if err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(source, manifests), filepath.Join(dir, manifests)); err != nil {
		return err
	}
	return os.RemoveAll(source)
}

// unpack writes the files of a commit into a new folder.
func unpack(ctx context.Context, root, commit, to string) error {
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	archive := to + ".tar"
	if _, err := git(ctx, root, "archive", "--format=tar", "--output="+archive, commit); err != nil {
		return err
	}
	if _, err := run(ctx, to, "tar", "-xf", archive); err != nil {
		return err
	}
	return os.Remove(archive)
}

// git reads the repository, whoever owns it: nothing of it is run.
func git(ctx context.Context, root string, arguments ...string) (string, error) {
	return run(ctx, root, "git", append([]string{"-c", "safe.directory=*"}, arguments...)...)
}

// run returns what a command prints, without the last line's end.
func run(ctx context.Context, dir, program string, arguments ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.Dir = dir
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(arguments, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	return strings.TrimSpace(out.String()), nil
}
