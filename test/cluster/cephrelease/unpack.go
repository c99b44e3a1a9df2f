package cephrelease

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
)

// formatVersion is part of the folder's name: it changes with what unpack makes.
const formatVersion = "3"

// wanted are the packages; what they depend on comes with them, the dynamic linker included.
var wanted = []string{
	"ceph-mon", "ceph-mgr", "ceph-mgr-modules-core", "ceph-osd", "ceph-mds", "ceph-common",
	"librados-dev", "librbd-dev", "libcephfs-dev",
}

// packages are what is unpacked, and where.
type packages struct {
	release, suite string
	// dir is filled; root is the name that it gets then.
	dir, root string
	log       io.Writer
}

// unpack loads packages by an apt that has folders of its own, and unpacks them without their
// scripts.
func unpack(ctx context.Context, p packages) error {
	apt, err := newApt(ctx, filepath.Join(p.dir, "apt"), p.suite)
	if err != nil {
		return err
	}
	if err := apt.run(ctx, "update"); err != nil {
		return err
	}
	if err := apt.run(ctx, append([]string{"install", "--download-only"}, wanted...)...); err != nil {
		return err
	}
	for _, folder := range []string{"bin", "sbin", "lib", "lib64"} {
		err := errors.Join(os.MkdirAll(filepath.Join(p.dir, "usr", folder), 0o755), os.Symlink("usr/"+folder, filepath.Join(p.dir, folder)))
		if err != nil {
			return err
		}
	}
	files, err := filepath.Glob(filepath.Join(apt.dir, "cache", "archives", "*.deb"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if out, err := exec.CommandContext(ctx, "dpkg", "-x", file, p.dir).CombinedOutput(); err != nil {
			return fmt.Errorf("unpacking %s: %w: %s", filepath.Base(file), err, out)
		}
	}
	for _, needless := range []string{"apt", "usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info", "usr/share/i18n", "usr/share/perl"} {
		if err := os.RemoveAll(filepath.Join(p.dir, needless)); err != nil {
			return err
		}
	}
	if err := errors.Join(writeStarters(p.dir, p.root), writeLinkFolder(p.dir), keepToRoot(p.dir)); err != nil {
		return err
	}
	if err := compilePython(ctx, p.dir, p.root); err != nil {
		return err
	}
	return p.checkRelease(files)
}

// checkRelease fails when the suite has moved on.
func (p packages) checkRelease(files []string) error {
	for _, file := range files {
		if version, found := strings.CutPrefix(filepath.Base(file), "ceph-mon_"); found {
			fmt.Fprintf(p.log, "Unpacked Ceph %s to %s; remove the folder to have a later one\n", version, p.root)
			if !strings.HasPrefix(version, p.release+".") {
				return fmt.Errorf("suite %s of Debian has %s: choose another one for this release", p.suite, file)
			}
			return nil
		}
	}
	return errors.New("apt loaded no package ceph-mon")
}

// apt is an apt-get that neither reads nor writes this machine's lists, packages and settings, but for
// the mirror.
type apt struct {
	dir     string
	options []string
}

func newApt(ctx context.Context, dir, suite string) (apt, error) {
	mirror, err := mirror(ctx)
	if err != nil {
		return apt{}, err
	}
	for _, folder := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			return apt{}, err
		}
	}
	sources := filepath.Join(dir, "sources.list")
	err = errors.Join(
		os.WriteFile(sources, fmt.Appendf(nil, "deb [signed-by=%s] %s %s main\n", keyring, mirror, suite), 0o600),
		os.WriteFile(filepath.Join(dir, "status"), nil, 0o600),
	)
	a := apt{dir: dir, options: []string{"-q", "-y"}}
	for _, option := range []string{
		"Dir::State=" + dir, "Dir::State::lists=" + dir + "/lists", "Dir::State::status=" + dir + "/status",
		"Dir::Cache=" + dir + "/cache", "Dir::Log=" + dir, "Dir::Etc::sourcelist=" + sources,
		"Dir::Etc::sourceparts=/dev/null", "Dir::Etc::preferences=/dev/null", "Dir::Etc::preferencesparts=/dev/null",
		"Acquire::Languages=none", "APT::Install-Recommends=false", "APT::Sandbox::User=",
		"APT::Update::Post-Invoke-Success::=true", "Debug::NoLocking=true",
	} {
		a.options = append(a.options, "-o", option)
	}
	return a, err
}

func (a apt) run(ctx context.Context, arguments ...string) error {
	out, err := exec.CommandContext(ctx, "apt-get", append(a.options, arguments...)...).CombinedOutput()
	if err != nil {
		lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
		return fmt.Errorf("apt-get %s: %w: %s", arguments[0], err, bytes.Join(lines[max(0, len(lines)-10):], []byte("\n")))
	}
	return nil
}

// keyring is that of package debian-archive-keyring, which Debian and its kin have.
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// mirror is where this machine has its own packages of Debian from.
func mirror(ctx context.Context) (string, error) {
	for _, program := range []string{"apt-get", "dpkg"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", fmt.Errorf("no %s: other releases of Ceph come from Debian's packages", program)
		}
	}
	out, err := exec.CommandContext(ctx, "apt-get", "indextargets", "--format", "$(ORIGIN) $(SUITE) $(REPO_URI)", "Created-By: Packages").Output()
	if err != nil {
		return "", fmt.Errorf("asking apt-get for its mirrors: %w", err)
	}
	found := findMirror(string(out))
	if found == "" {
		return "", errors.New("apt on this machine has no mirror of Debian: other releases of Ceph come from there")
	}
	return found, nil
}

// findMirror takes lines of origin, suite and address. Security updates are in another place.
func findMirror(targets string) string {
	for line := range strings.Lines(targets) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == "Debian" && !strings.Contains(fields[1], "-") {
			return fields[2]
		}
	}
	return ""
}
