package controller

import (
	"errors"
	"fmt"

	configlisters "github.com/openshift/client-go/config/listers/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ErrNoInfraID says that the cluster has no name by which Ceph could tell it from others.
var ErrNoInfraID = errors.New("status.infrastructureName of Infrastructure cluster is empty, so that nothing in Ceph could carry it")

// InfraID is who the OpenShift cluster is to Ceph: status.infrastructureName of Infrastructure cluster.
func InfraID(infrastructures configlisters.InfrastructureLister) (string, error) {
	infrastructure, err := infrastructures.Get("cluster")
	if err != nil && !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("reading Infrastructure cluster: %w", err)
	}
	if err != nil || infrastructure.Status.InfrastructureName == "" {
		return "", ErrNoInfraID
	}
	return infrastructure.Status.InfrastructureName, nil
}
