package clusterstorage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const clusterCSIDriverCRD = "clustercsidrivers.operator.openshift.io"

// ApplyCRDCommand is configs.PatchCommand for clusters without OpenShift.
const ApplyCRDCommand = "kubectl apply -f manifests/kubernetes/00_crd_clustercsidrivers.yaml"

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
				crd := s.clients.crd(clusterCSIDriverCRD)
				refused, err := s.refused(crd)
				if err != nil {
					return err
				}
				status.WithConditions(crdCondition(crd, refused, s.Kubernetes))
			}
			return s.clients.storage.ApplyOperatorStatus(ctx, "CephCRDPatch", status)
		},
	})
}

func (s starter) anyStarted() bool { return slices.ContainsFunc(s.operators(), s.started) }

// refused are the names of the ClusterCSIDrivers that are wanted and cannot be created.
func (s starter) refused(crd *unstructured.Unstructured) ([]string, error) {
	var out []string
	for _, o := range s.operators() {
		_, err := s.clients.operators.Operator().V1().ClusterCSIDrivers().Lister().Get(o.CSIDriverName)
		switch {
		case err != nil && !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("reading ClusterCSIDriver %s: %w", o.CSIDriverName, err)
		case err != nil && s.started(o) && !accepts(crd, o.CSIDriverName):
			out = append(out, o.CSIDriverName)
		}
	}
	return out, nil
}

// crdCondition:
//
//	ClusterCSIDrivers cannot be created  True, with the command; without OpenShift, the CRD is in our
//	                                     own manifests
//	settings are dropped                 False, and where they can be changed
//	otherwise                            False
//
// The cluster version operator puts the stock CRD back within minutes. What exists is not touched by
// that: the API server validates what changes.
func crdCondition(crd *unstructured.Unstructured, refused []string, kubernetes bool) *condition.Said {
	mend := "Patch it with `" + configs.PatchCommand + "`"
	if kubernetes {
		mend = "Apply it again with `" + ApplyCRDCommand + "`"
	}
	switch {
	case len(refused) > 0:
		return condition.New(condition.CRDPatchDegraded, operatorv1.ConditionTrue, condition.CRDNotPatched, fmt.Sprintf(
			"CustomResourceDefinition %s does not allow ClusterCSIDrivers of the names %s: those drivers are not started. %s: they are created then, and outlast the patch",
			clusterCSIDriverCRD, strings.Join(refused, ", "), mend))
	case !keepsSettings(crd):
		return condition.New(condition.CRDPatchDegraded, operatorv1.ConditionFalse, condition.CRDNotPatched, fmt.Sprintf(
			"CustomResourceDefinition %s drops spec.driverConfig.ceph. The drivers keep their settings. To change some, edit the annotation %s of the ClusterCSIDriver, or first do this: %s",
			clusterCSIDriverCRD, driver.SettingsAnnotation, mend))
	}
	return condition.Good(condition.CRDPatchDegraded)
}
