package repository

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Unreleased is the operator's image that the manifests name until `make release` names another.
const Unreleased = "quay.io/openshift/origin-ceph-csi-driver-operator:latest"

// Release is what `make release` is given; it takes the images that the manifests name for those that are empty.
type Release struct {
	Version, Image, DriverImage string
	// Sidecars is the tag of OpenShift's images of sidecars.
	Sidecars string
	// Manifests is a folder; that of this repository if it is empty.
	Manifests string
	// Reporting is for an OpenShift without cluster-storage-operator.
	Reporting bool
}

// Write has `make release` fill a folder, which it makes anew.
func (r Release) Write(ctx context.Context, folder string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	report := ""
	if r.Reporting {
		report = "yes"
	}
	// All are given: the environment has CEPH_CSI_IMAGE for the nodes, which load it by the name that the manifests have.
	cmd := exec.CommandContext(ctx, "make", "-s", "release", "VERSION="+r.Version, "IMAGE="+cmp.Or(r.Image, Unreleased), "CEPH_CSI_IMAGE="+r.DriverImage, "SIDECARS="+r.Sidecars,
		"REPORT="+report, "MANIFESTS="+cmp.Or(r.Manifests, "manifests"), "RELEASE="+folder)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MAKEOVERRIDES=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make release: %w: %s", err, out)
	}
	return nil
}

// Checkout lays into a folder what the README's commands read: the manifests, and what `make release` makes of them.
func Checkout(ctx context.Context, folder, version string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	if err := os.Symlink(filepath.Join(root, "manifests"), filepath.Join(folder, "manifests")); err != nil {
		return err
	}
	return Release{Version: version, Reporting: true}.Write(ctx, filepath.Join(folder, "bin", "release"))
}
