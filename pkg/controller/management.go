package controller

import (
	"fmt"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// NoCR is the state where there is no ClusterCSIDriver: nothing is to be done, nor reported. One
// that leaves the field out has the empty state.
const NoCR operatorv1.ManagementState = "None"

// ManagementState returns spec.managementState of the ClusterCSIDriver that operator reads; name is the
// driver's, for the error.
func ManagementState(operator v1helpers.OperatorClient, name string) (operatorv1.ManagementState, error) {
	spec, _, _, err := operator.GetOperatorState()
	if apierrors.IsNotFound(err) {
		return NoCR, nil
	}
	if err != nil {
		return NoCR, fmt.Errorf("reading ClusterCSIDriver %s: %w", name, err)
	}
	return spec.ManagementState, nil
}
