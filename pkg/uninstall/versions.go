package uninstall

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// servedResources are the resources of kinds at versions that the cluster serves: CRDs of another
// release have others. A kind that is not served at all keeps its version, and nothing is found of it.
func servedResources(client discovery.DiscoveryInterface) (map[string]schema.GroupVersionResource, error) {
	groups, err := client.ServerGroups()
	if err != nil {
		return nil, fmt.Errorf("asking for the API versions that the cluster serves: %w", err)
	}
	versions := map[string][]string{}
	for _, group := range groups.Groups {
		for _, v := range group.Versions {
			versions[group.Name] = append(versions[group.Name], v.Version)
		}
	}
	lists := map[schema.GroupVersion]*metav1.APIResourceList{}
	serves := func(r schema.GroupVersionResource) (bool, error) {
		version := r.GroupVersion()
		list, asked := lists[version]
		if !asked {
			var err error
			if list, err = client.ServerResourcesForGroupVersion(version.String()); apierrors.IsNotFound(err) {
				list = &metav1.APIResourceList{}
			} else if err != nil {
				return false, fmt.Errorf("asking what the cluster serves of %s: %w", version, err)
			}
			lists[version] = list
		}
		return slices.ContainsFunc(list.APIResources, func(a metav1.APIResource) bool { return a.Name == r.Resource }), nil
	}
	out := map[string]schema.GroupVersionResource{}
	for kind, preferred := range resources {
		out[kind] = preferred
		for _, version := range append([]string{preferred.Version}, versions[preferred.Group]...) {
			candidate := preferred.GroupResource().WithVersion(version)
			found, err := serves(candidate)
			if err != nil {
				return nil, err
			}
			if found {
				out[kind] = candidate
				break
			}
		}
	}
	return out, nil
}
