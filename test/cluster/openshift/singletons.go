package openshift

import (
	"context"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	"github.com/openshift/api/features"
	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const (
	// Version of the OpenShift that the cluster pretends to be.
	Version      = "4.23.0"
	majorVersion = 4

	// clusterID is the same in each copy; nothing distinguishes clusters by it.
	clusterID = "2f6a3d7e-5c1b-4b0e-9d3f-7a8c6e1b4d20"
)

// singleton is an object with the only name that its kind allows; the API server ignores its
// status at creation.
type singleton struct {
	kind   string
	create func(ctx context.Context) error
}

// createSingletons makes the objects that describe the cluster to its operators.
func (o *OpenShift) createSingletons(ctx context.Context) error {
	for _, s := range []singleton{
		{"Infrastructure", o.createInfrastructure},
		{"Proxy", o.createProxy},
		{"APIServer", o.createAPIServer},
		{"FeatureGate", o.createFeatureGate},
		{"ClusterVersion", o.createClusterVersion},
		{"Storage", o.createStorage},
		{"SecurityContextConstraints", o.createPrivileged},
	} {
		if err := s.create(ctx); err != nil {
			return fmt.Errorf("creating the %s: %w", s.kind, err)
		}
	}
	return nil
}

func (o *OpenShift) createInfrastructure(ctx context.Context) error {
	created, err := o.config.Infrastructures().Create(ctx, &configv1.Infrastructure{
		ObjectMeta: named("cluster"),
		Spec:       configv1.InfrastructureSpec{PlatformSpec: configv1.PlatformSpec{Type: o.look.Platform}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	created.Status = configv1.InfrastructureStatus{
		InfrastructureName: o.look.InfrastructureName,
		//lint:ignore SA1019 the deprecated member is set on every real cluster
		Platform:               o.look.Platform,
		PlatformStatus:         &configv1.PlatformStatus{Type: o.look.Platform},
		APIServerURL:           o.look.APIServer,
		APIServerInternalURL:   o.look.APIServer,
		ControlPlaneTopology:   o.look.Topology,
		InfrastructureTopology: infrastructureTopology(o.look.Topology),
		CPUPartitioning:        configv1.CPUPartitioningNone,
	}
	_, err = o.config.Infrastructures().UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}

// infrastructureTopology describes the worker nodes, which are always where the control plane says
// nothing about them.
func infrastructureTopology(controlPlane configv1.TopologyMode) configv1.TopologyMode {
	if controlPlane == configv1.SingleReplicaTopologyMode {
		return configv1.SingleReplicaTopologyMode
	}
	return configv1.HighlyAvailableTopologyMode
}

func (o *OpenShift) createProxy(ctx context.Context) error {
	_, err := o.config.Proxies().Create(ctx, &configv1.Proxy{ObjectMeta: named("cluster")}, metav1.CreateOptions{})
	return err
}

func (o *OpenShift) createAPIServer(ctx context.Context) error {
	_, err := o.config.APIServers().Create(ctx, &configv1.APIServer{ObjectMeta: named("cluster")}, metav1.CreateOptions{})
	return err
}

func (o *OpenShift) createFeatureGate(ctx context.Context) error {
	created, err := o.config.FeatureGates().Create(ctx, &configv1.FeatureGate{ObjectMeta: named("cluster")}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	gates := features.FeatureSets(majorVersion, features.SelfManaged, configv1.Default)
	created.Status.FeatureGates = []configv1.FeatureGateDetails{{
		Version:  Version,
		Enabled:  attributes(gates.Enabled),
		Disabled: attributes(gates.Disabled),
	}}
	_, err = o.config.FeatureGates().UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}

func attributes(descriptions []features.FeatureGateDescription) []configv1.FeatureGateAttributes {
	all := []configv1.FeatureGateAttributes{}
	for _, d := range descriptions {
		all = append(all, d.FeatureGateAttributes)
	}
	return all
}

func (o *OpenShift) createClusterVersion(ctx context.Context) error {
	created, err := o.config.ClusterVersions().Create(ctx, &configv1.ClusterVersion{
		ObjectMeta: named("version"),
		Spec:       configv1.ClusterVersionSpec{ClusterID: clusterID},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	image := "registry.example.com/release:" + Version
	now := metav1.Now()
	created.Status = configv1.ClusterVersionStatus{
		Desired:     configv1.Release{Version: Version, Image: image},
		VersionHash: "embedded",
		History: []configv1.UpdateHistory{{
			State: configv1.CompletedUpdate, Version: Version, Image: image, StartedTime: now, CompletionTime: ptr.To(now),
		}},
		// The schema refuses null.
		AvailableUpdates: []configv1.Release{},
	}
	_, err = o.config.ClusterVersions().UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}

func (o *OpenShift) createStorage(ctx context.Context) error {
	_, err := o.operator.Storages().Create(ctx, &operatorv1.Storage{
		ObjectMeta: named("cluster"),
		Spec: operatorv1.StorageSpec{OperatorSpec: operatorv1.OperatorSpec{
			ManagementState: operatorv1.Managed, LogLevel: operatorv1.Normal, OperatorLogLevel: operatorv1.Normal,
		}},
	}, metav1.CreateOptions{})
	return err
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
