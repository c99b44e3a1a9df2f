// Package rules tests what the project promises about its own source: which package may
// import which, how long files and functions are, and that the README names only what exists.
package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// module is the import path of the project.
const module = "github.com/openshift/ceph-csi-driver-operator/"

// file is one Go file of the project.
type file struct {
	// path relative to the root, with slashes; dir is its folder.
	path, dir string
	test      bool
	imports   []string
	lines     int
	syntax    *ast.File
	positions *token.FileSet
}

// root finds the folder of the project's go.mod above the working directory.
func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(content), "module "+strings.TrimSuffix(module, "/")+"\n") {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod of %s above the working directory", module)
		}
	}
}

// sources parses every Go file but vendored ones and those of modules that only tests need.
func sources(root string) ([]file, error) {
	var out []file
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if entry.IsDir() {
			_, other := os.Stat(filepath.Join(path, "go.mod"))
			if rel != "." && (other == nil && strings.HasPrefix(rel, "test") || entry.Name() == "vendor" || strings.HasPrefix(entry.Name(), ".") || strings.HasPrefix(entry.Name(), "_")) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		f, err := parse(path)
		f.path = filepath.ToSlash(rel)
		f.dir = filepath.ToSlash(filepath.Dir(rel))
		out = append(out, f)
		return err
	})
	return out, err
}

func parse(path string) (file, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return file{}, err
	}
	out := file{
		test:      strings.HasSuffix(path, "_test.go"),
		lines:     strings.Count(string(content), "\n"),
		positions: token.NewFileSet(),
	}
	out.syntax, err = parser.ParseFile(out.positions, path, content, parser.ParseComments)
	if err != nil {
		return file{}, err
	}
	for _, i := range out.syntax.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return file{}, fmt.Errorf("%s: import %s: %w", path, i.Path.Value, err)
		}
		out.imports = append(out.imports, name)
	}
	return out, nil
}
