package glue

import (
	"context"
	"fmt"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

const clusterCSIDriverCRD = "clustercsidrivers.operator.openshift.io"

// Commands that let the cluster accept the names, and keep it so; the last one is for clusters
// without OpenShift.
const (
	PatchCommand    = "oc patch crd " + clusterCSIDriverCRD + " --type=json --patch-file manifests/crd-patch/clustercsidriver.patch.json"
	OverrideCommand = `oc patch clusterversion version --type=merge -p '{"spec":{"overrides":[{"group":"apiextensions.k8s.io","kind":"CustomResourceDefinition","namespace":"","name":"` + clusterCSIDriverCRD + `","unmanaged":true}]}}'`
	ApplyCRDCommand = "kubectl apply -f manifests/kubernetes/00_crd_clustercsidrivers.yaml"
)

// Paths in a version of the CRD.
var (
	namesPath  = []string{"schema", "openAPIV3Schema", "properties", "metadata", "properties", "name", "enum"}
	memberPath = []string{"schema", "openAPIV3Schema", "properties", "spec", "properties", "driverConfig", "properties", "ceph"}
)

// Keys of a trimmed CRD.
const (
	trimmedNames  = "names"
	trimmedMember = "member"
)

// trimCRD keeps of a CustomResourceDefinition that it exists, and of ClusterCSIDriver's what
// is patched: the accepted names, and whether spec.driverConfig.ceph is kept.
func trimCRD(obj any) (any, error) {
	crd, ok := obj.(*unstructured.Unstructured)
	if !ok || crd.GetKind() != "CustomResourceDefinition" {
		return obj, nil
	}
	out := &unstructured.Unstructured{Object: map[string]any{"apiVersion": crd.GetAPIVersion(), "kind": crd.GetKind() + "Names"}}
	out.SetName(crd.GetName())
	out.SetUID(crd.GetUID())
	out.SetResourceVersion(crd.GetResourceVersion())
	if crd.GetName() != clusterCSIDriverCRD {
		return out, nil
	}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		version, ok := v.(map[string]any)
		if !ok || version["storage"] != true {
			continue
		}
		names, restricted, _ := unstructured.NestedStringSlice(version, namesPath...)
		if restricted {
			if err := unstructured.SetNestedStringSlice(out.Object, names, trimmedNames); err != nil {
				return nil, fmt.Errorf("trimming CRD %s: %w", crd.GetName(), err)
			}
		}
		_, member, _ := unstructured.NestedMap(version, memberPath...)
		out.Object[trimmedMember] = member
	}
	return out, nil
}

// accepts says whether a trimmed CRD lets a ClusterCSIDriver of that name be created.
func accepts(crd *unstructured.Unstructured, name string) bool {
	if crd == nil {
		return false
	}
	names, restricted, err := unstructured.NestedStringSlice(crd.Object, trimmedNames)
	return err == nil && (!restricted || slices.Contains(names, name))
}

// keepsSettings says whether a trimmed CRD has spec.driverConfig.ceph.
func keepsSettings(crd *unstructured.Unstructured) bool {
	return crd != nil && crd.Object[trimmedMember] == true
}

// crdPatch says when the CRD of ClusterCSIDriver lacks what the drivers need of it.
//
// It produces the condition CephCRDPatchDegraded, while a driver is wanted.
func (s starter) crdPatch() factory.Controller {
	return s.controller(controller{
		name: "CephCRDPatch", always: true, quiet: true,
		sync: func(ctx context.Context, _ factory.SyncContext) error {
			if s.otherGlue() || !s.managed() {
				return nil
			}
			status := applyoperatorv1.OperatorStatus()
			if s.anyStarted() {
				status.WithConditions(crdCondition(s.clients.crd(clusterCSIDriverCRD), s.operators(), s.Kubernetes))
			}
			return s.clients.storage.ApplyOperatorStatus(ctx, "CephCRDPatch", status)
		},
	})
}

func (s starter) anyStarted() bool { return slices.ContainsFunc(s.operators(), s.started) }

// crdCondition:
//
//	names or settings are missing  True, with the commands; without OpenShift, nobody puts the
//	                               stock one back, and the CRD is in our own manifests
//	otherwise                      False
func crdCondition(crd *unstructured.Unstructured, operators []operator, kubernetes bool) *applyoperatorv1.OperatorConditionApplyConfiguration {
	var missing []string
	for _, o := range operators {
		if !accepts(crd, o.CSIDriverName) {
			missing = append(missing, "the name "+o.CSIDriverName)
		}
	}
	if !keepsSettings(crd) {
		missing = append(missing, "the member spec.driverConfig.ceph")
	}
	if len(missing) == 0 {
		return condition.Good(condition.CRDPatchDegraded)
	}
	mend := fmt.Sprintf("Patch it with `%s`; to keep the patch, tell the cluster version operator before with `%s`, which blocks cluster upgrades while it is there",
		PatchCommand, OverrideCommand)
	if kubernetes {
		mend = "Apply it again with `" + ApplyCRDCommand + "`"
	}
	return condition.New(condition.CRDPatchDegraded, operatorv1.ConditionTrue, condition.CRDNotPatched, fmt.Sprintf(
		"CustomResourceDefinition %s lacks %s. Drivers that are deployed keep running, no further one is started. %s",
		clusterCSIDriverCRD, strings.Join(missing, ", "), mend))
}
