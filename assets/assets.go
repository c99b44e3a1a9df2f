// Package assets holds the manifests of the operands. The folders are the list of what is
// applied: shared/ is for both drivers, rbd/ and cephfs/ add to it.
//
//   - static/*.yaml are applied in the order of their names, one object each.
//   - userspace/*.yaml are Roles and RoleBindings that are there only while processes in the node pods may mount volumes.
//   - controller/*.yaml and node/*.yaml are merged in the order of their names, shared ones
//     first, into one Deployment and one DaemonSet.
//   - retired/*.yaml name ClusterRoleBindings that former versions have applied, and that are deleted.
//   - the other files have rules of their own, see their constants.
//
// csidriveroperators/ is what cluster-storage-operator applies to start our operators.
package assets

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Names for Set.Asset of what is not static.
const (
	// Controller is the Deployment of the controllers.
	Controller = "controller.yaml"
	// Node is the DaemonSet of the node plugin.
	Node = "node.yaml"
	// MetricsService is the static Service of the controllers' metrics.
	MetricsService = "static/10_controller_metrics_service.yaml"
	// CSIDriver is not applied over somebody else's.
	CSIDriver = "csidriver.yaml"
	// ServiceMonitor needs the CRD of prometheus-operator.
	ServiceMonitor = "servicemonitor.yaml"
	// PrometheusRule needs another CRD of prometheus-operator.
	PrometheusRule = "prometheusrule.yaml"
	// Dashboard needs the namespace in which OpenShift's console looks for it.
	Dashboard = "dashboard.yaml"
	// StorageClass lacks the parameters that come from the Ceph cluster, as the two following.
	StorageClass = "storageclass.yaml"
	// VolumeSnapshotClass needs the CRD of external-snapshotter.
	VolumeSnapshotClass = "volumesnapshotclass.yaml"
	// VolumeGroupSnapshotClass needs another CRD of external-snapshotter.
	VolumeGroupSnapshotClass = "volumegroupsnapshotclass.yaml"
	// VirtualizationClass is what a StorageClass for disks of virtual machines has beyond the
	// default one. Not every driver has it.
	VirtualizationClass = "virtualization_storageclass.yaml"
)

const (
	sharedDir    = "shared"
	staticDir    = "static"
	userSpaceDir = "userspace"
	// retiredDir is where a file of staticDir goes that is needed no more; its name is all that has to stay.
	retiredDir = "retired"
)

//go:embed shared rbd cephfs
var sources embed.FS

// Values are what the manifests are rendered with.
type Values struct {
	Driver driver.Driver
	// Images maps the names of environment variables (see RequiredImages) to images.
	Images map[string]string
}

// Set is the manifests of one driver. The only placeholders left are those that library-go
// replaces when it applies the Deployment and the DaemonSet.
type Set struct {
	static, userSpace, retired []string
	content                    map[string][]byte
}

// New renders and parses all manifests of a driver. Missing images are one error that names
// all their environment variables.
func New(v Values) (Set, error) {
	r, err := newRenderer(v)
	if err != nil {
		return Set{}, err
	}
	set := Set{content: map[string][]byte{}}
	singles := []string{CSIDriver, Dashboard, PrometheusRule, ServiceMonitor, StorageClass, VolumeSnapshotClass, VolumeGroupSnapshotClass}
	for _, name := range singles {
		if set.content[name], err = r.single(name); err != nil {
			return Set{}, err
		}
	}
	if r.has(VirtualizationClass) {
		if set.content[VirtualizationClass], err = r.single(VirtualizationClass); err != nil {
			return Set{}, err
		}
	}
	if set.static, err = set.each(r, staticDir); err != nil {
		return Set{}, err
	}
	if set.userSpace, err = set.each(r, userSpaceDir); err != nil {
		return Set{}, err
	}
	if set.retired, err = set.each(r, retiredDir); err != nil {
		return Set{}, err
	}
	if set.content[Controller], err = r.deployment(); err != nil {
		return Set{}, err
	}
	if set.content[Node], err = r.daemonSet(); err != nil {
		return Set{}, err
	}
	return set, set.check()
}

// each renders the files of a folder one by one, and returns their names in order.
func (s Set) each(r renderer, folder string) ([]string, error) {
	files, err := r.folder(folder)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, source := range files {
		name := path.Join(folder, path.Base(source))
		if _, twice := s.content[name]; twice {
			return nil, fmt.Errorf("asset %s is in two folders", name)
		}
		if s.content[name], err = r.render(source); err != nil {
			return nil, err
		}
		out = append(out, name)
	}
	return out, nil
}

// Static names the static assets in the order in which they must be applied.
func (s Set) Static() []string { return slices.Clone(s.static) }

// UserSpace names the Roles and RoleBindings for mounts that live in the node pods, in the order in which they must be applied.
func (s Set) UserSpace() []string { return slices.Clone(s.userSpace) }

// Retired names the ClusterRoleBindings that former versions have applied.
func (s Set) Retired() []string { return slices.Clone(s.retired) }

// Names are all names that Asset knows, sorted.
func (s Set) Names() []string { return slices.Sorted(maps.Keys(s.content)) }

// Asset returns a manifest by its name: it is an AssetFunc of library-go.
func (s Set) Asset(name string) ([]byte, error) {
	content, ok := s.content[name]
	if !ok {
		return nil, fmt.Errorf("no asset %q", name)
	}
	return slices.Clone(content), nil
}

// Manifest is the asset of that name; nil where the driver has none.
func (s Set) Manifest(name string) []byte { return slices.Clone(s.content[name]) }

// Has says whether there is an asset of that name.
func (s Set) Has(name string) bool {
	_, ok := s.content[name]
	return ok
}

// Controller is the Deployment of the controllers.
func (s Set) Controller() []byte { return slices.Clone(s.content[Controller]) }

// Node is the DaemonSet of the node plugin.
func (s Set) Node() []byte { return slices.Clone(s.content[Node]) }

// StorageClass is the default StorageClass without the parameters of the Ceph cluster.
func (s Set) StorageClass() []byte { return slices.Clone(s.content[StorageClass]) }

var imagePlaceholder = regexp.MustCompile(`\$\{([A-Z_]+_IMAGE)\}`)

// RequiredImages names, sorted, the environment variables whose images occur in the
// manifests.
func RequiredImages() []string {
	names := map[string]bool{}
	err := fs.WalkDir(sources, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		content, err := sources.ReadFile(name)
		for _, match := range imagePlaceholder.FindAllSubmatch(content, -1) {
			names[string(match[1])] = true
		}
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("reading embedded files: %v", err))
	}
	return slices.Sorted(maps.Keys(names))
}

// prefix starts the names of the driver's cluster-scoped objects.
func prefix(d driver.Driver) string { return "ceph-" + d.Kind }
