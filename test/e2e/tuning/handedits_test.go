package tuning

import (
	"errors"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func errorOr(err error, message string) error {
	if err != nil {
		return err
	}
	return errors.New(message)
}

// render has the manifests that a driver's operator applies, with any images.
func render(d driver.Driver) assets.Set {
	GinkgoHelper()
	images := map[string]string{}
	for _, name := range assets.RequiredImages() {
		images[name] = "image"
	}
	set, err := assets.New(assets.Values{Driver: d, Images: images})
	Expect(err).NotTo(HaveOccurred())
	return set
}

var _ = Describe("Edits by hand are undone", func() {
	for _, e := range edits() {
		It(e.what, func(ctx SpecContext) {
			begin := time.Now()
			before := map[string]*unstructured.Unstructured{}
			for _, d := range driver.All {
				before[d.Name] = e.apply(ctx, d)
			}
			for _, d := range driver.All {
				Eventually(func() error { return e.restored(ctx, d, before[d.Name]) }).
					WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed(), d.Name)
			}
			AddReportEntry(fmt.Sprintf("undone for both drivers after %.2f s", time.Since(begin).Seconds()))
		})
	}

	for _, d := range driver.All {
		It("one in each object that has no settings: "+d.Name, func(ctx SpecContext) {
			set := render(d)
			var manifests [][]byte
			for _, name := range append(set.Static(), assets.CSIDriver, assets.ServiceMonitor, assets.PrometheusRule, assets.StorageClass) {
				manifests = append(manifests, set.Manifest(name))
			}
			env.TakesBack(ctx, slices.DeleteFunc(env.Applied(manifests...), func(o fixture.Applied) bool { return slices.Contains(fixture.Unchangeable, o.Kind) }))
		})
	}
})
