package controller

import (
	"errors"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	configlisters "github.com/openshift/client-go/config/listers/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func TestInfraID(t *testing.T) {
	tests := map[string]struct {
		reason, name, says string
		want               error
	}{
		"Named":   {reason: "it says who the cluster is", name: "cluster", says: "infra"},
		"Empty":   {reason: "it does not say yet", name: "cluster", want: ErrNoInfraID},
		"Missing": {reason: "only the one named cluster counts", name: "other", says: "infra", want: ErrNoInfraID},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
			object := &configv1.Infrastructure{ObjectMeta: metav1.ObjectMeta{Name: tc.name}, Status: configv1.InfrastructureStatus{InfrastructureName: tc.says}}
			if err := index.Add(object); err != nil {
				t.Fatal(err)
			}
			got, err := InfraID(configlisters.NewInfrastructureLister(index))
			if !errors.Is(err, tc.want) || err == nil && got != tc.says {
				t.Errorf("%s: got %q, %v", tc.reason, got, err)
			}
		})
	}
}
