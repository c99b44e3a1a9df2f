package settings

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// The whole table is in test/crdpatch; these show that a real API server runs the rules.
var _ = Describe("The API server", func() {
	type member = map[string]any
	DescribeTable("says what is not allowed", func(ctx SpecContext, d driver.Driver, fields member, want string) {
		_, err := env.Configure(ctx, d, fields, metav1.DryRunAll)
		if want == "" {
			Expect(err).NotTo(HaveOccurred())
			return
		}
		Expect(err).To(MatchError(ContainSubstring(want)))
		// An operator on a CRD without the schema says the same of the field.
		_, err = driver.ParseSettings(d, driver.MemberPath, fields)
		Expect(err).To(MatchError(ContainSubstring(want[strings.LastIndex(want, "must"):])))
	},
		Entry("nothing of RBD", driver.RBD, member{
			"cluster": "7b2fc1c0-6f4c-4d5c-9a5d-0d6a2b6f9d11", "pool": "p", "dataPool": "d", "mounter": "rbd-nbd",
			"imageFeatures": "exclusive-lock,journaling", "mapOptions": "krbd:a;nbd:b", "readAffinity": []any{"topology.kubernetes.io/zone"},
			"missingPools": "Create", "poolProtection": "Disabled", "credentials": "Mint", "rookNamespace": "rook-ceph",
			"outOfBand": []any{member{"namespace": "n", "configMap": "c"}},
		}, ""),
		Entry("nothing of CephFS", driver.CephFS, member{
			"filesystem": "a", "subvolumeGroup": "g", "mounter": "fuse", "kernelMountOptions": "ms_mode=secure", "fuseMountOptions": "debug",
		}, ""),
		Entry("a pattern", driver.RBD, member{"pool": "a/b"},
			`spec.driverConfig.ceph.pool: Invalid value: "a/b": must be a name without spaces, quotes and the characters / @ ,`),
		Entry("a key", driver.CephFS, member{"kernelMountOptions": "ro,secret=AQ"},
			`spec.driverConfig.ceph.kernelMountOptions: Invalid value: "ro,secret=AQ": must be options without spaces, none of which names a user or a key`),
		Entry("features that do not go together", driver.RBD, member{"imageFeatures": "fast-diff"},
			`spec.driverConfig.ceph.imageFeatures: Invalid value: must have object-map beside fast-diff`),
		Entry("a value of the other driver", driver.CephFS, member{"mounter": "rbd"},
			`spec.driverConfig.ceph.mounter: Invalid value: must be one of "kernel", "fuse"`),
	)

	It("gives each driver its own fields", func(ctx SpecContext) {
		_, err := env.Configure(ctx, driver.CephFS, map[string]any{"pool": "p"}, metav1.DryRunAll)
		Expect(err).To(MatchError(ContainSubstring("is a setting of " + driver.RBD.Name)))
	})
})
