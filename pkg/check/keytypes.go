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

// deployDriver has the manifests name another ceph-csi; README says what the variables are.
const deployDriver = "make release VERSION=$VERSION IMAGE=$IMAGE CEPH_CSI_IMAGE=quay.io/cephcsi/cephcsi:v3.18.0"

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

// gatherImages asks which image of ceph-csi the drivers' pods on the nodes have, by the drivers' names; it
// is empty where a driver is not deployed.
func (c *clusterFacts) gatherImages(ctx context.Context, config Config) {
	c.images = ask(ctx, config.CallTimeout, func(ctx context.Context) (map[string]string, error) {
		images := map[string]string{}
		for _, d := range config.Drivers {
			daemonSet, err := orNone(config.Cluster.Kube.AppsV1().DaemonSets(driver.Namespace).Get(ctx, d.NodeName(), metav1.GetOptions{}))
			if err != nil {
				return nil, err
			}
			if daemonSet != nil {
				images[d.Name] = driver.ImageIn(daemonSet.Spec.Template.Spec)
			}
		}
		return images, nil
	})
}

// keyTypes tells what keys the drivers' users will have, and what that asks of nodes and drivers.
func keyTypes(config Config, f facts) []Line {
	const name = "key types"
	if err := f.monMap.err; err != nil {
		return []Line{unanswered(name, err)}
	}
	keys := f.monMap.value.Keys
	var lines []Line
	var strong []driver.Driver
	for _, d := range config.Drivers {
		settings, _ := f.cluster.settings(d)
		if wish := settings.KeyType; wish != "" && !keys.Allows(wish) {
			lines = append(lines, wrong(name, fmt.Sprintf("ceph.keyType of %s is %s, which the Ceph cluster does not allow", d.Name, wish),
				"oc edit clustercsidriver "+d.Name))
		}
		if f.keyType(settings) == ceph.AES256 {
			strong = append(strong, d)
		}
	}
	switch {
	case len(lines) > 0:
		return lines
	case len(keys.Allowed) == 0:
		return []Line{right(name, "%s, the only type that this Ceph knows", ceph.AES)}
	case len(strong) == 0:
		return []Line{right(name, "%s, which all nodes and drivers know; Ceph also allows keys of other types", ceph.AES)}
	}
	return []Line{strongKeys(name, strong, f)}
}

// keyType is that of the users of a driver with these settings.
func (f facts) keyType(settings driver.Settings) ceph.KeyType {
	keys := f.monMap.value.Keys
	switch {
	case settings.Credentials == driver.CredentialsPassthrough:
		return f.user.value.Key.Type()
	case settings.KeyType == ceph.AES256, !keys.Allows(ceph.AES):
		return ceph.AES256
	}
	return ceph.AES
}

// strongKeys says whether nodes and drivers know the drivers' keys. A driver that does not gets no users;
// an older kernel may have a backport.
//
//	drivers       kernels       | line
//	one is older  any           | wrong
//	not known     any           | note
//	new           not all newer | note
//	new           newer         | right
func strongKeys(name string, drivers []driver.Driver, f facts) Line {
	kernels, images := f.cluster.kernels, f.cluster.images
	asks := fmt.Sprintf("keys are of type %s, which only Linux %d or a kernel with its backport knows, and %s or newer", ceph.AES256, driver.StrongKernel, driver.StrongReleases)
	weak := driver.WeakKernels(kernels.value)
	if len(weak) > 0 {
		asks += "; older is the kernel of " + strings.Join(weak, ", ")
	}
	weaken := allowBoth
	if f.monMap.value.Keys.Allows(ceph.AES) {
		weaken = nil
	}
	var old, missing []string
	for _, d := range drivers {
		weaken = append(weaken[:len(weaken):len(weaken)], fmt.Sprintf("oc edit clustercsidriver %s  # set ceph.keyType to %s", d.Name, ceph.AES))
		image, deployed := images.value[d.Name]
		switch {
		case !deployed:
			missing = append(missing, d.Name)
		case !driver.KnowsKeys(image, ceph.AES256):
			old = append(old, image+" of "+d.Name)
		}
	}
	if len(old) > 0 {
		return wrong(name, fmt.Sprintf("%s; older is %s: deploy a newer one, or have keys of type %s", asks, strings.Join(old, ", "), ceph.AES),
			append([]string{fmt.Sprintf("%s  # and apply them; or, for keys of type %s:", deployDriver, ceph.AES)}, weaken...)...)
	}
	if images.known() && len(missing) > 0 {
		asks += "; not deployed yet is " + strings.Join(missing, ", ")
	}
	if images.known() && kernels.known() && len(missing)+len(weak) == 0 {
		return right(name, "%s: all nodes' and drivers' are", asks)
	}
	return note(name, asks, weaken...)
}
