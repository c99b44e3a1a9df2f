package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// place is where the operator would put the volumes of a driver's default StorageClass.
type place struct {
	ceph.Placement
	// err is why there is none.
	err error
	// pool and group are made by the operator when they are missing.
	makesPool, makesGroup bool
	// own is the pool that the operator may make unasked.
	own string
}

// findPlaces lets each driver choose as it does in the operator, from what is known already.
func (f *facts) findPlaces(ctx context.Context, config Config) map[string]place {
	out := map[string]place{}
	for _, d := range config.Drivers {
		settings, _ := f.cluster.settings(d)
		wish := driver.Wish{
			Placement: settings.Placement(),
			Origin:    "spec.driverConfig.ceph of ClusterCSIDriver " + d.Name,
			Own:       infrastructureName(f.cluster.infrastructure.value) + "-rbd",
		}
		// What the class of our name says is what the operator stays with.
		if existing := f.cluster.class(d.StorageClass); wish.Placement == (ceph.Placement{}) && existing != nil && existing.Provisioner == d.Name {
			wish.Placement = d.Storage.FromParameters(existing.Parameters)
			wish.Origin = "StorageClass " + d.StorageClass
		}
		if config.Pool != "" || config.Filesystem != "" {
			wish.Pool, wish.Filesystem = cmp.Or(config.Pool, wish.Pool), cmp.Or(config.Filesystem, wish.Filesystem)
			wish.Origin = "the command line"
		}
		wish.FSID = f.fsid.value
		dry := &dryRun{facts: f}
		p := place{own: wish.Own}
		if p.Placement, p.err = d.Storage.Place(ctx, dry, wish); p.err != nil {
			p.Filesystem = wish.Filesystem
		}
		p.makesPool, p.makesGroup = dry.pool != "", dry.group != ""
		out[d.Name] = p
	}
	return out
}

// placeholder stands for a name that is not known.
const placeholder = "<infrastructure name>"

// infrastructureName is the infra ID, or a placeholder while none is known.
func infrastructureName(infrastructure *unstructured.Unstructured) string {
	if infrastructure == nil {
		return placeholder
	}
	name, _, _ := unstructured.NestedString(infrastructure.Object, "status", "infrastructureName")
	return cmp.Or(name, placeholder)
}

// dryRun is the Ceph cluster as far as it is known. Writes are noted, or denied where the
// user's would be.
type dryRun struct {
	facts       *facts
	pool, group string
}

func (r *dryRun) Pools(context.Context) ([]ceph.Pool, error) {
	return r.facts.pools.value, r.facts.pools.err
}

func (r *dryRun) FileSystems(context.Context) ([]ceph.FileSystem, error) {
	return r.facts.filesystems.value, r.facts.filesystems.err
}

func (r *dryRun) CreatePool(_ context.Context, name string) error {
	if err := r.allowed(ceph.TryCreatePool); err != nil {
		return fmt.Errorf("creating pool %q: %w", name, err)
	}
	r.pool = name
	return nil
}

func (r *dryRun) EnableApplication(_ context.Context, pool, application string) error {
	if err := r.allowed(ceph.TryEnableApplication); err != nil {
		return fmt.Errorf("enabling application %s on pool %q: %w", application, pool, err)
	}
	return nil
}

// EnsureSubvolumeGroup only notes the wish: whether the group is there is asked later.
func (r *dryRun) EnsureSubvolumeGroup(_ context.Context, _, group string) error {
	r.group = group
	return nil
}

func (r *dryRun) allowed(trial ceph.Trial) error {
	may, unknown := r.facts.may(trial)
	if unknown != nil {
		return unknown
	}
	if !may {
		return ceph.ErrDenied
	}
	return nil
}

// poolsOf are the pools whose objects the driver reads and writes, and the namespaces in them.
func (f *facts) poolsOf(d driver.Driver, p place) []poolNamespace {
	if p.err != nil {
		return nil
	}
	var out []poolNamespace
	for _, pool := range []string{p.Pool, p.DataPool} {
		exists := slices.ContainsFunc(f.pools.value, func(known ceph.Pool) bool { return known.Name == pool })
		if pool != "" && exists {
			out = append(out, poolNamespace{pool: pool})
		}
	}
	for _, fs := range f.filesystemPools.value {
		if fs.Filesystem != p.Filesystem {
			continue
		}
		// ceph-csi keeps its journal there.
		out = append(out, poolNamespace{fs.Metadata, "csi"})
		for _, pool := range fs.Data {
			out = append(out, poolNamespace{pool: pool})
		}
	}
	return out
}
