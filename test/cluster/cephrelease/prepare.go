package cephrelease

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// compilePython compiles what the mgr and the command line are written in: the mgr itself never keeps
// what it compiled, and takes a minute for it at each start.
func compilePython(ctx context.Context, dir, root string) error {
	l, err := findLayout(dir)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, l.linker), "--library-path", strings.Join(l.searched(dir), ":"),
		filepath.Join(dir, "usr/bin", l.python), "-m", "compileall", "-q", "-s", dir, "-p", root,
		filepath.Join(dir, "usr/share/ceph/mgr"), filepath.Join(dir, "usr/lib/python3"), filepath.Join(dir, "usr/lib", l.python))
	cmd.Env = append(os.Environ(), "PYTHONHOME="+filepath.Join(dir, "usr"), "PYTHONPATH=")
	out, err := cmd.CombinedOutput()
	// Some packages have examples that no Python can compile.
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("compiling Python: %w: %s", err, out)
	}
	return nil
}

// keepToRoot takes from libraries the search path of their own: it leads to what this machine has
// installed, and hides that of the program, which leads to the unpacked libraries.
func keepToRoot(dir string) error {
	l, err := findLayout(dir)
	if err != nil {
		return err
	}
	for _, folder := range l.searched(dir) {
		files, err := filepath.Glob(filepath.Join(folder, "*.so*"))
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := withoutRunpath(file); err != nil {
				return fmt.Errorf("search path of %s: %w", file, err)
			}
		}
	}
	return nil
}

// ignored is an entry of a kind that no dynamic linker knows.
const ignored = uint64(elf.DT_LOOS)

// withoutRunpath has the dynamic linker pass over the RUNPATH of a library.
func withoutRunpath(file string) error {
	library, err := elf.Open(file)
	if format := (*elf.FormatError)(nil); errors.As(err, &format) || errors.Is(err, os.ErrNotExist) {
		return nil // a linker's script, or a link into a package that is not there
	}
	if err != nil {
		return err
	}
	defer library.Close()
	section := library.SectionByType(elf.SHT_DYNAMIC)
	if section == nil || library.Class != elf.ELFCLASS64 {
		return nil
	}
	content, err := section.Data()
	if err != nil {
		return err
	}
	const entry = 16
	for at := 0; at+entry <= len(content); at += entry {
		if library.ByteOrder.Uint64(content[at:]) != uint64(elf.DT_RUNPATH) {
			continue
		}
		out, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = out.WriteAt(binary.LittleEndian.AppendUint64(nil, ignored), int64(section.Offset)+int64(at))
		return errors.Join(err, out.Close())
	}
	return nil
}
