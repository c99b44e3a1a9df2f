package box

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// libraries are the folders outside of shared in which a program looks for its libraries, such as those
// of another release of Ceph.
func libraries(program string) ([]Mount, error) {
	folders, err := searched(program)
	if err != nil {
		return nil, fmt.Errorf("the libraries of %s: %w", program, err)
	}
	var out []Mount
	for _, folder := range folders {
		within := func(path string) bool { return strings.HasPrefix(folder+"/", path+"/") }
		if slices.ContainsFunc(shared, within) || slices.ContainsFunc(out, func(m Mount) bool { return within(m.Target) }) {
			continue
		}
		if _, err := os.Stat(folder); err == nil {
			out = append(out, Mount{Source: folder, Target: folder})
		}
	}
	return out, nil
}

// searched are the folders that a program names itself, sorted: that of its dynamic linker, and its search path.
func searched(program string) ([]string, error) {
	file, err := elf.Open(program)
	if format := (*elf.FormatError)(nil); errors.As(err, &format) {
		return nil, nil // a script
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var out []string
	for _, p := range file.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		name := make([]byte, p.Filesz)
		if _, err := p.ReadAt(name, 0); err != nil {
			return nil, err
		}
		out = append(out, filepath.Dir(string(bytes.TrimRight(name, "\x00"))))
	}
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		paths, err := file.DynString(tag)
		if err != nil {
			continue // a program without libraries
		}
		for _, path := range paths {
			out = append(out, filepath.SplitList(path)...)
		}
	}
	slices.Sort(out)
	return out, nil
}
