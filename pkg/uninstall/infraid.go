package uninstall

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/openshift/ceph-csi-driver-operator/pkg/infraid"
)

var infrastructures = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}

// infraID is what marks of this cluster carry; empty where nothing says so.
func infraID(ctx context.Context, o Options) (string, error) {
	said, err := infrastructureName(ctx, o)
	if err != nil {
		return "", err
	}
	name, err := infraid.Read(ctx, o.Kube, said)
	if err != nil {
		return "", err
	}
	if name == "" {
		return o.InfraID, nil
	}
	if o.InfraID != "" && o.InfraID != name {
		return "", fmt.Errorf("%w: --infra-id is %s, but this cluster is %s, by what its operators remember or Infrastructure cluster says; "+
			"to release the pools of another cluster that is gone, use teardown", ErrRefused, o.InfraID, name)
	}
	return name, nil
}

// infrastructureName is empty where there is none.
func infrastructureName(ctx context.Context, o Options) (string, error) {
	infrastructure, err := wide("Infrastructure", "cluster").read(ctx, o, infrastructures)
	if err != nil || infrastructure == nil {
		return "", err
	}
	name, _, err := unstructured.NestedString(infrastructure.Object, "status", "infrastructureName")
	if err != nil {
		return "", fmt.Errorf("reading the name in Infrastructure cluster: %w", err)
	}
	return name, nil
}
