package cephrelease

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	// startersFolder has a script for each program; linkFolder what a program is built against.
	startersFolder = "starters"
	linkFolder     = "link"
)

// layout is where unpacked packages have what starts a program.
type layout struct {
	// libraries is the folder of the libraries and linker the dynamic linker's file, below the root.
	libraries, linker string
	// python is the interpreter's name.
	python string
}

func findLayout(dir string) (layout, error) {
	rados, err := one(dir, "usr/lib/*/librados.so.2")
	if err != nil {
		return layout{}, err
	}
	linker, err := one(dir, "usr/lib*/ld-linux-*.so.*")
	if err != nil {
		return layout{}, err
	}
	python, err := one(dir, "usr/bin/python3.[0-9]*[0-9]")
	return layout{libraries: filepath.Dir(rados), linker: linker, python: filepath.Base(python)}, err
}

// one is the first match of a pattern, relative to dir.
func one(dir, pattern string) (string, error) {
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("the packages have no %s", pattern)
	}
	if err != nil {
		return "", err
	}
	return filepath.Rel(dir, found[0])
}

// searched are the folders of libraries.
func (l layout) searched(root string) []string {
	libraries := filepath.Join(root, l.libraries)
	return []string{libraries, filepath.Join(libraries, "ceph"), filepath.Join(libraries, "systemd"), filepath.Join(root, "usr/lib")}
}

// writeStarters writes scripts that start the programs by the dynamic linker and with the libraries
// that were unpacked with them.
func writeStarters(dir, root string) error {
	l, err := findLayout(dir)
	if err != nil {
		return err
	}
	folder := filepath.Join(dir, startersFolder)
	errs := []error{os.MkdirAll(folder, 0o755)}
	for _, program := range needed {
		errs = append(errs, os.WriteFile(filepath.Join(folder, program), []byte(l.starter(root, program)), 0o755))
	}
	return errors.Join(errs...)
}

func (l layout) starter(root, program string) string {
	var interpreter, environment string
	switch program {
	case "ceph":
		interpreter = filepath.Join(root, "usr/bin", l.python) + " "
		fallthrough
	case "ceph-mgr":
		environment = fmt.Sprintf("env PYTHONHOME='%s/usr' PYTHONPATH= ", root)
	}
	return fmt.Sprintf("#!/bin/sh\nexec %s'%s' --argv0 %s --library-path '%s' %s'%s' \"$@\"\n",
		environment, filepath.Join(root, l.linker), program, strings.Join(l.searched(root), ":"), interpreter, filepath.Join(root, "usr/bin", program))
}

// linked are the libraries that the operator is built against.
var linked = []string{"librados", "librbd", "libcephfs"}

// writeLinkFolder makes a folder with nothing but Ceph's headers and libraries: with the others beside
// them, a compiler would mix two releases of the C library.
func writeLinkFolder(dir string) error {
	l, err := findLayout(dir)
	if err != nil {
		return err
	}
	folder := filepath.Join(dir, linkFolder)
	errs := []error{os.MkdirAll(filepath.Join(folder, "include"), 0o755), os.MkdirAll(filepath.Join(folder, "lib"), 0o755)}
	for _, headers := range []string{"rados", "rbd", "cephfs"} {
		errs = append(errs, os.Symlink(filepath.Join("../../usr/include", headers), filepath.Join(folder, "include", headers)))
	}
	for _, library := range linked {
		errs = append(errs, os.Symlink(filepath.Join("../..", l.libraries, library+".so"), filepath.Join(folder, "lib", library+".so")))
	}
	return errors.Join(errs...)
}
