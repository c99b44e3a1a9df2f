package assets

import (
	"fmt"
	"regexp"
	"slices"

	volumegroupsnapshotv1beta2 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta2"
	volumesnapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

var placeholder = regexp.MustCompile(`\$\{[^}]*\}?`)

// leftForLibraryGo are the placeholders that library-go replaces, by asset. In the DaemonSet it
// knows neither the cluster nor leader election, in all other assets none at all.
var leftForLibraryGo = map[string][]string{
	Controller: {
		"${CLUSTER_ID}", "${LOG_LEVEL}", "${TLS_CIPHER_SUITES}", "${TLS_MIN_VERSION}",
		"${LEADER_ELECTION_LEASE_DURATION}", "${LEADER_ELECTION_RENEW_DEADLINE}", "${LEADER_ELECTION_RETRY_PERIOD}",
	},
	Node: {"${LOG_LEVEL}", "${TLS_CIPHER_SUITES}", "${TLS_MIN_VERSION}"},
}

// check parses every asset strictly and refuses placeholders that nobody would replace.
func (s Set) check() error {
	decode := strictDecoder()
	for _, name := range s.Names() {
		content := s.content[name]
		for _, found := range placeholder.FindAll(content, -1) {
			if !slices.Contains(leftForLibraryGo[name], string(found)) {
				return fmt.Errorf("asset %s: no value for %s", name, found)
			}
		}
		if err := decode(content); err != nil {
			return fmt.Errorf("asset %s: %w", name, err)
		}
	}
	return nil
}

// strictDecoder refuses fields that are unknown or given twice. Of kinds without a Go type
// here (ServiceMonitor), it sees only the latter.
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
