package lint

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// ofPods are the classes of findings in what a pod's template asks for.
var ofPods = []class[corev1.PodSpec]{
	{"pods in the node's network", func(p corev1.PodSpec) int { return number(p.HostNetwork) }},
	{"pods among the node's processes", func(p corev1.PodSpec) int { return number(p.HostPID) }},
	{"pods in the node's IPC", func(p corev1.PodSpec) int { return number(p.HostIPC) }},
	{"folders of the node in pods", hostPaths},
	{"folders of the node that containers may write to", writtenHostPaths},
	{"privileged containers", containers(func(_ corev1.PodSpec, s corev1.SecurityContext) bool { return ptr.Deref(s.Privileged, false) })},
	{"containers with a root file system to write to", containers(func(_ corev1.PodSpec, s corev1.SecurityContext) bool {
		return !ptr.Deref(s.ReadOnlyRootFilesystem, false)
	})},
	{"containers that may run as root", containers(func(p corev1.PodSpec, s corev1.SecurityContext) bool {
		return !ptr.Deref(ownOr(s.RunAsNonRoot, of(p).RunAsNonRoot), false)
	})},
	{"containers that may gain privileges", containers(func(_ corev1.PodSpec, s corev1.SecurityContext) bool {
		return ptr.Deref(s.AllowPrivilegeEscalation, true)
	})},
	{"containers that keep capabilities", containers(func(_ corev1.PodSpec, s corev1.SecurityContext) bool {
		return s.Capabilities == nil || !slices.Contains(s.Capabilities.Drop, "ALL") || len(s.Capabilities.Add) > 0
	})},
	{"containers without a seccomp profile", containers(func(p corev1.PodSpec, s corev1.SecurityContext) bool {
		profile := ownOr(s.SeccompProfile, of(p).SeccompProfile)
		return profile == nil || profile.Type == corev1.SeccompProfileTypeUnconfined
	})},
	{"containers without requests of CPU and memory", withoutRequests},
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

// ownOr is the container's setting, or the pod's.
func ownOr[T any](container, pod *T) *T {
	if container != nil {
		return container
	}
	return pod
}

func of(p corev1.PodSpec) corev1.PodSecurityContext {
	return ptr.Deref(p.SecurityContext, corev1.PodSecurityContext{})
}

func all(p corev1.PodSpec) []corev1.Container { return slices.Concat(p.InitContainers, p.Containers) }

func containers(found func(corev1.PodSpec, corev1.SecurityContext) bool) func(corev1.PodSpec) int {
	return func(p corev1.PodSpec) int {
		count := 0
		for _, c := range all(p) {
			count += number(found(p, ptr.Deref(c.SecurityContext, corev1.SecurityContext{})))
		}
		return count
	}
}

func withoutRequests(p corev1.PodSpec) int {
	count := 0
	for _, c := range all(p) {
		_, cpu := c.Resources.Requests[corev1.ResourceCPU]
		_, memory := c.Resources.Requests[corev1.ResourceMemory]
		count += number(!cpu || !memory)
	}
	return count
}

func hostPaths(p corev1.PodSpec) int {
	count := 0
	for _, v := range p.Volumes {
		count += number(v.HostPath != nil)
	}
	return count
}

// writtenHostPaths counts a folder once for each container that may write to it.
func writtenHostPaths(p corev1.PodSpec) int {
	count := 0
	for _, v := range p.Volumes {
		if v.HostPath == nil {
			continue
		}
		for _, c := range all(p) {
			count += number(slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == v.Name && !m.ReadOnly }))
		}
	}
	return count
}
