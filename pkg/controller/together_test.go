package controller

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
)

// counted counts the registrations, which is what costs memory.
type counted struct {
	cache.SharedIndexInformer
	registrations int
}

func (c *counted) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	c.registrations++
	return c.SharedIndexInformer.AddEventHandler(h)
}

// diary is a listener that writes down what it hears.
type diary struct {
	mu   sync.Mutex
	news []string
}

func (d *diary) note(what string, object any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.news = append(d.news, what+" "+Object(object).(*corev1.Secret).Name)
}

func (d *diary) OnAdd(object any, _ bool) { d.note("added", object) }
func (d *diary) OnUpdate(_, now any)      { d.note("updated", now) }
func (d *diary) OnDelete(object any)      { d.note("deleted", object) }

func (d *diary) want(t *testing.T, reason string, want ...string) {
	t.Helper()
	var got []string
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		got = slices.Clone(d.news)
		return slices.Equal(got, want), nil
	})
	if err != nil {
		t.Errorf("%s: heard %q, want %q", reason, got, want)
	}
}

func TestTogether(t *testing.T) {
	secret := func(name string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	}
	client := fake.NewClientset(secret("a"))
	inner := &counted{SharedIndexInformer: coreinformers.NewSecretInformer(client, "ns", 0, cache.Indexers{})}
	informer := Together(inner)
	var early [3]diary
	add := func(d *diary) {
		t.Helper()
		if _, err := informer.AddEventHandler(d); err != nil {
			t.Fatal(err)
		}
	}
	for i := range early {
		add(&early[i])
	}
	if inner.registrations != 1 {
		t.Errorf("3 listeners have %d registrations", inner.registrations)
	}
	go informer.RunWithContext(t.Context())
	for i := range early {
		early[i].want(t, "what is there is told to all", "added a")
	}
	awaitWatch(t, client)
	late := &diary{}
	add(late)
	late.want(t, "who comes late has missed nothing", "added a")
	if _, err := client.CoreV1().Secrets("ns").Update(t.Context(), secret("a"), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := client.CoreV1().Secrets("ns").Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, d := range []*diary{&early[0], &early[1], &early[2], late} {
		d.want(t, "news are told to all, in order, once", "added a", "updated a", "deleted a")
	}
	if err := informer.RemoveEventHandler(nil); err == nil {
		t.Error("one listener could take all away")
	}
}
