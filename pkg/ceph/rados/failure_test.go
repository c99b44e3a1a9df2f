//go:build cgo

package rados

import (
	"errors"
	"testing"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// TestFailureOfOperation: the class of an error is known, too, where several steps were one operation.
func TestFailureOfOperation(t *testing.T) {
	for _, err := range []error{rados.ErrNotFound, rados.OperationError{OpError: rados.ErrNotFound}} {
		if got := failure("remove x", "", err); !errors.Is(got, ceph.ErrNotFound) {
			t.Errorf("%T: %v", err, got)
		}
	}
}
