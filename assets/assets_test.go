package assets_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestRequiredImages(t *testing.T) {
	want := []string{
		"ATTACHER_IMAGE", "DRIVER_IMAGE", "KUBE_RBAC_PROXY_IMAGE", "LIVENESS_PROBE_IMAGE",
		"NODE_DRIVER_REGISTRAR_IMAGE", "PROVISIONER_IMAGE", "RESIZER_IMAGE", "SNAPSHOTTER_IMAGE",
	}
	if diff := cmp.Diff(want, assets.RequiredImages()); diff != "" {
		t.Errorf("cluster-storage-operator sets exactly these for every driver (-want +got):\n%s", diff)
	}
}

func TestNewRefuses(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(*assets.Values)
		want   []string
	}{
		"NoImages": {
			reason: "all that are missing are named at once",
			change: func(v *assets.Values) { v.Images = nil },
			want:   assets.RequiredImages(),
		},
		"OneMissing": {
			reason: "an empty variable is a missing one",
			change: func(v *assets.Values) { v.Images["RESIZER_IMAGE"] = "" },
			want:   []string{"without an image: RESIZER_IMAGE"},
		},
		"Placeholder": {
			reason: "a template that was not filled in must not reach the API server",
			change: func(v *assets.Values) { v.Images["DRIVER_IMAGE"] = "${DRIVER_IMAGE}" },
			want:   []string{"DRIVER_IMAGE", "not an image"},
		},
		"Quote": {
			reason: "an image cannot change the manifest around it",
			change: func(v *assets.Values) { v.Images["DRIVER_IMAGE"] = "a\"\n        command: [\"sh\"]" },
			want:   []string{"DRIVER_IMAGE", "not an image"},
		},
		"NoDriver": {
			reason: "there is nothing to render",
			change: func(v *assets.Values) { v.Driver = driver.Driver{} },
			want:   []string{"no driver"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			values := assets.Values{Driver: driver.RBD, Images: images()}
			tc.change(&values)
			_, err := assets.New(values)
			if err == nil {
				t.Fatalf("%s: no error", tc.reason)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: error %q does not say %q", tc.reason, err, want)
				}
			}
		})
	}
}

func TestAsset(t *testing.T) {
	set := render(t, driver.RBD)
	if _, err := set.Asset("static/nothing.yaml"); err == nil || !strings.Contains(err.Error(), "static/nothing.yaml") {
		t.Errorf("an unknown asset must be an error with its name, got %v", err)
	}
	if !slices.Equal(set.Controller(), content(t, set, assets.Controller)) || !slices.Equal(set.Node(), content(t, set, assets.Node)) ||
		!slices.Equal(set.StorageClass(), content(t, set, assets.StorageClass)) {
		t.Error("the methods and Asset return different manifests")
	}
	first := set.Controller()
	clear(first)
	if slices.Equal(first, set.Controller()) {
		t.Error("a caller can change the manifests of the others")
	}
	for _, name := range set.Static() {
		content(t, set, name)
	}
}
