package settings

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func FuzzRead(f *testing.F) {
	for _, text := range []string{
		`{"pool":"a","outOfBand":[{"namespace":"n","configMap":"c"}]}`, "mounter: fuse\nreadAffinity: [a/b]", "controller:\n  resources: {csi-driver: {limits: {cpu: 1}}}",
		"withdrawAfter: 1e9h", "&a [*a]", "pool: !!binary x", "node: {tolerations: [{tolerationSeconds: 1.5}]}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range driver.All {
			cr := &unstructured.Unstructured{Object: map[string]any{}}
			cr.SetName(d.Name)
			cr.SetAnnotations(map[string]string{driver.SettingsAnnotation: text})
			_, err := Read(d, cr)
			if err != nil && (!errors.Is(err, driver.ErrInvalidSettings) || !strings.Contains(err.Error(), driver.SettingsAnnotation)) {
				t.Errorf("%q: the error does not say where: %v", text, err)
			}
		}
	})
}
