//go:build cgo

package rados

import (
	"errors"
	"fmt"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// failure describes an error of go-ceph by its number; its class is found by errors.Is.
func failure(command, status string, err error) error {
	errno := number(err)
	if errno == 0 {
		return fmt.Errorf("ceph %s: %w", command, err)
	}
	return &ceph.CommandError{Command: command, Errno: errno, Status: status}
}

// number is the errno of an error of go-ceph, 0 if it has none.
func number(err error) int {
	var operation rados.OperationError
	if errors.As(err, &operation) {
		err = operation.OpError
	}
	var coded interface{ ErrorCode() int }
	if errors.As(err, &coded) {
		return coded.ErrorCode()
	}
	return 0
}
