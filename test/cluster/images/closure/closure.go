// Package closure finds what programs of this machine need of it to run elsewhere: shared
// libraries, those that libraries load later, and the links by which all are found.
package closure

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Closure collects paths of this machine.
type Closure struct {
	search []string
	// links are symbolic links, files everything else, by where they lie.
	links map[string]string
	files map[string]bool
}

// New returns an empty closure, but for the links between top-level folders.
func New() (*Closure, error) {
	configured, err := configuredFolders("/etc/ld.so.conf")
	if err != nil {
		return nil, err
	}
	c := &Closure{links: map[string]string{}, files: map[string]bool{}}
	c.search = append(configured, "/lib64", "/usr/lib64", "/lib", "/usr/lib")
	for _, top := range []string{"/bin", "/sbin", "/lib", "/lib64"} {
		if target, err := os.Readlink(top); err == nil {
			c.links[top] = target
		}
	}
	return c, nil
}

// configuredFolders are those of the dynamic linker's configuration.
func configuredFolders(file string) ([]string, error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(content)) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		switch {
		case len(words) == 2 && words[0] == "include":
			pattern := words[1]
			if !filepath.IsAbs(pattern) {
				pattern = filepath.Join(filepath.Dir(file), pattern)
			}
			included, err := filepath.Glob(pattern)
			if err != nil {
				return nil, err
			}
			for _, name := range included {
				folders, err := configuredFolders(name)
				if err != nil {
					return nil, err
				}
				out = append(out, folders...)
			}
		case len(words) == 1:
			out = append(out, words[0])
		}
	}
	return out, nil
}

// Add adds a file where it lies, the links that lead to it, and what it needs.
func (c *Closure) Add(path string) error {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return err
	}
	path = filepath.Join(dir, filepath.Base(path))
	if c.files[path] || c.links[path] != "" {
		return nil
	}
	target, err := os.Readlink(path)
	if err == nil {
		c.links[path] = target
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		return c.Add(target)
	}
	if _, err := os.Stat(path); err != nil {
		return err
	}
	c.files[path] = true
	return c.Needs(path)
}

// Needs adds what a file needs, not the file itself. Files that are no programs need nothing.
func (c *Closure) Needs(path string) error {
	file, err := elf.Open(path)
	if err != nil {
		if _, notELF := errors.AsType[*elf.FormatError](err); notELF || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		return err
	}
	defer file.Close()
	for _, segment := range file.Progs {
		if segment.Type != elf.PT_INTERP {
			continue
		}
		name := make([]byte, segment.Filesz)
		if _, err := segment.ReadAt(name, 0); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := c.Add(strings.TrimRight(string(name), "\x00")); err != nil {
			return err
		}
	}
	libraries, err := file.ImportedLibraries()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	folders := append(runPath(file, filepath.Dir(path)), c.search...)
	for _, library := range libraries {
		found := find(library, folders, file.Machine)
		if found == "" {
			return fmt.Errorf("%s needs %s, which is in none of %q", path, library, folders)
		}
		if err := c.Add(found); err != nil {
			return err
		}
	}
	return nil
}

func runPath(file *elf.File, origin string) []string {
	var out []string
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		values, err := file.DynString(tag)
		if err != nil {
			continue
		}
		for _, value := range values {
			for _, folder := range filepath.SplitList(value) {
				out = append(out, strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin).Replace(folder))
			}
		}
	}
	return out
}

// find returns the first library of that name that is for the machine; none is empty.
func find(library string, folders []string, machine elf.Machine) string {
	for _, folder := range folders {
		path := filepath.Join(folder, library)
		if file, err := elf.Open(path); err == nil {
			same := file.Machine == machine
			_ = file.Close()
			if same {
				return path
			}
		}
	}
	return ""
}

// AddFolder adds the files of a folder, if it exists.
func (c *Closure) AddFolder(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var errs []error
	for _, entry := range entries {
		if !entry.IsDir() {
			errs = append(errs, c.Add(filepath.Join(folder, entry.Name())))
		}
	}
	return errors.Join(append(errs, err)...)
}

// Folder is where a library with that prefix lies; empty if the closure has none.
func (c *Closure) Folder(prefix string) string {
	for _, file := range c.Files() {
		if strings.HasPrefix(filepath.Base(file), prefix) {
			return filepath.Dir(file)
		}
	}
	return ""
}

// Files are the files, sorted.
func (c *Closure) Files() []string {
	out := make([]string, 0, len(c.files))
	for file := range c.files {
		out = append(out, file)
	}
	slices.Sort(out)
	return out
}

// Links are the symbolic links and what they say.
func (c *Closure) Links() map[string]string { return c.links }
