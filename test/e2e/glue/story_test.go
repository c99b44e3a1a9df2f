package glue

import (
	. "github.com/onsi/ginkgo/v2"
)

// The chapters follow each other: each starts where the last one ended.
var _ = Describe("A cluster without a cluster-storage-operator", Ordered, func() {
	bare()
	stockCRD()
	declared()
	stockAgain()
	putBack()
	deletedUnderStock()
	relatedObjects()
	repaired()
	managementStates()
	removed()
	degraded()
	notUpgradeable()
	upgraded()
	stoodDown()
	profiled()
	uninstalled()
})
