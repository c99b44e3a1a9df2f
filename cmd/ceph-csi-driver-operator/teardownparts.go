package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/rados"
	"github.com/openshift/ceph-csi-driver-operator/pkg/check"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/images"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/subvolumes"
)

// options reads what living clusters name. The cluster is nil without --kubeconfig.
func (f teardownFlags) options(ctx context.Context) (teardown.Options, *check.Cluster, error) {
	o := teardown.Options{
		InfraID: f.infraID, Pools: f.pools, Filesystems: f.filesystems, JournalNamespaces: f.namespaces(), Parallel: f.parallel,
		IncludeRetained: f.includeRetained, Force: f.force, KeepForChildren: f.keepForChildren,
	}
	var others []*teardown.Living
	if f.pvList != "" {
		content, err := os.ReadFile(f.pvList)
		if err != nil {
			return o, nil, fmt.Errorf("--pv-list: %w", err)
		}
		listed := teardown.ParseHandles(string(content), f.pvList)
		if listed.Len() == 0 {
			return o, nil, fmt.Errorf("--pv-list=%s: it has no handle", f.pvList)
		}
		others = append(others, listed)
	}
	var read *check.Cluster
	if f.kubeconfig != "" {
		var err error
		if read, err = cluster(f.kubeconfig); err != nil {
			return o, nil, err
		}
		living, err := teardown.ReadLiving(ctx, read.Kube, read.Dynamic)
		if err != nil {
			return o, nil, fmt.Errorf("--kubeconfig: %w", err)
		}
		named, err := f.named(&o, living)
		if err != nil {
			return o, nil, err
		}
		others = append(others, named...)
	}
	if len(others) > 0 {
		o.Claimed = func(i teardown.Item) string {
			for _, living := range others {
				if whose := living.Names(i); whose != "" {
					return whose
				}
			}
			return ""
		}
	}
	return o, read, nil
}

// named are the volumes that are refused because objects of a living cluster name them.
//
//	cluster   the run         | its drivers' volumes  what those show  others'
//	another   any             | refused               refused          refused
//	this one  --volume        | refused               refused          refused
//	this one  --force-living  | refused               refused          refused
//	this one  --orphans       | no orphans            no orphans       no orphans
//	this one  otherwise       | go                    go               refused
//
// Where operators run, there may be two clusters of one infra ID, of which the other one is meant. Who
// names single volumes wants those that the cluster has forgotten.
func (f teardownFlags) named(o *teardown.Options, living *teardown.LivingCluster) ([]*teardown.Living, error) {
	all := []*teardown.Living{living.Others, living.Shown, living.Ours}
	if living.InfraID != f.infraID {
		if f.orphans {
			return nil, fmt.Errorf("--kubeconfig: it is of cluster %q, and --infra-id says %q", living.InfraID, f.infraID)
		}
		return all, nil
	}
	o.JournalNamespaces = append(o.JournalNamespaces, living.JournalNamespaces...)
	o.Ours = func(i teardown.Item) bool { return living.Ours.Names(i) != "" }
	o.Retained = func(i teardown.Item) bool { return living.Retained.Names(i) != "" }
	switch {
	case len(f.volumes) > 0 || f.forceLiving != "":
		return all, nil
	case f.orphans:
		return all[:2], nil
	}
	return all[:1], nil
}

func (f teardownFlags) namespaces() []string {
	out := append([]string{driver.DefaultJournalNamespace}, f.radosNamespaces...)
	if f.infraID != "" {
		out = append(out, f.infraID) // Where the operator makes users, it keeps a journal of its own.
	}
	return out
}

// writeList shows who uses the Ceph cluster.
func (f teardownFlags) writeList(ctx context.Context, conn *rados.Conn, out, progress io.Writer) error {
	o := teardown.Options{InfraID: teardown.Nobody, JournalNamespaces: f.namespaces(), Parallel: f.parallel}
	uses, err := teardown.List(ctx, conn, []teardown.Part{images.New(o, conn, clock.RealClock{}), newSubvolumes(o, conn, progress)}, time.Now())
	if err != nil {
		return err
	}
	return teardown.WriteList(out, uses, f.output == "json")
}

// compare refuses to remove by an infra ID that nobody is known by, unless the cluster itself has told it.
func (f teardownFlags) compare(ctx context.Context, conn *rados.Conn, o teardown.Options, progress io.Writer) error {
	pools, err := conn.Pools(ctx)
	if err != nil {
		return notRun(err)
	}
	err = teardown.Unclaimed(pools, f.infraID)
	if err != nil && !f.unclaimed && !f.dryRun && !f.orphans && o.Ours == nil {
		return exit{teardown.CodeRefused, err}
	}
	if err != nil {
		fmt.Fprintln(progress, err)
	}
	return nil
}

// limit reads the handles of --volume, which must be of this Ceph cluster.
func (f teardownFlags) limit(ctx context.Context, conn *rados.Conn, o *teardown.Options) error {
	if len(f.volumes) == 0 {
		return nil
	}
	fsid, err := conn.FSID(ctx)
	if err != nil {
		return err
	}
	for _, text := range f.volumes {
		handle, err := ceph.ParseVolumeHandle(text)
		if err != nil {
			return fmt.Errorf("--volume: %w", err)
		}
		if ceph.IsUUID(handle.ClusterID) && handle.ClusterID != fsid {
			return fmt.Errorf("--volume=%s: it is of Ceph cluster %s, and this one is %s", text, handle.ClusterID, fsid)
		}
		o.Volumes = append(o.Volumes, handle)
	}
	return nil
}

// parts are what is removed, in this order: users and protection once nothing needs them. Who names
// pools alone means no filesystem, and the other way round.
func (f teardownFlags) parts(o teardown.Options, conn *rados.Conn, progress io.Writer) []teardown.Part {
	var parts []teardown.Part
	if len(f.pools) > 0 || len(f.filesystems) == 0 {
		parts = append(parts, images.New(o, conn, clock.RealClock{}))
	}
	if len(f.filesystems) > 0 || len(f.pools) == 0 {
		parts = append(parts, newSubvolumes(o, conn, progress))
	}
	if f.orphans {
		return parts
	}
	var users []string
	for _, d := range driver.All {
		users = append(users, d.ProvisionerUser(f.infraID), d.NodeUser(f.infraID))
	}
	return append(parts, teardown.NewUsers(o, conn, users, f.keepUsers), teardown.NewProtections(o, conn, driver.Kinds()))
}

func newSubvolumes(o teardown.Options, conn *rados.Conn, progress io.Writer) teardown.Part {
	return subvolumes.New(subvolumes.Config{
		Options: o, Ceph: conn, Clock: clock.RealClock{},
		Tell: func(sentence string) { fmt.Fprintln(progress, sentence) },
		Manager: func(ctx context.Context) (subvolumes.Manager, error) {
			manager, err := conn.Manager(ctx)
			if err != nil {
				return nil, err
			}
			return manager, nil
		},
		Mount: func(ctx context.Context, filesystem string) (subvolumes.Mount, error) {
			mount, err := conn.Mount(ctx, filesystem)
			if err != nil {
				return nil, err
			}
			return mount, nil
		},
	})
}

// source is what --ceph-conf and --keyring say, or else the cluster's Secret.
func (f teardownFlags) source(ctx context.Context, read *check.Cluster) (ceph.Source, error) {
	data := map[string][]byte{}
	if read != nil && f.conf == "" && f.keyring == "" {
		secret, err := read.Kube.CoreV1().Secrets(driver.Namespace).Get(ctx, driver.CredentialsSecret, metav1.GetOptions{})
		if err != nil {
			return ceph.Source{}, fmt.Errorf("--kubeconfig: reading Secret %s in namespace %s: %w; give --ceph-conf and --keyring instead", driver.CredentialsSecret, driver.Namespace, err)
		}
		data = maps.Clone(secret.Data)
	} else {
		conf, keyring, err := f.files()
		if err != nil {
			return ceph.Source{}, err
		}
		data[ceph.EntryConf], data[ceph.EntryKeyring] = conf.Content, keyring.Content
	}
	if f.user != "" && data != nil {
		data[ceph.EntryUserID] = []byte(strings.TrimPrefix(f.user, "client."))
	}
	return ceph.ParseSource(ctx, data, resolve)
}
