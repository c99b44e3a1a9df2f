package main

import (
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

var clusterOperators = configv1.GroupVersion.WithResource("clusteroperators")

// Facts about ClusterOperator storage.
const (
	aboutAvailable   = "ClusterOperator storage: Available"
	aboutProgressing = "ClusterOperator storage: Progressing"
	aboutDegraded    = "ClusterOperator storage: Degraded"
)

// wantedStatus is what the facts say when all is well.
var wantedStatus = map[string]operatorv1.ConditionStatus{
	aboutAvailable: operatorv1.ConditionTrue, aboutProgressing: operatorv1.ConditionFalse, aboutDegraded: operatorv1.ConditionFalse,
}

// clusterOperator is what the cluster says of its storage.
func (w *watch) clusterOperator() ([]fact, error) {
	out := []fact{{about: aboutAvailable}, {about: aboutProgressing}, {about: aboutDegraded}}
	object, exists, err := w.reported.GetStore().GetByKey("storage")
	if err != nil || !exists {
		return out, err
	}
	var typed configv1.ClusterOperator
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.(*unstructured.Unstructured).Object, &typed); err != nil {
		return out, err
	}
	for i, kind := range []configv1.ClusterStatusConditionType{configv1.OperatorAvailable, configv1.OperatorProgressing, configv1.OperatorDegraded} {
		for _, c := range typed.Status.Conditions {
			if c.Type == kind {
				out[i].text = is(operatorv1.ConditionStatus(c.Status))
			}
		}
	}
	return out, nil
}
