// Package cephrelease finds Ceph's programs: those that are installed, or those of another release,
// which it unpacks from a distribution's packages into the user's cache, without root or chroot.
package cephrelease

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/programs"
)

// Variable is the environment variable that chooses the release of Ceph's programs, such as "18.2".
// Where it is not set, they are those that are installed.
const Variable = "CEPH_RELEASE"

// releases that can be unpacked.
var releases = map[string]struct {
	// suite of Debian that carries it; tag is go-ceph's build tag for it, and keyType what new clusters
	// have.
	suite, tag, keyType string
}{
	"18.2": {suite: "trixie", tag: "reef", keyType: "aes"},
	"20.2": {suite: "sid", keyType: "aes256k"},
}

// Programs are Ceph's programs of one release.
type Programs struct {
	// root is the folder of the unpacked packages of a release; both are empty where Ceph is installed.
	root, release string
}

// needed are those of Ceph's programs that are run in tests.
var needed = []string{"ceph", "ceph-mds", "ceph-mgr", "ceph-mon", "ceph-osd", "monmaptool", "rados", "rbd"}

// Chosen are the programs that the environment chooses. It tells log what takes time.
func Chosen(ctx context.Context, log io.Writer) (Programs, error) {
	if release := os.Getenv(Variable); release != "" {
		return Ensure(ctx, release, log)
	}
	return Installed()
}

// Installed are the programs in PATH. The error says what to install.
func Installed() (Programs, error) {
	var missing []string
	for _, program := range needed {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, program)
		}
	}
	if len(missing) > 0 {
		return Programs{}, fmt.Errorf("no %q in PATH: install Ceph's daemons and tools (packages ceph-mon, ceph-mgr, ceph-osd, ceph-mds, ceph-common), or run `make dependencies`", missing)
	}
	return Programs{}, nil
}

// Ensure returns the programs of a release, unpacked now if they are not in the cache yet.
func Ensure(ctx context.Context, release string, log io.Writer) (Programs, error) {
	from, known := releases[release]
	if !known {
		return Programs{}, fmt.Errorf("no Ceph %q: known are %s (variable %s)", release, strings.Join(slices.Sorted(maps.Keys(releases)), ", "), Variable)
	}
	cache, err := programs.CacheRoot(log)
	if err != nil {
		return Programs{}, err
	}
	root := filepath.Join(cache, "ceph-"+release+"-"+formatVersion)
	err = programs.Once(ctx, root, log, func(ctx context.Context, dir string) error {
		fmt.Fprintf(log, "Unpacking Ceph %s of Debian %s: 150 MB to load\n", release, from.suite)
		return unpack(ctx, packages{release: release, suite: from.suite, dir: dir, root: root, log: log})
	})
	if err != nil {
		return Programs{}, fmt.Errorf("unpacking Ceph %s: %w", release, err)
	}
	return Programs{root: root, release: release}, nil
}

// Path is the file of a program.
func (p Programs) Path(program string) (string, error) {
	if p.root == "" {
		return exec.LookPath(program)
	}
	return filepath.Join(p.root, startersFolder, program), nil
}

// SearchPath is PATH with the programs in it.
func (p Programs) SearchPath() string {
	if p.root == "" {
		return os.Getenv("PATH")
	}
	return filepath.Join(p.root, startersFolder) + string(filepath.ListSeparator) + os.Getenv("PATH")
}

// Version asks the mon for its version, such as "18.2.7".
func (p Programs) Version(ctx context.Context) (string, error) {
	path, err := p.Path("ceph-mon")
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", path, err)
	}
	fields := strings.Fields(string(out))
	if len(fields) < 3 {
		return "", fmt.Errorf("%s --version: %q", path, out)
	}
	version, _, _ := strings.Cut(fields[2], "+")
	return version, nil
}

// Folders are the settings of a ceph.conf that say where daemons find their parts. Some packages have
// relative names there, which start where the daemon starts.
func (p Programs) Folders() (map[string]string, error) {
	out := map[string]string{}
	for setting, pattern := range map[string]string{
		"osd class dir":    "usr/lib*/*/rados-classes",
		"erasure code dir": "usr/lib*/*/ceph/erasure-code",
		"mgr module path":  "usr/share/ceph/mgr",
	} {
		// On Fedora and its kin libraries are in /usr/lib64 itself.
		for _, candidate := range []string{pattern, strings.Replace(pattern, "lib*/*", "lib64", 1)} {
			found, err := filepath.Glob(filepath.Join(p.root+"/", candidate))
			if err != nil {
				return nil, err
			}
			if len(found) > 0 {
				out[setting] = found[0]
			}
		}
		if out[setting] == "" {
			return nil, fmt.Errorf("no %s in %s/%s", setting, p.root, pattern)
		}
	}
	if p.root != "" {
		out["plugin dir"] = filepath.Dir(out["erasure code dir"])
	}
	return out, nil
}

// keyTypeVariable is the environment variable that chooses the type of a cluster's keys.
const keyTypeVariable = "CEPH_KEY_TYPE"

// KeyType is the type of keys that the environment chooses, such as "aes256k". Where it does not, it is
// the one that every release of librados understands.
func KeyType() string { return cmp.Or(os.Getenv(keyTypeVariable), "aes") }
