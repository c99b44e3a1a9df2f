package operator

import (
	"context"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/credentials"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/pools"
	"github.com/openshift/ceph-csi-driver-operator/pkg/presence"
)

// sessions are the live connections, by fsid, as each feature takes them: Go takes no function that returns
// one interface for a function that returns another, smaller one.
type sessions struct {
	client func(fsid string) (Session, bool)
}

func (s sessions) pools(fsid string) (pools.Ceph, bool)             { return s.client(fsid) }
func (s sessions) inUse(fsid string) (pools.Cluster, bool)          { return s.client(fsid) }
func (s sessions) credentials(fsid string) (credentials.Ceph, bool) { return s.client(fsid) }
func (s sessions) presence(fsid string) (presence.Cluster, bool)    { return s.client(fsid) }
func (s sessions) tags(fsid string) (driver.TagStore, bool)         { return s.client(fsid) }

// dialOwn makes a connection of a feature's own.
func (o Options) dialOwn(ctx context.Context, source ceph.Source) (credentials.Session, error) {
	return o.Dial(ctx, source)
}
