package clusterstorage

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/infraid"
)

// infraIDForm is what an infra ID may be: it becomes part of names of pools and of Ceph users.
// OpenShift's installer makes none that is longer.
var infraIDForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,25}[a-z0-9])?$`)

// CheckInfraID says what is wrong with an infra ID that somebody chose; empty is none, and right.
func CheckInfraID(id string) error {
	if id != "" && !infraIDForm.MatchString(id) {
		return fmt.Errorf("infra ID %q: must be up to 27 lower case letters, digits and dashes, and start and end with a letter or digit", id)
	}
	return infraid.Check(id)
}

// singletons makes, on clusters without OpenShift, what its installer does and the operators
// read: Infrastructure, Proxy and APIServer, where they are missing; and Storage last, without
// which nothing else is done.
//
// It produces the condition CephInfrastructureDegraded.
func (s starter) singletons() factory.Controller {
	config := s.clients.configInformers.Config().V1()
	return s.controller(controller{
		name: strings.TrimSuffix(condition.InfrastructureDegraded, operatorv1.OperatorStatusTypeDegraded), always: true,
		informers: []factory.Informer{config.Infrastructures().Informer(), config.Proxies().Informer(), config.APIServers().Informer()},
		sync:      func(ctx context.Context, _ factory.SyncContext) error { return s.ensureSingletons(ctx) },
	})
}

// ensureSingletons makes them all also where the infra ID is not what it should be: the condition
// that says so is Storage's.
func (s starter) ensureSingletons(ctx context.Context) error {
	if s.clients.storageObject() != nil && !s.managed() {
		return nil
	}
	wrong, err := s.infrastructure(ctx)
	if err != nil {
		return err
	}
	if err := s.ensureProxy(ctx); err != nil {
		return err
	}
	if err := s.ensureAPIServer(ctx); err != nil {
		return err
	}
	if err := s.ensureStorage(ctx); err != nil {
		return err
	}
	return wrong
}

func (s starter) ensureProxy(ctx context.Context) error {
	_, err := s.clients.configInformers.Config().V1().Proxies().Lister().Get(instance)
	if !apierrors.IsNotFound(err) {
		return err
	}
	_, err = s.clients.config.ConfigV1().Proxies().Create(ctx, &configv1.Proxy{ObjectMeta: ownInstance()}, metav1.CreateOptions{})
	return created("Proxy", err)
}

func (s starter) ensureAPIServer(ctx context.Context) error {
	_, err := s.clients.configInformers.Config().V1().APIServers().Lister().Get(instance)
	if !apierrors.IsNotFound(err) {
		return err
	}
	_, err = s.clients.config.ConfigV1().APIServers().Create(ctx, &configv1.APIServer{ObjectMeta: ownInstance()}, metav1.CreateOptions{})
	return created("APIServer", err)
}

func ownInstance() metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: instance, Labels: map[string]string{driver.ManagedByLabel: Name}}
}

func created(kind string, err error) error {
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating %s/%s: %w", kind, instance, err)
	}
	return nil
}

// infrastructure keeps Infrastructure/cluster, unless it is somebody else's, and returns what an
// administrator has to mend.
func (s starter) infrastructure(ctx context.Context) (wrong, err error) {
	client := s.clients.config.ConfigV1().Infrastructures()
	current, err := s.clients.configInformers.Config().V1().Infrastructures().Lister().Get(instance)
	if apierrors.IsNotFound(err) {
		current, err = client.Create(ctx, &configv1.Infrastructure{
			ObjectMeta: ownInstance(), Spec: configv1.InfrastructureSpec{PlatformSpec: configv1.PlatformSpec{Type: configv1.NonePlatformType}},
		}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil, nil // The informer tells of it.
		}
	}
	if err != nil {
		return nil, fmt.Errorf("keeping Infrastructure/%s: %w", instance, err)
	}
	if current.Labels[driver.ManagedByLabel] != Name {
		return nil, nil
	}
	seen, err := s.cluster(ctx, current.Status.InfrastructureName == "")
	if err != nil {
		return nil, err
	}
	wanted, wrong := describe(current.Status, s.InfraID, seen)
	if wanted.InfrastructureName == current.Status.InfrastructureName && wanted.InfrastructureTopology == current.Status.InfrastructureTopology &&
		wanted.ControlPlaneTopology == current.Status.ControlPlaneTopology {
		return wrong, nil
	}
	updated := current.DeepCopy()
	updated.Status = wanted
	if _, err := client.UpdateStatus(ctx, updated, metav1.UpdateOptions{}); err != nil {
		return nil, fmt.Errorf("writing the status of Infrastructure/%s: %w", instance, err)
	}
	return wrong, nil
}

// seen is what Infrastructure tells of a cluster.
type seen struct {
	// uid of the namespace kube-system; empty where nobody asks for it.
	uid string
	// several: there is more than one node.
	several bool
}

func (s starter) cluster(ctx context.Context, named bool) (seen, error) {
	// One more than is asked for.
	nodes, err := s.clients.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: 2})
	if err != nil {
		return seen{}, fmt.Errorf("counting nodes: %w", err)
	}
	out := seen{several: len(nodes.Items) > 1}
	if !named {
		return out, nil
	}
	namespace, err := s.clients.kube.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return out, fmt.Errorf("reading the UID of namespace %s, which gives this cluster its infra ID: %w", metav1.NamespaceSystem, err)
	}
	out.uid = string(namespace.UID)
	return out, nil
}

// infraIDDigits of a UID, all of them random, keep clusters apart that share a Ceph cluster.
const infraIDDigits = 12

// describe is the status that Infrastructure is to have:
//
//	infra ID       has one          stays: volumes are tagged with it; another wish is an error
//	               has none, wish   the wish
//	               has none         kubernetes-<first digits of the UID of kube-system>
//	control plane  External         pods go to any node: the labels of a control plane differ
//	nodes          one, several     SingleReplica, HighlyAvailable
func describe(current configv1.InfrastructureStatus, wish string, s seen) (configv1.InfrastructureStatus, error) {
	out := *current.DeepCopy()
	var wrong error
	switch {
	case out.InfrastructureName == "" && wish != "":
		out.InfrastructureName = wish
	case out.InfrastructureName == "":
		digits := strings.ReplaceAll(s.uid, "-", "")
		out.InfrastructureName = "kubernetes-" + digits[:min(len(digits), infraIDDigits)]
	case wish != "" && wish != out.InfrastructureName:
		wrong = fmt.Errorf("--infra-id is %s, but this cluster is %s (status.infrastructureName of Infrastructure/%s) and stays so, because its volumes in Ceph carry that; change the flag of Deployment %s back",
			wish, out.InfrastructureName, instance, Name)
	}
	//lint:ignore SA1019 the deprecated member is set on every real cluster
	out.Platform = configv1.NonePlatformType
	out.PlatformStatus = &configv1.PlatformStatus{Type: configv1.NonePlatformType}
	out.ControlPlaneTopology = configv1.ExternalTopologyMode
	out.InfrastructureTopology = configv1.SingleReplicaTopologyMode
	if s.several {
		out.InfrastructureTopology = configv1.HighlyAvailableTopologyMode
	}
	out.CPUPartitioning = configv1.CPUPartitioningNone
	return out, wrong
}
