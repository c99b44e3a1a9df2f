// Package operator wires `start`: one process that operates one CSI driver. starter.go is
// the table of its controllers; what each promises stands in the package it comes from.
package operator

import (
	"context"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/controllercmd"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/controller/manager"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/management"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/connection"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/credentials"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/gate"
	"github.com/openshift/ceph-csi-driver-operator/pkg/monitors"
	"github.com/openshift/ceph-csi-driver-operator/pkg/nodes"
	"github.com/openshift/ceph-csi-driver-operator/pkg/pools"
	"github.com/openshift/ceph-csi-driver-operator/pkg/proof"
	"github.com/openshift/ceph-csi-driver-operator/pkg/tags"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

// Options are what a process is started with.
type Options struct {
	Driver driver.Driver
	Assets assets.Set
	// Dial connects to Ceph, Resolve looks up mons that are declared by name.
	Dial    Dial
	Resolve ceph.Resolver
	// Host is the name of where the process runs.
	Host string
	// Version of the operator.
	Version string
}

// starter has what the rows of the table are made of.
type starter struct {
	driver   driver.Driver
	assets   assets.Set
	dial     Dial
	resolve  ceph.Resolver
	host     string
	version  string
	clients  *clients
	recorder events.Recorder

	// What the features hand to each other.
	cluster    *ctrl.Latest[ceph.Cluster]
	clusters   *ctrl.Latest[[]ceph.Cluster]
	placement  *ctrl.Latest[ceph.Placement]
	granted    *ctrl.Latest[ceph.Placement]
	filesystem *ctrl.Latest[bool]
	// minted says whether the driver works with users that the operator has made.
	minted *ctrl.Latest[bool]
	gate   *ctrl.Latest[gate.State]
	usage  *ctrl.Latest[usage.Usage]
	// used are the pools in use, by fsid.
	used *ctrl.Latest[map[string][]string]
	// classProblems is what keeps StorageClasses from working, in sentences.
	classProblems *ctrl.Latest[[]string]
	// heldClass is the storageClassState that the default StorageClass cannot follow.
	heldClass *ctrl.Latest[operatorv1.StorageClassStateName]
	reports   reports
	// proof is asked before something is withdrawn.
	proof *proof.Keeper
	// contents are the driver's VolumeSnapshotContents.
	contents *usage.Contents
	kernels  *kernels
	// machines is what virtualization platforms bring.
	machines *virtualization.Watches
	// unserved looks for nodes that miss a pod.
	unserved *nodes.Look
}

// reports are what the features tell about themselves.
type reports struct {
	connections *ctrl.Latest[[]connection.Report]
	users       *ctrl.Latest[credentials.Users]
	pools       *ctrl.Latest[pools.Report]
	capacities  *ctrl.Latest[pools.Capacities]
	monSync     *ctrl.Latest[monitors.Sync]
	writtenMons *ctrl.Latest[monitors.Written]
	tags        *ctrl.Latest[tags.Report]
	machines    *ctrl.Latest[virtualization.Machines]
	nodes       *ctrl.Latest[nodes.Report]
}

// Run operates the driver until ctx ends.
func Run(ctx context.Context, cc *controllercmd.ControllerContext, o Options) error {
	// Process-wide in library-go: without it, controllers put finalizers on the ClusterCSIDriver.
	management.SetOperatorNotRemovable()
	clients, err := newClients(cc, o.Driver)
	if err != nil {
		return err
	}
	kernels, err := newKernels(clients.kube)
	if err != nil {
		return err
	}
	s := starter{
		driver: o.Driver, assets: o.Assets, dial: o.Dial, resolve: o.Resolve, host: o.Host, version: o.Version, clients: clients, recorder: cc.EventRecorder,
		cluster:       &ctrl.Latest[ceph.Cluster]{},
		clusters:      &ctrl.Latest[[]ceph.Cluster]{},
		placement:     &ctrl.Latest[ceph.Placement]{},
		granted:       &ctrl.Latest[ceph.Placement]{},
		filesystem:    &ctrl.Latest[bool]{},
		minted:        &ctrl.Latest[bool]{},
		gate:          &ctrl.Latest[gate.State]{},
		usage:         &ctrl.Latest[usage.Usage]{},
		used:          &ctrl.Latest[map[string][]string]{},
		classProblems: &ctrl.Latest[[]string]{},
		heldClass:     &ctrl.Latest[operatorv1.StorageClassStateName]{},
		contents:      usage.NewContents(clients.dynamic, o.Driver),
		kernels:       kernels,
		machines:      virtualization.NewWatches(),
		unserved:      nodes.NewLook(clients.kube, cc.Clock, nodes.Registrations{Driver: o.Driver, CSINodes: clients.csiNodes.Storage().V1().CSINodes().Lister()}.Has),
		reports: reports{
			connections: &ctrl.Latest[[]connection.Report]{},
			users:       &ctrl.Latest[credentials.Users]{},
			pools:       &ctrl.Latest[pools.Report]{},
			capacities:  &ctrl.Latest[pools.Capacities]{},
			monSync:     &ctrl.Latest[monitors.Sync]{},
			writtenMons: &ctrl.Latest[monitors.Written]{},
			tags:        &ctrl.Latest[tags.Report]{},
			machines:    &ctrl.Latest[virtualization.Machines]{},
			nodes:       &ctrl.Latest[nodes.Report]{},
		},
	}
	s.proof = s.newProof()
	m := manager.NewControllerManager()
	controllers, err := s.controllers()
	if err != nil {
		return err
	}
	for _, c := range controllers {
		m.WithController(c, 1)
	}
	clients.start(ctx)
	go kernels.run(ctx)
	m.Start(ctx)
	return nil
}

// controllers is the table: what runs in one process. Order does not matter; who waits for
// what is decided by what exists.
func (s starter) controllers() ([]factory.Controller, error) {
	connection := s.connection()
	snapshotClasses, err := s.snapshotClasses()
	if err != nil {
		return nil, err
	}
	forMachines, err := s.forMachines()
	if err != nil {
		return nil, err
	}
	staticResources, err := s.staticResources()
	if err != nil {
		return nil, err
	}
	dashboard, err := s.dashboard()
	if err != nil {
		return nil, err
	}
	removal, err := s.removal()
	if err != nil {
		return nil, err
	}
	return append([]factory.Controller{
		s.logLevel(),
		s.managementState(),
		s.configObserver(),
		s.conditionsController(),

		s.settingsController(),
		s.infraIDController(),
		s.gateController(),
		removal,
		s.usageController(),
		s.proof.Controller(s.recorder),
		connection,
		s.monitors(),
		s.elsewhere(),
		s.credentials(connection.Client),
		s.pools(connection.Client),
		s.statusController(),
		s.poolsInUse(connection.Client),
		s.presence(connection.Client),
		s.tags(connection.Client),

		staticResources,
		s.controllerDeployment(),
		s.nodeDaemonSet(),
		s.nodes(),
		s.serviceMonitor(),
		dashboard,
		s.storageClass(),
		s.usableClasses(),
		snapshotClasses,
	}, forMachines...), nil
}

// forMachines are the rows for platforms of virtual machines.
func (s starter) forMachines() ([]factory.Controller, error) {
	class, err := s.virtualizationClass()
	if err != nil {
		return nil, err
	}
	return []factory.Controller{
		s.virtualizationGate(),
		s.storageProfiles(),
		class,
		s.harvesterSettings(),
		s.harvesterClasses(),
		s.virtualMachines(),
		s.imageProtection(),
		s.kernelModules(),
	}, nil
}
