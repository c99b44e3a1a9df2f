// Package clusterstorage is the glue, and wires `cluster-storage`: what cluster-storage-operator (CSO) does for a driver
// that it knows, on clusters whose CSO does not know Ceph. It starts the operators of both
// drivers where a Ceph cluster is declared, and reports on them in Storage/cluster under the
// names that CSO uses, so that a CSO that runs there aggregates them.
package clusterstorage

import (
	"context"
	"slices"
	"strings"

	"github.com/openshift/library-go/pkg/controller/controllercmd"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/controller/manager"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/management"
	"github.com/openshift/library-go/pkg/operator/resource/resourceapply"
	"github.com/openshift/library-go/pkg/operator/status"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Name of the Deployment, ServiceAccount and lease of `cluster-storage`.
const Name = "ceph-cluster-storage"

// Options are what the process is started with.
type Options struct {
	// Assets returns manifests by the paths that configs.Configs names.
	Assets resourceapply.AssetFunc
	// SharedRoles are the names of the ClusterRoles that CSO ships for the sidecars of all CSI drivers.
	SharedRoles []string
	// Getenv reads the environment; see Images.
	Getenv func(string) string
	// Images are what operands run, by the names of their environment variables.
	Images map[string]string
	// Version is reported in ClusterOperator storage when everything runs it.
	Version string
	// ReportClusterOperator has ClusterOperator storage written, where no CSO does.
	ReportClusterOperator bool
	// Kubernetes has the process stand in for what the operators expect of OpenShift.
	Kubernetes bool
	// InfraID is the cluster's where Kubernetes is set; empty: one is made up.
	InfraID string
}

// operator is one driver's operator as CSO sees it.
type operator struct {
	configs.CSIOperatorConfig
	driver driver.Driver
}

// starter has what the rows of the table are made of.
type starter struct {
	Options
	clients  *clients
	recorder events.Recorder
	versions status.VersionGetter
}

// Run looks after the operators until ctx ends.
func Run(ctx context.Context, cc *controllercmd.ControllerContext, o Options) error {
	// Process-wide in library-go: Removed is not supported for storage.
	management.SetOperatorNotRemovable()
	clients, err := newClients(cc)
	if err != nil {
		return err
	}
	s := starter{Options: o, clients: clients, recorder: cc.EventRecorder, versions: status.NewVersionGetter()}
	controllers, err := s.controllers()
	if err != nil {
		return err
	}
	m := manager.NewControllerManager()
	for _, c := range controllers {
		m.WithController(c, 1)
	}
	clients.start(ctx)
	m.Start(ctx)
	return nil
}

// operators are those of both drivers.
func (s starter) operators() []operator {
	var out []operator
	for _, config := range configs.Configs(configs.Cluster{Getenv: s.Getenv, Declared: s.clients.declared}) {
		if d, ours := driver.Named(config.CSIDriverName); ours {
			config.StaticAssets = slices.DeleteFunc(config.StaticAssets, installed)
			out = append(out, operator{config, d})
		}
	}
	return out
}

// installed says of a manifest that it is among those that `cluster-storage` is installed with: roles of
// which it could create none without holding, always and in all namespaces, what they allow at times or in some.
func installed(path string) bool { return strings.Contains(path, "/05_clusterrole_") }

// controllers is the table: what runs in one process.
func (s starter) controllers() ([]factory.Controller, error) {
	out := []factory.Controller{
		s.logLevel(),
		s.standDown(),
		s.ownConfig(),
		s.sharedRoles(),
		s.crdPatch(),
		s.ownState(),
	}
	for _, o := range s.operators() {
		deployment, err := s.deployment(o)
		if err != nil {
			return nil, err
		}
		out = append(out,
			s.staticResources(o),
			deployment,
			s.clusterCSIDriver(o),
			s.serviceMonitor(o),
		)
	}
	if s.Kubernetes {
		out = append(out, s.singletons(), s.servingCertificates())
	}
	if s.ReportClusterOperator {
		out = append(out,
			s.storage(),
			s.managementState(),
			s.clusterOperator(),
		)
	}
	return out, nil
}
