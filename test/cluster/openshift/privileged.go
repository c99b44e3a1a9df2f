package openshift

import (
	"context"

	securityv1 "github.com/openshift/api/security/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// createPrivileged makes the SecurityContextConstraints by which privileged pods are admitted.
// Nothing here admits by them: they are there to be looked at.
func (o *OpenShift) createPrivileged(ctx context.Context) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&securityv1.SecurityContextConstraints{
		TypeMeta:                 metav1.TypeMeta{APIVersion: securityv1.GroupVersion.String(), Kind: "SecurityContextConstraints"},
		ObjectMeta:               named("privileged"),
		AllowPrivilegedContainer: true,
		AllowHostDirVolumePlugin: true,
		AllowHostNetwork:         true,
		AllowHostPorts:           true,
		AllowHostPID:             true,
		AllowHostIPC:             true,
		AllowedCapabilities:      []corev1.Capability{"*"},
		Volumes:                  []securityv1.FSType{securityv1.FSTypeAll},
		RunAsUser:                securityv1.RunAsUserStrategyOptions{Type: securityv1.RunAsUserStrategyRunAsAny},
		SELinuxContext:           securityv1.SELinuxContextStrategyOptions{Type: securityv1.SELinuxStrategyRunAsAny},
		FSGroup:                  securityv1.FSGroupStrategyOptions{Type: securityv1.FSGroupStrategyRunAsAny},
		SupplementalGroups:       securityv1.SupplementalGroupsStrategyOptions{Type: securityv1.SupplementalGroupsStrategyRunAsAny},
	})
	if err != nil {
		return err
	}
	constraints := o.dynamic.Resource(securityv1.GroupVersion.WithResource("securitycontextconstraints"))
	_, err = constraints.Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	return err
}
