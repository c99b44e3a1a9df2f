package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// configuration is what the image says of how it runs.
type configuration struct {
	Docker struct {
		Config struct {
			User       string
			Entrypoint []string
			Labels     map[string]string
		} `json:"config"`
	}
}

// readOnly starts a program of a root file system as a pod's does: as a user, and without anything
// that could be written.
const readOnly = `root=$1 user=$2; shift 2
mount --bind "$root" "$root" && mount -o remount,ro,bind "$root" && exec chroot --userspec="$user:0" "$root" "$@" 2>&1`

// try runs the program in the image as the image says, with a root file system that is read-only.
func (s store) try(ctx context.Context) error {
	described, err := s.buildah(ctx, "inspect", "--type", "image", operatorImage)
	if err != nil {
		return err
	}
	var image configuration
	if err := json.Unmarshal([]byte(described), &image); err != nil {
		return fmt.Errorf("reading the image's configuration: %w", err)
	}
	config := image.Docker.Config
	if config.User != "1001" || len(config.Entrypoint) != 1 || config.Labels["io.openshift.release.operator"] != "true" {
		return fmt.Errorf("the image runs %q as user %q, with labels %v", config.Entrypoint, config.User, config.Labels)
	}
	container, err := s.buildah(ctx, "from", operatorImage)
	if err != nil {
		return err
	}
	root, err := s.buildah(ctx, "mount", container)
	if err != nil {
		return err
	}
	for _, tried := range []struct {
		arguments []string
		prints    string
	}{
		{[]string{"start", "--help"}, "Usage:"},
		{[]string{"cluster-storage", "--help"}, "Usage:"},
		{[]string{"uninstall", "--help"}, "Usage:"},
		{[]string{"check", "--ceph-conf=/none", "--keyring=/none"}, "/none"},
		{[]string{"teardown", "--infra-id=x", "--ceph-conf=/none", "--keyring=/none"}, "/none: no such file"},
	} {
		line := append([]string{"--mount", "sh", "-c", readOnly, "sh", root, config.User, config.Entrypoint[0]}, tried.arguments...)
		printed, err := command(ctx, "unshare", line...)
		if !strings.Contains(printed, tried.prints) {
			return fmt.Errorf("%v as user %s does not print %q but %q: %w", tried.arguments, config.User, tried.prints, printed, err)
		}
	}
	return nil
}
