package assets_test

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
)

func labelSet(values map[string]string) labels.Set { return labels.Set(values) }

func wrongScheduling(w workload) []string {
	pod := w.template.Spec
	if w.node {
		return unequal(map[string][2]any{
			"priority":         {pod.PriorityClassName, "system-node-critical"},
			"tolerates all":    {slices.Contains(pod.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists}), true},
			"hostNetwork":      {pod.HostNetwork, true},
			"hostPID":          {pod.HostPID, false},
			"dnsPolicy":        {pod.DNSPolicy, corev1.DNSClusterFirstWithHostNet},
			"operating system": {pod.NodeSelector["kubernetes.io/os"], "linux"},
		})
	}
	_, masters := pod.NodeSelector["node-role.kubernetes.io/master"]
	tolerates := func(key string) bool {
		return slices.ContainsFunc(pod.Tolerations, func(t corev1.Toleration) bool {
			return t.Key == key && t.Operator == corev1.TolerationOpExists
		})
	}
	term := pod.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0]
	values := map[string][2]any{
		"priority":              {pod.PriorityClassName, "system-cluster-critical"},
		"on masters":            {masters, true},
		"operating system":      {pod.NodeSelector["kubernetes.io/os"], "linux"},
		"tolerates master":      {tolerates("node-role.kubernetes.io/master"), true},
		"tolerates new name":    {tolerates("node-role.kubernetes.io/control-plane"), true},
		"keeps apart, weight":   {term.Weight, int32(100)},
		"keeps apart, topology": {term.PodAffinityTerm.TopologyKey, "kubernetes.io/hostname"},
		"keeps apart, pods":     {term.PodAffinityTerm.LabelSelector.MatchLabels["app"], w.template.Labels["app"]},
	}
	for _, policy := range []string{"dns", "api-server", "metrics-range", "all-egress"} {
		label := "openshift.storage.network-policy." + policy
		values["label "+label] = [2]any{w.template.Labels[label], "allow"}
	}
	return unequal(values)
}

// tooPrivileged finds containers of node pods that are privileged and need not be, and those that SELinux would
// keep from the socket of the one that is: https://github.com/juicedata/juicefs-csi-driver/issues/1362
func tooPrivileged(w workload) []string {
	values := map[string][2]any{}
	for _, c := range w.template.Spec.Containers {
		if !w.node {
			continue
		}
		mounts := slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPropagation != nil })
		values[c.Name+" is privileged"] = [2]any{ptr.Deref(c.SecurityContext.Privileged, false), mounts}
		if mounts {
			continue
		}
		s := c.SecurityContext
		values[c.Name+" in SELinux"] = [2]any{ptr.Deref(s.SELinuxOptions, corev1.SELinuxOptions{}), corev1.SELinuxOptions{Type: "spc_t", Level: "s0"}}
		values[c.Name+" allowPrivilegeEscalation"] = [2]any{ptr.Deref(s.AllowPrivilegeEscalation, true), false}
		values[c.Name+" drops ALL"] = [2]any{s.Capabilities != nil && slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}), true}
		values[c.Name+" seccomp"] = [2]any{ptr.Deref(s.SeccompProfile, corev1.SeccompProfile{}).Type, corev1.SeccompProfileTypeRuntimeDefault}
	}
	return unequal(values)
}

// notRestricted checks what SCC restricted-v2 and Pod Security `restricted` allow.
func notRestricted(w workload) []string {
	if w.node {
		return nil
	}
	pod := w.template.Spec
	values := map[string][2]any{
		"hostNetwork":  {pod.HostNetwork, false},
		"hostPID":      {pod.HostPID, false},
		"hostIPC":      {pod.HostIPC, false},
		"runAsNonRoot": {*pod.SecurityContext.RunAsNonRoot, true},
		"seccomp":      {pod.SecurityContext.SeccompProfile.Type, corev1.SeccompProfileTypeRuntimeDefault},
		"runAsUser":    {pod.SecurityContext.RunAsUser == nil, true},
	}
	for _, v := range pod.Volumes {
		allowed := v.EmptyDir != nil || v.Secret != nil || v.ConfigMap != nil || v.Projected != nil
		values["volume "+v.Name+" is of an allowed type"] = [2]any{allowed, true}
	}
	for _, c := range pod.Containers {
		s := c.SecurityContext
		values[c.Name+" is privileged"] = [2]any{s.Privileged != nil && *s.Privileged, false}
		values[c.Name+" allowPrivilegeEscalation"] = [2]any{*s.AllowPrivilegeEscalation, false}
		values[c.Name+" drops ALL"] = [2]any{slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}), true}
		values[c.Name+" adds none"] = [2]any{len(s.Capabilities.Add), 0}
		values[c.Name+" hostPorts"] = [2]any{slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.HostPort != 0 }), false}
	}
	return unequal(values)
}
