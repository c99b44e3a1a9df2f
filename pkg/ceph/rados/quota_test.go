//go:build cgo

package rados

import (
	"slices"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// testQuota: what Ceph calls available of a pool takes no account of its quota.
func testQuota(t *testing.T, c *cephdaemons.Ceph) {
	f := newFiles(t, c)
	const pool, quota = "limited", 1 << 20
	command(t, c, "osd", "pool", "create", pool, "8")
	command(t, c, "osd", "pool", "set-quota", pool, "max_bytes", "1048576")
	eventually(t, func() bool {
		capacities, err := f.conn.Capacities(t.Context())
		check(t, err)
		i := slices.IndexFunc(capacities, func(c ceph.Capacity) bool { return c.Pool == pool })
		return i >= 0 && capacities[i].Stored == 0 && capacities[i].Available == quota
	})
	command(t, c, "osd", "pool", "rm", pool, pool, "--yes-i-really-really-mean-it")
}
