package assets

import (
	"testing"

	volumegroupsnapshotv1beta2 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta2"
	volumesnapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// strictDecoder refuses fields that are unknown or given twice. Of kinds without a Go type
// here (ServiceMonitor, PrometheusRule), it sees only the latter.
func strictDecoder() func([]byte) error {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(volumesnapshotv1.AddToScheme(scheme))
	utilruntime.Must(volumegroupsnapshotv1beta2.AddToScheme(scheme))
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	return func(content []byte) error {
		_, _, err := decoder.Decode(content, nil, nil)
		if runtime.IsNotRegisteredError(err) {
			return yaml.UnmarshalStrict(content, &unstructured.Unstructured{})
		}
		return err
	}
}

func TestAssetsAreStrictYAML(t *testing.T) {
	decode := strictDecoder()
	images := map[string]string{}
	for _, name := range RequiredImages() {
		images[name] = "registry.example.com/image:test"
	}
	for _, d := range driver.All {
		set, err := New(Values{Driver: d, Images: images})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range set.Names() {
			if err := decode(set.content[name]); err != nil {
				t.Errorf("%s: asset %s: %v", d.Kind, name, err)
			}
		}
	}
}

func TestStrictDecoder(t *testing.T) {
	const role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a}\n"
	tests := map[string]struct {
		reason  string
		content string
		refused bool
	}{
		"Good":          {reason: "a whole object", content: role},
		"UnknownField":  {reason: "a typo must not be dropped silently", content: role + "rulez: []\n", refused: true},
		"TwiceTheField": {reason: "one of them would be lost", content: role + "kind: Role\n", refused: true},
		"UnknownKind":   {reason: "kinds without a Go type are looked at as YAML", content: "apiVersion: a/v1\nkind: B\nmetadata: {name: a}\n"},
		"TwiceInAKind":  {reason: "as YAML, fields are still unique", content: "apiVersion: a/v1\nkind: B\nkind: C\n", refused: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := strictDecoder()([]byte(tc.content)); (err != nil) != tc.refused {
				t.Errorf("%s: got error %v", tc.reason, err)
			}
		})
	}
}
