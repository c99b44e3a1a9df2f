package check

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/status"
)

// newestEvents is how many are shown where there is room.
const newestEvents = 8

func (c *Cluster) secret(ctx context.Context) (*corev1.Secret, error) {
	return orNone(c.Kube.CoreV1().Secrets(driver.Namespace).Get(ctx, driver.CredentialsSecret, metav1.GetOptions{}))
}

// lookAtCluster asks Kubernetes; when that does not answer at all, nothing more is asked.
func (v *View) lookAtCluster(ctx context.Context, s *seen) {
	kube, objects := v.Cluster.Kube, v.Cluster.Dynamic
	s.version = ask(ctx, viewTimeout, func(ctx context.Context) (string, error) { return serverVersion(ctx, Config{Cluster: v.Cluster}) })
	if !s.version.known() {
		return
	}
	s.infrastructure = ask(ctx, viewTimeout, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return orNone(objects.Resource(infrastructureResource).Get(ctx, "cluster", metav1.GetOptions{}))
	})
	for _, d := range v.Drivers {
		s.resources[d.Name] = ask(ctx, viewTimeout, func(ctx context.Context) (*unstructured.Unstructured, error) {
			return orNone(objects.Resource(driverResource).Get(ctx, d.Name, metav1.GetOptions{}))
		})
		s.daemonSets[d.Name] = ask(ctx, viewTimeout, func(ctx context.Context) (*appsv1.DaemonSet, error) {
			return orNone(kube.AppsV1().DaemonSets(driver.Namespace).Get(ctx, d.NodeName(), metav1.GetOptions{}))
		})
		s.status[d.Name] = ask(ctx, viewTimeout, func(ctx context.Context) (*status.Document, error) {
			configMap, err := orNone(kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, d.StatusConfigMap(), metav1.GetOptions{}))
			if err != nil || configMap == nil {
				return nil, err
			}
			doc, err := status.Read(configMap)
			return &doc, err
		})
	}
	s.events = ask(ctx, viewTimeout, v.newest)
}

// newest are the last events about the drivers, the newest first. Those about what belongs to no
// namespace, such as StorageClasses, are in the default one.
func (v *View) newest(ctx context.Context) ([]corev1.Event, error) {
	var out []corev1.Event
	for _, namespace := range []string{driver.Namespace, metav1.NamespaceDefault} {
		list := func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return v.Cluster.Kube.CoreV1().Events(namespace).List(ctx, o)
		}
		err := pager.New(list).EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
			if event, ok := o.(*corev1.Event); ok && v.isOurs(event) {
				out = append(out, *event)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("listing events: %w", err)
		}
	}
	slices.SortFunc(out, func(a, b corev1.Event) int {
		return cmp.Or(happened(b).Compare(happened(a)), cmp.Compare(a.Name, b.Name))
	})
	return out[:min(newestEvents, len(out))], nil
}

// isOurs says whether an event is about an object of the drivers, or told by their operators.
func (v *View) isOurs(event *corev1.Event) bool {
	for _, d := range v.Drivers {
		prefix := "ceph-" + d.Kind + "-csi-driver-"
		if strings.HasPrefix(event.InvolvedObject.Name, prefix) || strings.HasPrefix(cmp.Or(event.Source.Component, event.ReportingController), prefix) {
			return true
		}
	}
	return false
}

func happened(event corev1.Event) time.Time {
	for _, t := range []time.Time{event.LastTimestamp.Time, event.EventTime.Time, event.FirstTimestamp.Time} {
		if !t.IsZero() {
			return t
		}
	}
	return event.CreationTimestamp.Time
}
