package openshift

import (
	"context"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// busy is an API server that answers the first request to create something with err.
type busy struct {
	apiextensions.CustomResourceDefinitionInterface
	err error
	// done says that the first request was done all the same.
	done    bool
	asked   int
	created *CRD
}

func (b *busy) Create(_ context.Context, crd *CRD, _ metav1.CreateOptions) (*CRD, error) {
	b.asked++
	first := b.asked == 1 && b.err != nil
	if first && !b.done {
		return nil, b.err
	}
	if b.created != nil {
		return nil, apierrors.NewAlreadyExists(schema.GroupResource{Resource: "crds"}, crd.Name)
	}
	b.created = crd.DeepCopy()
	b.created.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
	if first {
		return nil, b.err
	}
	return b.created, nil
}

func (b *busy) Get(context.Context, string, metav1.GetOptions) (*CRD, error) { return b.created, nil }

// TestCreateCRDsAgain: an API server that has just started may let requests time out.
func TestCreateCRDsAgain(t *testing.T) {
	timeout := apierrors.NewTimeoutError("request did not complete within requested timeout", 0)
	tests := map[string]struct {
		reason string
		server busy
		asked  int
		fails  bool
	}{
		"TimedOut":     {reason: "it is asked again", server: busy{err: timeout}, asked: 2},
		"DoneAllSame":  {reason: "the answer alone was late", server: busy{err: timeout, done: true}, asked: 2},
		"NothingWrong": {reason: "once is enough", asked: 1},
		"Refused":      {reason: "another try changes nothing", server: busy{err: apierrors.NewBadRequest("no such version")}, asked: 1, fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			crd := &CRD{ObjectMeta: metav1.ObjectMeta{Name: "as.example.com"}}
			err := CreateCRDs(t.Context(), &tc.server, []*CRD{crd})
			if (err != nil) != tc.fails || tc.server.asked != tc.asked {
				t.Errorf("%s: asked %d times, want %d; %v", tc.reason, tc.server.asked, tc.asked, err)
			}
		})
	}
}
