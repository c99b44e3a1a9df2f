package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func TestNamed(t *testing.T) {
	secret := func(name string) *corev1.Secret { return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	tests := map[string]struct {
		reason string
		object any
		want   bool
	}{
		"Named":         {reason: "one of the two", object: secret("b"), want: true},
		"Other":         {reason: "somebody else's", object: secret("c")},
		"DeletedUnseen": {reason: "it went while the API server was away", object: cache.DeletedFinalStateUnknown{Key: "n/a", Obj: secret("a")}, want: true},
		"OtherUnseen":   {reason: "somebody else's, too", object: cache.DeletedFinalStateUnknown{Key: "n/c", Obj: secret("c")}},
		"NoObject":      {reason: "nothing that could have a name", object: "a"},
	}
	filter := Named("a", "b")
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := filter(tc.object); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}
