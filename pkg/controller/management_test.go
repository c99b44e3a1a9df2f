package controller

import (
	"errors"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// operator answers with a state or an error.
type operator struct {
	v1helpers.OperatorClient
	state operatorv1.ManagementState
	err   error
}

func (o operator) GetOperatorState() (*operatorv1.OperatorSpec, *operatorv1.OperatorStatus, string, error) {
	if o.err != nil {
		return nil, nil, "", o.err
	}
	return &operatorv1.OperatorSpec{ManagementState: o.state}, nil, "", nil
}

func TestManagementState(t *testing.T) {
	const name = "rbd.csi.ceph.com"
	tests := map[string]struct {
		operator operator
		want     operatorv1.ManagementState
		err      string
	}{
		"Managed":   {operator: operator{state: operatorv1.Managed}, want: operatorv1.Managed},
		"Unmanaged": {operator: operator{state: operatorv1.Unmanaged}, want: operatorv1.Unmanaged},
		"LeftOut":   {operator: operator{state: ""}, want: ""},
		"NoObject":  {operator: operator{err: apierrors.NewNotFound(schema.GroupResource{}, name)}, want: NoCR},
		"Unreadable": {
			operator: operator{err: errors.New("spec.managementState: not a string")},
			want:     NoCR,
			err:      "reading ClusterCSIDriver rbd.csi.ceph.com: spec.managementState: not a string",
		},
	}
	for testName, test := range tests {
		t.Run(testName, func(t *testing.T) {
			got, err := ManagementState(test.operator, name)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if text := errorText(err); text != test.err {
				t.Errorf("error %q, want %q", text, test.err)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
