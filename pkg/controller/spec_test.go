package controller

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// source is an informer whose news a test tells.
type source struct{ listener cache.ResourceEventHandler }

func (s *source) AddEventHandler(listener cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	s.listener = listener
	return nil, nil
}

func (*source) HasSynced() bool { return true }

// heard are the kinds of news that came through.
func heard(into *[]string) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { *into = append(*into, "added") },
		UpdateFunc: func(any, any) { *into = append(*into, "updated") },
		DeleteFunc: func(any) { *into = append(*into, "deleted") },
	}
}

func TestSpecChanges(t *testing.T) {
	at := func(uid string, generation int64) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), Generation: generation}}
	}
	annotated := func(text string) *metav1.PartialObjectMetadata {
		out := at("a", 1)
		out.Annotations = map[string]string{"settings": text}
		return out
	}
	tests := map[string]struct {
		reason string
		tell   func(cache.ResourceEventHandler)
		want   []string
	}{
		"Created":       {"it was not there", func(l cache.ResourceEventHandler) { l.OnAdd(at("a", 1), false) }, []string{"added"}},
		"OnlyStatus":    {"somebody's condition", func(l cache.ResourceEventHandler) { l.OnUpdate(at("a", 1), at("a", 1)) }, nil},
		"OtherSpec":     {"a person's doing", func(l cache.ResourceEventHandler) { l.OnUpdate(at("a", 1), at("a", 2)) }, []string{"updated"}},
		"Annotation":    {"settings may stand there, and a generation does not count them", func(l cache.ResourceEventHandler) { l.OnUpdate(annotated("a"), annotated("b")) }, []string{"updated"}},
		"Annotated":     {"the same ones", func(l cache.ResourceEventHandler) { l.OnUpdate(annotated("a"), annotated("a")) }, nil},
		"Anew":          {"deleted and made again, unseen", func(l cache.ResourceEventHandler) { l.OnUpdate(at("a", 1), at("b", 1)) }, []string{"updated"}},
		"Deleted":       {"it is gone", func(l cache.ResourceEventHandler) { l.OnDelete(at("a", 1)) }, []string{"deleted"}},
		"DeletedUnseen": {"it went while the API server was away", func(l cache.ResourceEventHandler) { l.OnDelete(cache.DeletedFinalStateUnknown{Obj: at("a", 1)}) }, []string{"deleted"}},
		"NoObject":      {"when in doubt, it is news", func(l cache.ResourceEventHandler) { l.OnUpdate("a", "b") }, []string{"updated"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			s := &source{}
			if _, err := SpecChanges(s).AddEventHandler(heard(&got)); err != nil {
				t.Fatal(err)
			}
			tc.tell(s.listener)
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s: heard %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestOnly(t *testing.T) {
	secret := func(name string) *corev1.Secret { return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	var got []string
	s := &source{}
	if _, err := Only(s, "a").AddEventHandler(heard(&got)); err != nil {
		t.Fatal(err)
	}
	s.listener.OnAdd(secret("b"), false)
	s.listener.OnUpdate(secret("b"), secret("b"))
	s.listener.OnAdd(secret("a"), false)
	s.listener.OnUpdate(secret("a"), secret("a"))
	s.listener.OnDelete(cache.DeletedFinalStateUnknown{Obj: secret("a")})
	if want := []string{"added", "updated", "deleted"}; !slices.Equal(got, want) {
		t.Errorf("heard %q, want %q: of its own object alone", got, want)
	}
}
