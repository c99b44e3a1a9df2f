package onnodes

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kibibyte is the unit of /proc.
const kibibyte = 1024

// Container is what one of a pod has in memory.
type Container struct {
	Pod  corev1.Pod
	Name string
	// Private are the bytes that it shares with nobody (RssAnon).
	Private int
}

// Containers are all that run in a namespace, with what the kernels of their nodes say of them. Each
// node is asked for its own processes: others on this machine do not count.
func (c *Cluster) Containers(ctx context.Context, namespace string) ([]Container, error) {
	private := map[string]int{}
	for _, node := range c.Nodes().Members() {
		text, err := c.Nodes().Run(ctx, node.Name, "sh", "-c", "grep -H RssAnon: /proc/[0-9]*/status; grep -H . /proc/[0-9]*/cgroup; true")
		if err != nil {
			return nil, fmt.Errorf("processes of %s: %w", node.Name, err)
		}
		for id, bytes := range privateOf(text) {
			private[id] += bytes
		}
	}
	pods, err := c.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var out []Container
	for _, pod := range pods.Items {
		for _, s := range pod.Status.ContainerStatuses {
			bytes, found := private[s.ContainerID[strings.LastIndex(s.ContainerID, "/")+1:]]
			if !found {
				return nil, fmt.Errorf("container %s of pod %s has no process", s.Name, pod.Name)
			}
			out = append(out, Container{Pod: pod, Name: s.Name, Private: bytes})
		}
	}
	return out, nil
}

var (
	privateLine = regexp.MustCompile(`(?m)^/proc/(\d+)/status:RssAnon:\s+(\d+) kB$`)
	cgroupLine  = regexp.MustCompile(`(?m)^/proc/(\d+)/cgroup:.*\b([0-9a-f]{64})\b`)
)

// privateOf adds up the private bytes of processes by the containers in whose cgroups they are.
func privateOf(text string) map[string]int {
	containers := map[string]string{}
	for _, found := range cgroupLine.FindAllStringSubmatch(text, -1) {
		containers[found[1]] = found[2]
	}
	out := map[string]int{}
	for _, found := range privateLine.FindAllStringSubmatch(text, -1) {
		if id := containers[found[1]]; id != "" {
			kib, _ := strconv.Atoi(found[2])
			out[id] += kib * kibibyte
		}
	}
	return out
}
