//go:build tools

// Package storagetests pins Kubernetes' end-to-end tests of storage drivers from manifests ("External
// Storage"), what starts them side by side, and the program of their pods. It is a module of its own, so that
// none of their dependencies reach the product; it has the same versions as the module binaries, so that most
// packages are compiled by then.
package storagetests

import (
	_ "github.com/onsi/ginkgo/v2/ginkgo"
	_ "k8s.io/kubernetes/test/images/agnhost"
)
