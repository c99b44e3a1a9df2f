package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/cephcsi/access"
)

// apiTimeout bounds the question for the node.
const apiTimeout = 30 * time.Second

func onKubernetes() bool { return os.Getenv("KUBERNETES_SERVICE_HOST") != "" }

func apiServer() (*kubernetes.Clientset, error) {
	config, err := rest.InClusterConfig()
	if err != nil {
		return nil, fmt.Errorf("failed to get cluster config with error: %w", err)
	}
	return kubernetes.NewForConfig(config)
}

// secret reads one as the ServiceAccount of the pod.
func secret(ctx context.Context, s access.Secret) (map[string]string, error) {
	client, err := apiServer()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	found, err := client.CoreV1().Secrets(s.Namespace).Get(ctx, s.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for key, value := range found.Data {
		out[key] = string(value)
	}
	return out, nil
}

// nodeTopology reads the node, as ceph-csi's node plugin does in every cluster: without the right
// to, it does not start. The labels become topology only where flags name them.
func nodeTopology(o options) (map[string]string, error) {
	if !o.node || !onKubernetes() {
		return nil, nil
	}
	client, err := apiServer()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), apiTimeout)
	defer cancel()
	node, err := client.CoreV1().Nodes().Get(ctx, o.NodeID, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("failed to get node %q information: %w", o.NodeID, err)
	}
	if o.domainLabels == "" {
		return nil, nil
	}
	out := map[string]string{}
	for _, label := range strings.Split(o.domainLabels, ",") {
		value, found := node.Labels[label]
		if !found {
			return nil, fmt.Errorf("missing domain labels [%s] on node %q", label, o.NodeID)
		}
		out["topology."+o.DriverName+"/"+label[strings.LastIndex(label, "/")+1:]] = value
	}
	return out, nil
}
