// Package operator wires `start`: one process that operates one CSI driver. starter.go has all of its
// controllers; what each promises stands in the package it comes from.
package operator

import (
	"context"
	"errors"

	"github.com/openshift/library-go/pkg/controller/controllercmd"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/controller/manager"
	"github.com/openshift/library-go/pkg/operator/management"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/classes"
	"github.com/openshift/ceph-csi-driver-operator/pkg/connection"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/credentials"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/gate"
	"github.com/openshift/ceph-csi-driver-operator/pkg/monitors"
	"github.com/openshift/ceph-csi-driver-operator/pkg/nodes"
	"github.com/openshift/ceph-csi-driver-operator/pkg/pools"
	"github.com/openshift/ceph-csi-driver-operator/pkg/presence"
	"github.com/openshift/ceph-csi-driver-operator/pkg/proof"
	"github.com/openshift/ceph-csi-driver-operator/pkg/removal"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
	"github.com/openshift/ceph-csi-driver-operator/pkg/status"
	"github.com/openshift/ceph-csi-driver-operator/pkg/tags"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

// Options are what a process is started with.
type Options struct {
	Driver driver.Driver
	Assets assets.Set
	// Dial connects to Ceph, Resolve looks up mons that are declared by name.
	Dial    func(ctx context.Context, source ceph.Source) (Session, error)
	Resolve ceph.Resolver
	// Host is the name of where the process runs.
	Host string
	// Version of the operator.
	Version string
}

// Session is a live connection to a Ceph cluster, as the features use it.
type Session interface {
	connection.Session
	pools.Cluster
	credentials.Ceph
	driver.TagStore
	presence.Cluster
}

// Run operates the driver until ctx ends.
func Run(ctx context.Context, cc *controllercmd.ControllerContext, o Options) error {
	// Process-wide in library-go: without it, controllers put finalizers on the ClusterCSIDriver.
	management.SetOperatorNotRemovable()
	c, err := newClients(cc, o.Driver)
	if err != nil {
		return err
	}
	controllers, err := controllers(c, o)
	if err != nil {
		return err
	}
	m := manager.NewControllerManager()
	for _, controller := range controllers {
		m.WithController(controller, 1)
	}
	c.start(ctx)
	m.Start(ctx)
	return nil
}

// controllers are all that run in one process, in the order in which data flows: each reads what those above it
// publish. Who waits for what is decided by what exists.
func controllers(c *clients, o Options) ([]factory.Controller, error) {
	// Two controllers read what one below them publishes: whether Ceph has a filesystem, and whether the driver has users
	// that were made for it.
	filesystem, minted := &ctrl.Latest[bool]{}, &ctrl.Latest[bool]{}
	env, entries := c.Env, monitors.Entries(c.Env)
	// What is used of Ceph, and whether the driver is to be deployed.
	inUse := usage.New(usage.Config{Env: env, ConfigJSON: entries})
	proven := proof.New(proof.Looks(env, entries))
	platforms := virtualization.Config{Env: env, Watches: virtualization.NewWatches(), Rights: c.rights()}
	removed, errRemoved := c.removing(o.Assets, inUse.Contents, platforms)
	deployed := gate.New(gate.Config{Env: env, Removed: removed.Removed, Removal: c.removal, Filesystem: filesystem, OperandConditions: silentWhileClosed(o.Driver)})
	open, gated := deployed.Open, []factory.Informer{&deployed.State}
	// Ceph, what pods need of it, and what is kept there.
	conn := connection.New(connection.Config[Session]{Env: env, Dial: o.Dial, Resolve: o.Resolve, Wanted: deployed.Wanted})
	live := sessions{conn.Client}
	place := pools.New(pools.Config{
		Env: env, Client: live.pools, Cluster: &conn.Cluster, Minted: minted, Filesystem: filesystem, Record: state.Placements(c.record()),
		ConfigJSON: monitors.LiveEntries(env), Held: holds(removal.Holders{Env: env, Snapshots: inUse.Contents.Count}), Open: open, Closed: deployed.Closed, Triggers: gated,
	})
	mons := monitors.New(monitors.Config{Env: env, Cluster: &conn.Cluster, Clusters: &conn.Clusters, Placement: &place.Placement})
	users := credentials.New(credentials.Config{
		Env: env, Live: live.credentials, Dial: o.dialOwn, Cluster: &conn.Cluster, Usage: &inUse.Usage, Proof: proven, Placement: &place.Placement,
		Minted: minted, Memory: state.Users(c.record()), Image: driverImage(o.Assets), Kernels: c.kernels.All, Open: open,
		Triggers: []factory.Informer{&deployed.State, c.kernels},
	})
	care := pools.NewCare(pools.CareConfig{Env: env, Client: live.inUse, Clusters: &conn.Clusters, Usage: &inUse.Usage,
		Unknown: inUse.Contents.Problem, Proof: proven, Placement: &place.Placement, Open: open, Minted: minted, Triggers: gated})
	tagged := tags.New(tags.Config{Env: env, Client: live.tags, Clusters: &conn.Clusters, ClusterIDs: entries, Contents: inUse.Contents, Attachments: c.attachments.Storage().V1().VolumeAttachments(),
		Ours: open, Triggers: []factory.Informer{&deployed.State, &inUse.Usage}})
	// What users and platforms for virtual machines see.
	class := &classes.StorageClass{Env: env, Manifest: o.Assets.StorageClass(), Placement: &users.Granted, InUse: platforms.Watches.InUse,
		State: env.StorageClassState, Record: state.Classes(c.record())}
	usable := classes.NewUsable(classes.UsableConfig{StorageClass: class, Open: open, Problems: &care.Problems, Cluster: &conn.Cluster, Clusters: &conn.Clusters, Triggers: gated})
	snapshots, errSnapshots := classes.NewSnapshots(classes.SnapshotsConfig{
		Env: env, Manifests: snapshotManifests(o.Driver, o.Assets), Placement: &users.Granted, Cluster: &conn.Cluster, Open: deployed.Offers, Triggers: gated,
		GroupSnapshots: groupSnapshotsTaken(o.Driver, o.Assets, env.Served), Record: state.SnapshotClasses(c.record()), GroupRecord: state.GroupSnapshotClasses(c.record()),
	})
	machines := virtualization.NewMachines(virtualization.MachinesConfig{Config: platforms, Held: &class.Held})
	machinesClass, errClass := virtualization.NewClass(virtualization.ClassConfig{
		Config: platforms, Manifest: o.Assets.Manifest(assets.VirtualizationClass), State: env.StorageClassState, Open: deployed.Offers,
		Record: state.VirtualizationClasses(c.record()), Triggers: gated,
	})
	served := nodes.New(nodes.Config{Env: env, CSINodes: c.csiNodes.Storage().V1().CSINodes()})
	op := operands{clients: c, assets: o.Assets, version: o.Version, gate: deployed}
	return []factory.Controller{
		op.logLevel(), op.managementState(), op.configObserver(), c.conditions.controller(env), c.settingsController(), state.NewAnew(env), inUse, proven, removed, deployed,
		conn, c.infraIDController(&conn.Cluster), place, mons, monitors.NewElsewhere(monitors.ElsewhereConfig{Env: env, Clusters: &conn.Clusters}),
		users, care, presence.New(presence.Config{Env: env, Client: live.presence, Clusters: &conn.Clusters, Used: &care.Used, Host: o.Host}), tagged,
		op.staticResources(), op.controllerDeployment(), op.nodeDaemonSet(served), served, op.serviceMonitor(), op.dashboard(),
		op.storageClass(class, platforms.Watches), usable, snapshots, machinesClass, machines,
		virtualization.NewGate(virtualization.GateConfig{Config: platforms, Open: open, Closed: deployed.Closed, Triggers: gated}),
		virtualization.NewProfiles(platforms), virtualization.NewSettings(platforms), virtualization.NewAnnotations(platforms),
		virtualization.NewImageProtection(platforms), virtualization.NewKernelModules(platforms),
		c.status(status.Sources{
			Clusters: &conn.Clusters, Connections: &conn.Reports, Users: &users.Report, Pools: &care.Report, Capacities: &care.Capacities,
			MonSync: &mons.Took, WrittenMons: &mons.Written, Tags: &tagged.Report, Machines: &machines.Matrix, Nodes: &served.Report,
			Usage: &inUse.Usage, Placement: &users.Granted,
		}),
	}, errors.Join(errRemoved, errSnapshots, errClass)
}
