package images

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/programs"
)

// EnsureStorageTests returns archives of the images that the pods of Kubernetes' tests of storage drivers run,
// under exactly the names that these tests ask for.
func EnsureStorageTests(ctx context.Context, log io.Writer) ([]Archive, error) {
	installed, err := programs.EnsureStorageTests(ctx, log)
	if err != nil {
		return nil, err
	}
	listed, err := exec.CommandContext(ctx, installed.Path(programs.StorageTests), "-list-images").Output()
	if err != nil {
		return nil, fmt.Errorf("images of Kubernetes' tests: %w", err)
	}
	var out []Archive
	for _, r := range storageTestRecipes(strings.Fields(string(listed)), installed.Path(programs.StorageTestsPod)) {
		file, err := r.ensure(ctx, log, replaced{})
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", r.name, err)
		}
		out = append(out, Archive{Name: r.name, File: file})
	}
	return out, nil
}

// shells are images of which these tests use a shell and common tools only.
var shells = []string{"busybox", "glibc-dns-testing", "nginx"}

// shellTools are what these tests' scripts start.
var shellTools = strings.Fields("awk base64 blockdev cat chgrp chmod chown cp cut date dd df diff echo env false find grep head id ln ls md5sum" +
	" mkdir mktemp mount mv nsenter printf readlink rm rmdir sed seq sha256sum sleep sort stat sync tail tar tee test touch tr true umount uname wc")

// storageTestRecipes are those of the listed images that pods of these tests run; agnhost is a program.
// Scripts count with `let`, which not every shell has.
func storageTestRecipes(listed []string, agnhost string) []recipe {
	var out []recipe
	for _, name := range slices.Sorted(slices.Values(listed)) {
		short, _, _ := strings.Cut(path.Base(name), ":")
		r := recipe{name: name, short: short, tools: shellTools}
		switch {
		case short == programs.StorageTestsPod:
			r.entrypoint, r.tools = []string{"/" + short}, append([]string{"sh"}, shellTools...)
			r.program = func(context.Context, io.Writer) (string, error) { return agnhost, nil }
		case slices.Contains(shells, short):
			r.entrypoint = []string{"/usr/bin/sh"}
			r.program = func(context.Context, io.Writer) (string, error) { return find("bash") }
		default:
			continue
		}
		out = append(out, r)
	}
	return out
}
