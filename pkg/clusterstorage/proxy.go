package clusterstorage

import (
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	appsv1 "k8s.io/api/apps/v1"
)

// proxyContainers is the annotation of a Deployment that names, separated by commas, the
// containers that get the cluster's proxy. CSO obeys it, too.
const proxyContainers = "config.openshift.io/inject-proxy"

// injectProxy does what CSO does, in the order that library-go gives the variables. CSO has the
// proxy from spec.observedConfig of Storage/cluster, which is CSO's to write. A nil proxy is
// none.
func injectProxy(d *appsv1.Deployment, proxy *configv1.Proxy) {
	if proxy == nil {
		return
	}
	variables := map[string]string{}
	for name, value := range map[string]string{
		"HTTP_PROXY": proxy.Status.HTTPProxy, "HTTPS_PROXY": proxy.Status.HTTPSProxy, "NO_PROXY": proxy.Status.NoProxy,
	} {
		if value != "" {
			variables[name] = value
		}
	}
	names := strings.Split(d.Annotations[proxyContainers], ",")
	containers := d.Spec.Template.Spec.Containers
	for i := range containers {
		if slices.Contains(names, containers[i].Name) {
			containers[i].Env = append(containers[i].Env, v1helpers.MapToEnvVars(variables)...)
		}
	}
}
