package operatorprocess

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess/box"
)

// accountPath is where client-go looks for the token, the CA and the namespace of a pod.
const accountPath = "/var/run/secrets/kubernetes.io/serviceaccount"

// container is how a pod's only container runs.
type container struct {
	name        string
	arguments   []string
	environment []string
	// user is nil where the image's counts.
	user, group *int64
	mounts      []corev1.VolumeMount
	// port is the first that is declared.
	port int
}

// containerOf refuses what nobody here would give to the container.
func containerOf(pod *corev1.Pod, apiServer string) (container, error) {
	if len(pod.Spec.Containers) != 1 || len(pod.Spec.InitContainers) > 0 {
		return container{}, fmt.Errorf("pod %s: has not one container", pod.Name)
	}
	c := pod.Spec.Containers[0]
	if len(c.Command) > 0 || len(c.EnvFrom) > 0 || len(c.Ports) == 0 {
		return container{}, fmt.Errorf("pod %s: the image's program with variables of its own, that declares a port, is all that is run here", pod.Name)
	}
	values, environment, err := variables(pod, c.Env)
	if err != nil {
		return container{}, err
	}
	server, err := url.Parse(apiServer)
	if err != nil {
		return container{}, fmt.Errorf("address of the API server: %w", err)
	}
	out := container{
		name: c.Name, arguments: make([]string, len(c.Args)), mounts: c.VolumeMounts, port: int(c.Ports[0].ContainerPort),
		// What a runtime and the kubelet set comes first.
		environment: append([]string{
			"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME=" + pod.Name, "HOME=/",
			"KUBERNETES_SERVICE_HOST=" + server.Hostname(), "KUBERNETES_SERVICE_PORT=" + server.Port(),
		}, environment...),
	}
	for i, argument := range c.Args {
		out.arguments[i] = values.Replace(argument)
	}
	if s := pod.Spec.SecurityContext; s != nil {
		out.user, out.group = s.RunAsUser, s.RunAsGroup
	}
	if s := c.SecurityContext; s != nil && s.RunAsUser != nil {
		out.user = s.RunAsUser
	}
	return out, nil
}

// variables are those of the pod, and what replaces them in arguments.
func variables(pod *corev1.Pod, env []corev1.EnvVar) (*strings.Replacer, []string, error) {
	var pairs, out []string
	for _, v := range env {
		value := strings.NewReplacer(pairs...).Replace(v.Value)
		if v.ValueFrom != nil {
			known := map[string]string{"metadata.name": pod.Name, "metadata.namespace": pod.Namespace, "spec.nodeName": pod.Spec.NodeName}
			if v.ValueFrom.FieldRef == nil || known[v.ValueFrom.FieldRef.FieldPath] == "" {
				return nil, nil, fmt.Errorf("pod %s: variable %s is from somewhere unknown", pod.Name, v.Name)
			}
			value = known[v.ValueFrom.FieldRef.FieldPath]
		}
		pairs = append(pairs, "$("+v.Name+")", value)
		out = append(out, v.Name+"="+value)
	}
	return strings.NewReplacer(pairs...), out, nil
}

// plan is the container with the files that its volumes have, by the volumes' names.
func (c container) plan(config Config, volumes map[string]volume) (box.Plan, error) {
	image, err := readImage()
	if err != nil {
		return box.Plan{}, err
	}
	out := box.Plan{
		Program: config.Binary, Arguments: append([]string{image.entrypoint}, c.arguments...), Environment: c.environment,
		UID: int(ptr.Deref(c.user, image.user)), GID: int(ptr.Deref(c.group, 0)),
	}
	boxed := box.Available() == nil
	if boxed {
		if out.Root, err = emptyDir(config.Dir, "root"); err != nil {
			return box.Plan{}, err
		}
	}
	for _, m := range c.mounts {
		v, known := volumes[m.Name]
		if !known || m.SubPath != "" {
			return box.Plan{}, fmt.Errorf("pod %s: mounts %s from somewhere unknown", config.Pod.Name, m.MountPath)
		}
		mount := box.Mount{Target: m.MountPath, Writable: v.writable && !m.ReadOnly}
		if !v.inMemory || !boxed {
			if mount.Source, err = v.write(config.Dir, m.Name); err != nil {
				return box.Plan{}, err
			}
		}
		out.Mounts = append(out.Mounts, mount)
	}
	if boxed {
		return out, nil
	}
	return outside(out, config)
}

// outside is a plan for the machine's own root file system, where nothing can be mounted: as the
// user who calls, arguments name the files where they are instead of where they would be mounted,
// TMPDIR stands for /tmp, and --kubeconfig for the files of the ServiceAccount, which client-go
// looks for at one path only. Of the serving certificate the same is true: the operator makes one.
func outside(plan box.Plan, config Config) (box.Plan, error) {
	var pairs, added []string
	for _, m := range plan.Mounts {
		pairs = append(pairs, "="+m.Target+"/", "="+m.Source+"/")
		switch m.Target {
		case "/tmp":
			plan.Environment = append(slices.Clone(plan.Environment), "TMPDIR="+m.Source)
		case accountPath:
			kubeconfig := filepath.Join(config.Dir, "kubeconfig")
			if err := writeKubeconfig(kubeconfig, m.Source, config.APIServer); err != nil {
				return box.Plan{}, err
			}
			added = append(added, "--kubeconfig="+kubeconfig)
		}
	}
	places := strings.NewReplacer(pairs...)
	for i, argument := range plan.Arguments {
		plan.Arguments[i] = places.Replace(argument)
	}
	plan.Arguments, plan.Mounts = append(plan.Arguments, added...), nil
	return plan, nil
}

func writeKubeconfig(file, account, apiServer string) error {
	const name = "pod"
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: apiServer, CertificateAuthority: path.Join(account, corev1.ServiceAccountRootCAKey)}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {TokenFile: path.Join(account, corev1.ServiceAccountTokenKey)}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}, file)
}
