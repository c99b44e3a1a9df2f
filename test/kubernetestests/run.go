package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/images"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/programs"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/onnodes"
)

// run tells on out how it goes.
func run(ctx context.Context, o options, out io.Writer) (err error) {
	installed, err := programs.EnsureStorageTests(ctx, out)
	if err != nil {
		return err
	}
	suites, err := prepare(ctx, o, installed)
	if err != nil {
		return err
	}
	cluster, err := start(ctx, out)
	if err != nil {
		return err
	}
	defer func() {
		if o.keep {
			cluster.KeepState()
			fmt.Fprintln(out, "State and logs stay in", cluster.Dir())
		}
		err = errors.Join(err, cluster.Stop())
	}()
	if err := cluster.Install(ctx); err != nil {
		return err
	}
	for _, s := range suites {
		if err := cluster.Available(ctx, s.driver); err != nil {
			return err
		}
	}
	for _, s := range suites {
		if ctx.Err() == nil {
			err = errors.Join(err, s.run(ctx, cluster, o, out))
		}
	}
	return errors.Join(err, ctx.Err())
}

// prepare finds the tests and chooses some, before anything is started.
func prepare(ctx context.Context, o options, installed programs.Installed) ([]suite, error) {
	root, err := repository.Root()
	if err != nil {
		return nil, err
	}
	var suites []suite
	var everything []string
	for _, d := range driver.All {
		found, err := find(ctx, installed, filepath.Join(root, "test", "e2e", d.Kind), prefix(d))
		if err != nil {
			return nil, fmt.Errorf("listing the tests of %s: %w", d.Kind, err)
		}
		for _, name := range found {
			everything = append(everything, prefix(d)+name)
		}
		if !o.wants(d) {
			continue
		}
		s := suite{driver: d, programs: installed, folder: filepath.Join(root, "bin", "kubernetes-e2e", d.Kind), found: len(found)}
		if s.lists, err = readLists(d); err != nil {
			return nil, err
		}
		if s.chosen, err = s.lists.choose(found, o.all); err != nil {
			return nil, fmt.Errorf("%s: %w", d.Kind, err)
		}
		if err := s.makeFolder(root); err != nil {
			return nil, err
		}
		suites = append(suites, s)
	}
	return suites, stale(suites[0].lists.impossible, everything)
}

// find returns the names of all tests that the manifest in the folder makes, without their prefix.
func find(ctx context.Context, installed programs.Installed, folder, prefix string) ([]string, error) {
	cmd := exec.CommandContext(ctx, installed.Path(programs.StorageTests), "-list-tests", "-repo-root=.", "-storage.testdriver=manifest.yaml")
	var problems bytes.Buffer
	cmd.Dir, cmd.Stderr = folder, &problems
	listed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, problems.String())
	}
	var out []string
	for line := range strings.Lines(string(listed)) {
		if _, name, ours := strings.Cut(strings.TrimSpace(line), prefix); ours {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the manifest makes no tests: %s", listed)
	}
	return out, nil
}

// start returns a cluster whose nodes have what the tests' pods run.
func start(ctx context.Context, out io.Writer) (*onnodes.Cluster, error) {
	archives, err := images.EnsureStorageTests(ctx, out)
	if err != nil {
		return nil, err
	}
	wanted := embedded.Options{Log: out}
	for _, a := range archives {
		wanted.Images = append(wanted.Images, wire.Image(a))
	}
	return onnodes.Start(ctx, wanted)
}

// makeFolder makes the folder that the tests run in, with the files that the command in test/README.md fills in, and with what is run.
func (s suite) makeFolder(root string) error {
	if err := errors.Join(os.RemoveAll(s.folder), os.MkdirAll(s.folder, 0o755)); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(root, "test", "e2e", s.driver.Kind, "*.yaml*"))
	if err != nil {
		return err
	}
	for _, file := range append(files, s.programs.Path(programs.StorageTests)) {
		if err := os.Symlink(file, filepath.Join(s.folder, filepath.Base(file))); err != nil {
			return err
		}
	}
	return nil
}
