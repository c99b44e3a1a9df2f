package operatorprocess

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"
)

// OfPod is how the only container of a pod runs: with its arguments and environment, and with
// the configuration file of its ConfigMap, but on a port of its own.
func OfPod(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod) (Config, error) {
	c := pod.Spec.Containers[0]
	out := Config{Name: c.Name, Variables: map[string]string{}}
	for _, v := range c.Env {
		out.Variables[v.Name] = v.Value
		if v.ValueFrom == nil {
			continue
		}
		if v.ValueFrom.FieldRef == nil || v.ValueFrom.FieldRef.FieldPath != "metadata.name" {
			return out, fmt.Errorf("pod %s: variable %s is from somewhere unknown", pod.Name, v.Name)
		}
		out.Variables[v.Name] = pod.Name
	}
	for _, argument := range c.Args {
		file, isConfig := strings.CutPrefix(argument, "--config=")
		switch {
		case isConfig:
			content, err := mounted(ctx, client, pod, file)
			if err != nil {
				return out, err
			}
			out.Serving = content
		case strings.HasPrefix(argument, "--terminate-on-files="):
			// The file is not kept current here.
		default:
			out.Arguments = append(out.Arguments, argument)
		}
	}
	return out, nil
}

// mounted reads a file of a ConfigMap as the pod sees it.
func mounted(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, file string) (map[string]any, error) {
	for _, mount := range pod.Spec.Containers[0].VolumeMounts {
		if mount.MountPath != filepath.Dir(file) {
			continue
		}
		for _, volume := range pod.Spec.Volumes {
			if volume.Name != mount.Name || volume.ConfigMap == nil {
				continue
			}
			configMap, err := client.CoreV1().ConfigMaps(pod.Namespace).Get(ctx, volume.ConfigMap.Name, metav1.GetOptions{})
			if err != nil {
				return nil, fmt.Errorf("%s of pod %s: %w", file, pod.Name, err)
			}
			out := map[string]any{}
			if err := yaml.Unmarshal([]byte(configMap.Data[filepath.Base(file)]), &out); err != nil {
				return nil, fmt.Errorf("%s of pod %s: %w", file, pod.Name, err)
			}
			return out, nil
		}
	}
	return nil, fmt.Errorf("pod %s mounts no ConfigMap for %s", pod.Name, file)
}
