package cephrelease

import (
	"path/filepath"
	"strings"
)

// BuildEnvironment are the variables ("NAME=value") with which `go build` links programs against the
// libraries of an unpacked release, and tests run on a new cluster of it. The programs run by that release's
// dynamic linker. GO_EXTLDFLAGS are for the linker of -ldflags only: in CGO_LDFLAGS, they would have everything
// built anew that uses the network.
func (p Programs) BuildEnvironment() ([]string, error) {
	l, err := findLayout(p.root)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(p.root, linkFolder)
	linker := []string{
		"-L" + filepath.Join(folder, "lib"),
		"-Wl,--dynamic-linker=" + filepath.Join(p.root, l.linker),
		"-Wl,-rpath," + strings.Join(l.searched(p.root), ":"),
		// Not RUNPATH, which what the libraries need themselves would not be looked up in.
		"-Wl,--disable-new-dtags",
		// The C library is the newer one only when the program runs.
		"-Wl,--unresolved-symbols=ignore-in-shared-libs",
	}
	return []string{
		"CGO_CFLAGS=-O2 -g -I" + filepath.Join(folder, "include"),
		"GO_EXTLDFLAGS=" + strings.Join(linker, " "),
		Variable + "=" + p.release,
		keyTypeVariable + "=" + releases[p.release].keyType,
		"GO_TAGS=" + releases[p.release].tag,
	}, nil
}
