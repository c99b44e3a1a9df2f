package servingcerts

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes/fake"
)

type listener chan struct{}

func (l listener) Enqueue() { l <- struct{}{} }

var _ dynamiccertificates.CertKeyContentProvider = &Certificate{}

func (r rig) served(c *Certificate) string {
	pair, _ := c.CurrentCertKeyContent()
	return string(pair)
}

// TestFollow: a first certificate is waited for, later ones are told, damaged ones are not served.
func TestFollow(t *testing.T) {
	r := rig{t, fake.NewClientset()}
	followed := make(chan *Certificate)
	go func() {
		c, err := Follow(t.Context(), r.client, namespace, wanted)
		if err != nil {
			t.Error(err)
		}
		followed <- c
	}()
	r.sync()
	first := r.verify()
	c := <-followed
	if r.served(c) != first {
		t.Error("another certificate than that of the Secret is served")
	}
	told := make(listener, 10)
	c.AddListener(told)
	r.change(wanted, func(s *corev1.Secret) { s.Data[corev1.TLSPrivateKeyKey] = nil })
	r.sync()
	second := r.verify()
	if second == first {
		t.Fatal("the damaged certificate was not made anew")
	}
	deadline := time.After(time.Minute)
	for r.served(c) != second {
		select {
		case <-told:
		case <-deadline:
			t.Fatal("nobody was told of the new certificate")
		}
	}
}

// TestFollowEnds without a Secret when the process does.
func TestFollowEnds(t *testing.T) {
	other := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: wanted}, Data: map[string][]byte{corev1.TLSCertKey: []byte("?")}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Follow(ctx, fake.NewClientset(other), namespace, wanted); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
