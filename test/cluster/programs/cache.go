// Package programs builds the programs of the control plane once and keeps them in the user's
// cache folder.
package programs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

// Installed is a complete cache folder: programs, KWOK's stages, CRDs.
type Installed struct{ dir string }

// Dir is the folder that holds the programs.
func (i Installed) Dir() string { return i.dir }

// Path is the program's file.
func (i Installed) Path(program string) string { return filepath.Join(i.dir, program) }

// Stages is the folder of KWOK's stage files.
func (i Installed) Stages() string { return filepath.Join(i.dir, "stages") }

// SnapshotCRDs is the folder of the CRDs of external-snapshotter.
func (i Installed) SnapshotCRDs() string { return filepath.Join(i.dir, "snapshot-crds") }

// CacheRoot is the folder for everything that outlives one cluster. Without a home it is a
// folder for this user among the temporary files, which notes to log says.
func CacheRoot(log io.Writer) (string, error) {
	const name = "ceph-csi-driver-operator"
	cache, err := os.UserCacheDir()
	if err == nil {
		root := filepath.Join(cache, name)
		return root, os.MkdirAll(root, 0o700)
	}
	root := filepath.Join(os.TempDir(), name+"-"+strconv.Itoa(os.Getuid()))
	fmt.Fprintf(log, "Neither HOME nor XDG_CACHE_HOME is set: built programs go to %s\n", root)
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", err
	}
	return root, ownedByUs(root)
}

// ownedByUs refuses a folder that another user made for us in a world-writable place.
func ownedByUs(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != os.Getuid() {
		return fmt.Errorf("%s belongs to somebody else: set HOME or XDG_CACHE_HOME to a folder of yours", dir)
	}
	return nil
}

// key changes with everything that the built programs depend on.
func key(inputs ...string) string {
	hash := sha256.New()
	for _, input := range append(inputs, runtime.Version(), runtime.GOOS, runtime.GOARCH) {
		fmt.Fprintf(hash, "%d:%s\n", len(input), input)
	}
	return hex.EncodeToString(hash.Sum(nil))[:16]
}

func readAll(files ...string) ([]string, error) {
	var contents []string
	var errs []error
	for _, file := range files {
		content, err := os.ReadFile(file)
		contents, errs = append(contents, string(content)), append(errs, err)
	}
	return contents, errors.Join(errs...)
}
