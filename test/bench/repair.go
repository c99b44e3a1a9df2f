package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const wrongImage = "registry.example.com/wrong:v1"

// repaired measures from the start of a killed operator until it has undone what somebody
// did while it was dead: the DaemonSet deleted, an image of the Deployment changed.
func (b *bench) repaired(ctx context.Context, d driver.Driver) (float64, error) {
	if err := b.deployed(ctx); err != nil {
		return 0, err
	}
	var times []float64
	for range b.options.runs {
		b.operators[d.Name].Kill()
		if err := b.damage(ctx, d); err != nil {
			return 0, err
		}
		begin, err := b.startOperator(ctx, d)
		if err != nil {
			return 0, err
		}
		both, err := b.tape.latest(ctx, begin, "repaired workloads of "+d.Name, named(daemonSets, d.NodeName()), func(v version) bool {
			return v.is(deployments, d.ControllerName()) && !hasWrongImage(v.object)
		})
		if err != nil {
			return 0, err
		}
		times = append(times, both.Sub(begin).Seconds())
		if err := b.settled(ctx, d); err != nil {
			return 0, err
		}
	}
	fmt.Fprintf(b.progress, "%s repaired: %.2f s\n", d.Kind, times)
	return median(times), nil
}

func hasWrongImage(deployment *unstructured.Unstructured) bool {
	containers, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	first, _ := containers[0].(map[string]any)
	return first["image"] == wrongImage
}

// damage returns when watches have told of it, so that what they tell next is the repair.
func (b *bench) damage(ctx context.Context, d driver.Driver) error {
	begin := time.Now()
	apps := b.kube.AppsV1()
	patch, err := json.Marshal([]map[string]any{{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": wrongImage}})
	if err != nil {
		return err
	}
	if _, err := apps.Deployments(driver.Namespace).Patch(ctx, d.ControllerName(), types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("changing Deployment %s: %w", d.ControllerName(), err)
	}
	if err := apps.DaemonSets(driver.Namespace).Delete(ctx, d.NodeName(), metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("deleting DaemonSet %s: %w", d.NodeName(), err)
	}
	_, err = b.tape.latest(ctx, begin, "damage to "+d.Name, func(v version) bool {
		return v.is(deployments, d.ControllerName()) && hasWrongImage(v.object)
	}, func(v version) bool {
		return v.resource == daemonSets && v.object.GetName() == d.NodeName() && v.event == watch.Deleted
	})
	return err
}
