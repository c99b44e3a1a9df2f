package images

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/images/archive"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/images/closure"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/programs"
	cephcsi "github.com/openshift/ceph-csi-driver-operator/test/standins/cephcsi/programs"
)

const (
	// format changes with what this package makes of the same files.
	format = "1"
	// nobody is the user that OpenShift's kube-rbac-proxy has.
	nobody = "65534"
)

// recipe says what an image is made of.
type recipe struct {
	// name of the image, variable of the manifests that names it, short name of the archive.
	name, variable, short string
	// program returns the file that is at entrypoint[0].
	program    func(ctx context.Context, log io.Writer) (string, error)
	entrypoint []string
	user       string
	// tools are programs of this machine that the program starts.
	tools []string
}

// recipes are those of all images. Users and paths of programs are those of OpenShift's images.
func recipes() ([]recipe, error) {
	names, err := named()
	if err != nil {
		return nil, err
	}
	ours, err := dockerfile()
	if err != nil {
		return nil, err
	}
	out := []recipe{
		{name: Sandbox, short: "pause", entrypoint: []string{"/pause"}, user: nobody, program: own("pause")},
		{name: Workload, short: "workload", entrypoint: []string{"/usr/bin/workload"}, program: own("workload")},
		{name: SnapshotController, short: "snapshot-controller", entrypoint: []string{"/snapshot-controller"}, program: sidecar("snapshot-controller")},
		{variable: operatorVariable, short: "operator", entrypoint: ours.entrypoint, user: ours.user},
		{variable: driverVariable, short: "driver", entrypoint: []string{"/usr/local/bin/cephcsi"}, tools: slices.Concat(cephcsi.Node, cephcsi.Controller)},
		{variable: registrarVariable, short: "node-driver-registrar", entrypoint: []string{"/usr/bin/csi-node-driver-registrar"}},
		{variable: livenessVariable, short: "livenessprobe", entrypoint: []string{"/usr/bin/livenessprobe"}},
		{variable: proxyVariable, short: "kube-rbac-proxy", entrypoint: []string{"/usr/bin/kube-rbac-proxy"}, user: nobody},
	}
	for _, variable := range slices.Sorted(maps.Keys(sidecars)) {
		out = append(out, recipe{variable: variable, short: sidecars[variable], entrypoint: []string{"/usr/bin/" + sidecars[variable]}})
	}
	for i := range out {
		r := &out[i]
		if r.name == "" {
			r.name = names[r.variable]
		}
		if r.program == nil {
			r.program = func(ctx context.Context, log io.Writer) (string, error) { return program(ctx, log, r.variable) }
		}
	}
	return out, nil
}

func own(name string) func(context.Context, io.Writer) (string, error) {
	return func(ctx context.Context, log io.Writer) (string, error) {
		installed, err := programs.EnsureStandIns(ctx, log)
		return installed.Path(name), err
	}
}

func sidecar(name string) func(context.Context, io.Writer) (string, error) {
	return func(ctx context.Context, log io.Writer) (string, error) {
		installed, err := programs.EnsureSidecars(ctx, log)
		return installed.Path(name), err
	}
}

// made is an image of a program and all that it needs of this machine, in two layers: the
// program's own is the only one that changes with it.
func (r recipe) made(ctx context.Context, log io.Writer) (func(io.Writer) error, string, error) {
	file, err := r.program(ctx, log)
	if err != nil {
		return nil, "", err
	}
	base, err := r.base(file)
	if err != nil {
		return nil, "", err
	}
	image := archive.Image{
		Name: r.name, User: r.user, Entrypoint: r.entrypoint,
		Env:    []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		Layers: [][]archive.Entry{base, {{Path: r.entrypoint[0], Source: file}}},
	}
	key, err := stamp(fmt.Sprintf("%s %q %q %q", format, r.name, r.user, r.entrypoint), file, base)
	return func(w io.Writer) error { return archive.Write(w, image, "") }, key, err
}

// base is what a program finds around itself.
func (r recipe) base(program string) ([]archive.Entry, error) {
	needed, err := closure.New()
	if err != nil {
		return nil, err
	}
	if err := needed.Needs(program); err != nil {
		return nil, err
	}
	for _, tool := range r.tools {
		path, err := find(tool)
		if err != nil {
			return nil, err
		}
		if err := needed.Add(path); err != nil {
			return nil, err
		}
	}
	if err := addPlugins(needed); err != nil {
		return nil, err
	}
	out := []archive.Entry{
		{Path: "/tmp", Mode: os.ModeDir | os.ModeSticky | 0o777},
		{Path: "/var/run", Mode: os.ModeDir | 0o755},
		{Path: "/etc/passwd", Content: []byte("root:x:0:0:root:/root:/sbin/nologin\n"), Mode: 0o644},
		{Path: "/etc/group", Content: []byte("root:x:0:\n"), Mode: 0o644},
		{Path: "/etc/nsswitch.conf", Content: []byte("hosts: files dns\n"), Mode: 0o644},
	}
	for _, path := range slices.Sorted(maps.Keys(needed.Links())) {
		out = append(out, archive.Entry{Path: path, Link: needed.Links()[path]})
	}
	for _, path := range needed.Files() {
		out = append(out, archive.Entry{Path: path, Source: path})
	}
	return out, nil
}

// addPlugins adds what Ceph's libraries and filesystems' programs look for when they run.
func addPlugins(c *closure.Closure) error {
	if folder := c.Folder("librados.so"); folder != "" {
		for _, plugins := range []string{"ceph/crypto", "ceph/compressor", "librbd"} {
			if err := c.AddFolder(filepath.Join(folder, plugins)); err != nil {
				return err
			}
		}
	}
	for _, file := range []string{"/etc/ld.so.cache", "/etc/mke2fs.conf"} {
		if _, err := os.Stat(file); err == nil {
			if err := c.Add(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// systemFolders are where programs for administrators lie, which are not in every user's PATH.
var systemFolders = []string{"/usr/local/sbin", "/usr/sbin", "/sbin"}

func find(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	for _, folder := range systemFolders {
		path := filepath.Join(folder, program)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed here: run `test/install-dependencies.sh nodes`", program)
}

// stamp changes with the image: with the content of its program, which is built again and again,
// and with size and time of what this machine has installed.
func stamp(what, program string, entries []archive.Entry) (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, what)
	for _, e := range entries {
		fmt.Fprintf(hash, "%q %q %q %v\n", e.Path, e.Link, e.Content, e.Mode)
		if e.Source == "" {
			continue
		}
		info, err := os.Stat(e.Source)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(hash, e.Source, info.Size(), info.ModTime().UnixNano())
	}
	file, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", hash.Sum(nil))[:16], nil
}
