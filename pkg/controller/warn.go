package controller

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// eventDeadline bounds the writing of one event.
const eventDeadline = 10 * time.Second

// Warn writes a warning event about an object of the whole cluster, where `oc describe` shows it.
// library-go's recorder knows only the operator's own Deployment. The name tells events of other
// texts apart: after a restart, the one that is there already is not written again. before is how
// often the same was told earlier.
func (e Env) Warn(ctx context.Context, about corev1.ObjectReference, reason, message string, before int) error {
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s %d %s", about.UID, before, message)
	now := metav1.Now()
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: eventName(about.Name, hash.Sum64()), Namespace: metav1.NamespaceDefault},
		InvolvedObject: about,
		Type:           corev1.EventTypeWarning, Reason: reason, Message: cut(message),
		Source:         corev1.EventSource{Component: e.Driver.OperatorName()},
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
	ctx, cancel := context.WithTimeout(ctx, eventDeadline)
	defer cancel()
	_, err := e.Kube.CoreV1().Events(metav1.NamespaceDefault).Create(ctx, event, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("writing an event about %s %s: %w", about.Kind, about.Name, err)
	}
	return nil
}

// eventName keeps to what the API server takes as a name, whatever the event is about.
func eventName(about string, hash uint64) string {
	suffix := fmt.Sprintf(".%016x", hash)
	if most := validation.DNS1123SubdomainMaxLength - len(suffix); len(about) > most {
		about = strings.TrimRight(about[:most], ".-")
	}
	return about + suffix
}

// cut keeps to what the API server takes as an event's message.
func cut(message string) string {
	const most = 1024
	if len(message) > most {
		return strings.ToValidUTF8(message[:most-3], "") + "..."
	}
	return message
}
