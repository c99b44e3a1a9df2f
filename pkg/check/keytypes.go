package check

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// allowBoth lets a Ceph cluster have both types of keys, and make the older ones.
var allowBoth = []string{
	fmt.Sprintf("ceph mon set auth_allowed_ciphers %s,%s", ceph.AES, ceph.AES256),
	"ceph config set mon mon_auth_allow_insecure_key true",
}

// gatherKernels asks which kernel the nodes run, by their names.
func (c *clusterFacts) gatherKernels(ctx context.Context, config Config) {
	c.kernels = ask(ctx, config.CallTimeout, func(ctx context.Context) (map[string]string, error) {
		list, err := config.Cluster.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		kernels := map[string]string{}
		for _, node := range list.Items {
			kernels[node.Name] = node.Status.NodeInfo.KernelVersion
		}
		return kernels, nil
	})
}

// keyTypes tells what keys the drivers' users will have, and what that asks of nodes and driver.
func keyTypes(config Config, f facts) []Line {
	const name = "key types"
	if err := f.monMap.err; err != nil {
		return []Line{unanswered(name, err)}
	}
	keys := f.monMap.value.Keys
	var lines []Line
	for _, d := range config.Drivers {
		settings, _ := f.cluster.settings(d)
		if wish := settings.KeyType; wish != "" && !keys.Allows(wish) {
			lines = append(lines, wrong(name, fmt.Sprintf("ceph.keyType of %s is %s, which the Ceph cluster does not allow", d.Name, wish),
				"oc edit clustercsidriver "+d.Name))
		}
	}
	if len(lines) > 0 {
		return lines
	}
	if len(keys.Allowed) == 0 {
		return []Line{right(name, "%s, the only type that this Ceph knows", ceph.AES)}
	}
	strong := !keys.Allows(ceph.AES)
	for _, d := range config.Drivers {
		settings, _ := f.cluster.settings(d)
		strong = strong || settings.KeyType == ceph.AES256
	}
	if !strong {
		return []Line{right(name, "%s, which all nodes and drivers know; Ceph also allows keys of other types", ceph.AES)}
	}
	asks := fmt.Sprintf("keys are of type %s, which only Linux %d or a kernel with its backport knows, and %s or newer", ceph.AES256, driver.StrongKernel, driver.StrongReleases)
	if old := driver.WeakKernels(f.cluster.kernels.value); len(old) > 0 {
		asks += "; older is the kernel of " + strings.Join(old, ", ")
	} else if f.cluster.kernels.known() {
		return []Line{right(name, "%s: all nodes' are", asks)}
	}
	return []Line{note(name, asks, allowBoth...)}
}
