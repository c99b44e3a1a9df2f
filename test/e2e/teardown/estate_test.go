package teardown

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// row lays one thing out, with names of its own.
type row func(c *volumes.Cluster, name string) error

// imageRows and subvolumeRows are what a cluster can have.
var imageRows = []row{
	func(c *volumes.Cluster, name string) error { _, err := written(c, block, name); return err },
	func(c *volumes.Cluster, name string) error { _, err := written(c, tenant, name); return err },
	func(c *volumes.Cluster, name string) error {
		class := block
		class.DataPool = "fast"
		_, err := written(c, class, name)
		return err
	},
	func(c *volumes.Cluster, name string) error {
		class := block
		class.Features, class.Prefix, class.Encrypted = volumes.CephsOwn, "shop-", true
		_, err := written(c, class, name)
		return err
	},
	func(c *volumes.Cluster, name string) error { return restored(c, block, name, false, false) },
	func(c *volumes.Cluster, name string) error { return restored(c, tenant, name, true, false) },
	func(c *volumes.Cluster, name string) error { return restored(c, block, name, true, true) },
	func(c *volumes.Cluster, name string) error { return cloned(c, block, name, false) },
	func(c *volumes.Cluster, name string) error { return cloned(c, tenant, name, true) },
	func(c *volumes.Cluster, name string) error {
		i, err := written(c, tenant, name)
		if err != nil {
			return err
		}
		return i.Scatter("", true, "csi.imageid", "csi.volname")
	},
	func(c *volumes.Cluster, name string) error {
		i, err := written(c, block, name)
		if err != nil {
			return err
		}
		j, err := written(c, block, name+"-beside")
		if err != nil {
			return err
		}
		g, err := c.ImageGroup(name, i, j)
		if err != nil {
			return err
		}
		return g.Snapshot("now")
	},
	func(c *volumes.Cluster, name string) error { return grouped(c, block, name) },
	func(c *volumes.Cluster, name string) error { return grouped(c, tenant, name) },
}

var subvolumeRows = []row{
	func(c *volumes.Cluster, name string) error { _, err := c.Subvolume(files, name); return err },
	func(c *volumes.Cluster, name string) error {
		s, err := snapshotOf(c, name)
		if err != nil {
			return err
		}
		_, err = c.RestoreSubvolume(s, files, name+"-restored")
		return err
	},
	func(c *volumes.Cluster, name string) error {
		s, err := snapshotOf(c, name)
		if err != nil {
			return err
		}
		return s.Source.Delete()
	},
	func(c *volumes.Cluster, name string) error {
		s, err := snapshotOf(c, name)
		if err != nil {
			return err
		}
		if _, err := c.Shallow(s, name+"-shallow"); err != nil {
			return err
		}
		return s.Delete()
	},
	func(c *volumes.Cluster, name string) error {
		s, err := snapshotOf(c, name)
		if err != nil {
			return err
		}
		_, err = c.Shallow(s, name+"-shallow")
		return err
	},
	func(c *volumes.Cluster, name string) error {
		source, err := c.Subvolume(files, name)
		if err != nil {
			return err
		}
		_, err = c.CloneSubvolume(source, name+"-clone")
		return err
	},
	func(c *volumes.Cluster, name string) error {
		s, err := snapshotOf(c, name)
		if err != nil {
			return err
		}
		beside, err := snapshotOf(c, name+"-beside")
		if err != nil {
			return err
		}
		return c.FileGroup(name, s, beside)
	},
}

func snapshotOf(c *volumes.Cluster, name string) (*volumes.SubvolumeSnapshot, error) {
	source, err := c.Subvolume(files, name)
	if err != nil {
		return nil, err
	}
	return c.SubvolumeSnapshot(source, name)
}

func written(c *volumes.Cluster, class volumes.Class, name string) (*volumes.Image, error) {
	i, err := c.Image(class, name)
	if err != nil {
		return nil, err
	}
	return i, i.Write(8192)
}

// restored is a volume, its snapshot and a volume made of it; then the first two may be deleted.
func restored(c *volumes.Cluster, class volumes.Class, name string, withoutVolume, withoutSnapshot bool) error {
	i, err := written(c, class, name)
	if err != nil {
		return err
	}
	s, err := c.ImageSnapshot(i, name)
	if err != nil {
		return err
	}
	if _, err := c.Restore(s, class, name+"-restored"); err != nil {
		return err
	}
	if withoutSnapshot {
		if err := s.Delete(); err != nil {
			return err
		}
	}
	if withoutVolume {
		return i.Delete()
	}
	return nil
}

// grouped is a snapshot of two volumes at once.
func grouped(c *volumes.Cluster, class volumes.Class, name string) error {
	var taken []*volumes.ImageSnapshot
	for _, name := range []string{name, name + "-beside"} {
		i, err := written(c, class, name)
		if err != nil {
			return err
		}
		s, err := c.ImageSnapshot(i, name)
		if err != nil {
			return err
		}
		taken = append(taken, s)
	}
	return c.SnapshotGroup(name, taken...)
}

// cloned is a volume, its clone, and the clone's clone; then the first clone may be deleted.
func cloned(c *volumes.Cluster, class volumes.Class, name string, withoutFirst bool) error {
	i, err := written(c, class, name)
	if err != nil {
		return err
	}
	first, err := c.CloneImage(i, name+"-clone")
	if err != nil {
		return err
	}
	if _, err := c.CloneImage(first, name+"-again"); err != nil {
		return err
	}
	if withoutFirst {
		return first.Delete()
	}
	return nil
}

// rowsOf are rows for a cluster, to be laid out together with others'.
func rowsOf(c *volumes.Cluster, rows []row) []func() error {
	var out []func() error
	for n, lay := range rows {
		out = append(out, func() error {
			if err := lay(c, fmt.Sprintf("row-%d", n)); err != nil {
				return fmt.Errorf("row %d of %s: %w", n, c.InfraID, err)
			}
			return nil
		})
	}
	return out
}

// must be called on the spec's goroutine.
func must[T any](value T, err error) T {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	return value
}
