package node

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/controlplane"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/openshift"
)

// readyTimeout is far above what a busy machine needs.
const readyTimeout = 3 * time.Minute

// Join starts all nodes with the cluster's credentials and returns when they are ready. labels are what a
// node's installer gives it.
func (n *Nodes) Join(ctx context.Context, c *controlplane.ControlPlane, client kubernetes.Interface, labels func(i int) map[string]string) error {
	if err := n.createDNS(ctx, client); err != nil {
		return fmt.Errorf("DNS of the cluster: %w", err)
	}
	var names []string
	for _, member := range n.Members() {
		names = append(names, member.Name)
		files, err := c.NodeFiles(member.Name, member.Address)
		if err != nil {
			return err
		}
		n.credentials[member.Name] = wire.Credentials{
			ClientCA: files.ClientCA, ServingCert: files.ServingCert, ServingKey: files.ServingKey,
			Kubelet: files.Kubelet, KubeProxy: files.KubeProxy, DNS: files.DNS,
			ClusterDNS: ClusterDNS, ClusterDomain: clusterDomain,
		}
	}
	if err := n.Boot(ctx, names...); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for i, member := range n.Members() {
		group.Go(func() error { return WaitReady(ctx, client, member.Name, labels(i)) })
	}
	return group.Wait()
}

// WaitReady gives a node that registers its labels and returns when pods can run there.
func WaitReady(ctx context.Context, client kubernetes.Interface, name string, labels map[string]string) error {
	if labels == nil {
		labels = map[string]string{} // null would remove the kubelet's.
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, readyTimeout, true, func(ctx context.Context) (bool, error) {
		node, err := client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			last = err
			return false, nil
		}
		last = fmt.Errorf("conditions %v", node.Status.Conditions)
		return openshift.Ready(*node), nil
	})
	if err != nil {
		return fmt.Errorf("%s is not ready: %w: %w", name, err, last)
	}
	return nil
}

// createDNS makes the Service of the nodes' DNS servers, each of which serves all pods.
func (n *Nodes) createDNS(ctx context.Context, client kubernetes.Interface) error {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "kube-dns", Namespace: metav1.NamespaceSystem},
		Spec: corev1.ServiceSpec{ClusterIP: ClusterDNS, Ports: []corev1.ServicePort{
			{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP}, {Name: "dns-tcp", Port: 53, Protocol: corev1.ProtocolTCP},
		}},
	}
	if _, err := client.CoreV1().Services(service.Namespace).Create(ctx, service, metav1.CreateOptions{}); err != nil {
		return err
	}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: "kube-dns", Namespace: service.Namespace, Labels: map[string]string{discoveryv1.LabelServiceName: service.Name}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports: []discoveryv1.EndpointPort{
			{Name: ptr.To("dns"), Port: ptr.To[int32](53), Protocol: ptr.To(corev1.ProtocolUDP)},
			{Name: ptr.To("dns-tcp"), Port: ptr.To[int32](53), Protocol: ptr.To(corev1.ProtocolTCP)},
		},
	}
	for _, member := range n.Members() {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{member.Address}, NodeName: ptr.To(member.Name), Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)}})
	}
	_, err := client.DiscoveryV1().EndpointSlices(service.Namespace).Create(ctx, slice, metav1.CreateOptions{})
	return err
}
