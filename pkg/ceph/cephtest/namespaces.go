package cephtest

import (
	"context"
	"fmt"
	"slices"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// CreateNamespace makes one unless it exists.
func (c *Client) CreateNamespace(ctx context.Context, pool, namespace string) error {
	const prefix = "namespace create"
	err := ceph.CheckNamespace(namespace)
	if err == nil {
		err = c.inPool(ctx, prefix, pool, func(cluster *Cluster, id int64) {
			cluster.writes[prefix]++
			if !slices.Contains(cluster.namespaces[id], namespace) {
				cluster.namespaces[id] = append(cluster.namespaces[id], namespace)
			}
		})
	}
	if err != nil {
		return fmt.Errorf("creating RADOS namespace %q in pool %q: %w", namespace, pool, err)
	}
	return nil
}

// inPool works on the objects of a pool, for which OSD caps count.
func (c *Client) inPool(ctx context.Context, prefix, pool string, work func(cluster *Cluster, id int64)) error {
	return c.run(ctx, "fsid", func(cluster *Cluster) error {
		p := cluster.pool(pool)
		switch {
		case p == nil:
			return refusal("open pool", syscall.ENOENT, "")
		case !c.rights.objects(*p, "").Write || slices.Contains(c.rights.denied, prefix):
			return refusal(prefix, syscall.EPERM, "")
		}
		work(cluster, p.ID)
		return nil
	})
}
