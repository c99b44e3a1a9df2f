package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Names in a store of its own, which nothing else of this machine sees.
const (
	baseImage      = "localhost/base"
	builderImage   = "localhost/builder"
	headersImage   = "localhost/headers"
	librariesImage = "localhost/libraries"
	operatorImage  = "localhost/ceph-csi-driver-operator"
)

// testedMinimum lets in the librados of the distributions that the tests run on.
const testedMinimum = "16.2"

// store is where buildah keeps images, in the user's cache.
type store struct {
	// root is the repository's.
	root, dir string
}

func (s store) buildah(ctx context.Context, arguments ...string) (string, error) {
	return command(ctx, "buildah", append([]string{
		"--root", filepath.Join(s.dir, "storage"), "--runroot", filepath.Join(s.dir, "run"), "--storage-driver", "vfs",
	}, arguments...)...)
}

// base has the base images of both stages, once: the distribution's smallest root file system with a
// package manager. That of the builder finds Go where build puts this machine's.
func (s store) base(ctx context.Context) error {
	if _, err := s.buildah(ctx, "inspect", "--type", "image", builderImage); err == nil {
		return nil
	}
	codename, err := codename()
	if err != nil {
		return err
	}
	archive := filepath.Join(s.dir, "base.tar")
	if _, err := command(ctx, "mmdebstrap", "--variant=apt", codename, archive); err != nil {
		return err
	}
	container, err := s.buildah(ctx, "from", "scratch")
	if err != nil {
		return err
	}
	for _, arguments := range [][]string{
		{"add", container, archive, "/"},
		{"commit", container, baseImage},
		{"config", "--env", "PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", container},
		{"commit", "--rm", container, builderImage},
	} {
		if _, err := s.buildah(ctx, arguments...); err != nil {
			return err
		}
	}
	_, err = command(ctx, "rm", "-f", archive)
	return err
}

// codename is the release of a distribution that has apt.
func codename() (string, error) {
	file, err := os.Open("/etc/os-release")
	if err != nil {
		return "", fmt.Errorf("looking for the distribution: %w", err)
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, found := strings.CutPrefix(lines.Text(), "VERSION_CODENAME="); found {
			return strings.Trim(name, `"`), nil
		}
	}
	return "", errors.New("/etc/os-release has no VERSION_CODENAME: base images are made of Debian's or Ubuntu's packages")
}

// build builds the Dockerfile. What the stages install is kept under a name, for the next time.
func (s store) build(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOCACHE").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	folders := strings.Fields(string(out))
	arguments := []string{
		"build", "--isolation", "chroot", "--layers",
		"--build-arg", "BUILDER=" + builderImage, "--build-arg", "BASE=" + baseImage, "--build-arg", "CEPH_MINIMUM=" + testedMinimum,
		"--volume", folders[0] + ":/usr/local/go:ro", "--volume", folders[1] + ":/root/.cache/go-build",
	}
	for _, stage := range [][]string{
		{"--target", "headers", "--tag", headersImage}, {"--target", "libraries", "--tag", librariesImage}, {"--tag", operatorImage},
	} {
		if _, err := s.buildah(ctx, append(slices.Concat(arguments, stage), s.root)...); err != nil {
			return err
		}
	}
	return s.refused(ctx, arguments)
}

// refused has the build fail with a librados that is older than what is asked for.
func (s store) refused(ctx context.Context, arguments []string) error {
	_, err := s.buildah(ctx, append(slices.Clone(arguments), "--build-arg", "CEPH_MINIMUM=999", "--target", "libraries", s.root)...)
	switch {
	case err == nil:
		return errors.New("an image with a librados that is too old was built")
	case !strings.Contains(err.Error(), "must be 999 or newer"):
		return err
	}
	return nil
}

// archive writes what containerd and podman import.
func (s store) archive(ctx context.Context) error {
	file := filepath.Join(s.root, "bin", "image.tar")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("folder of the archive: %w", err)
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("the archive of an earlier run: %w", err)
	}
	_, err := s.buildah(ctx, "push", operatorImage, "docker-archive:"+file+":"+operatorImage+":latest")
	return err
}

// prune removes what no name leads to.
func (s store) prune(ctx context.Context) error {
	if _, err := s.buildah(ctx, "rm", "--all"); err != nil {
		return err
	}
	_, err := s.buildah(ctx, "rmi", "--prune")
	return err
}
