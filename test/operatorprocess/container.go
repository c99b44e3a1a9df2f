package operatorprocess

import (
	"errors"
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

// Program is what the image of a container starts.
type Program struct {
	// File is of this machine. Entrypoint is its path in the image.
	File, Entrypoint string
	// User is that of the image.
	User int64
}

// container is how one of a pod runs.
type container struct {
	name, hostname string
	arguments      []string
	environment    []string
	// user is nil where the image's counts.
	user, group *int64
	mounts      []corev1.VolumeMount
	// port is the first that is declared; 0 is none.
	port     int
	writable bool
}

// containersOf refuses what nobody here would give to a container.
func containersOf(pod *corev1.Pod, apiServer string) ([]container, error) {
	if len(pod.Spec.InitContainers) > 0 {
		return nil, fmt.Errorf("pod %s: has init containers, which are not run here", pod.Name)
	}
	var out []container
	for _, c := range pod.Spec.Containers {
		one, err := containerOf(pod, c, apiServer)
		if err != nil {
			return nil, fmt.Errorf("pod %s: container %s: %w", pod.Name, c.Name, err)
		}
		out = append(out, one)
	}
	return out, nil
}

func containerOf(pod *corev1.Pod, c corev1.Container, apiServer string) (container, error) {
	if len(c.Command) > 0 || len(c.EnvFrom) > 0 {
		return container{}, errors.New("the image's program with variables of its own is all that is run here")
	}
	values, environment, err := variables(pod, c.Env)
	if err != nil {
		return container{}, err
	}
	server, err := url.Parse(apiServer)
	if err != nil {
		return container{}, fmt.Errorf("address of the API server: %w", err)
	}
	out := container{name: c.Name, hostname: pod.Name, arguments: make([]string, len(c.Args)), mounts: c.VolumeMounts, writable: true}
	if pod.Spec.HostNetwork {
		out.hostname = pod.Spec.NodeName
	}
	if len(c.Ports) > 0 {
		out.port = int(c.Ports[0].ContainerPort)
	}
	// What a runtime and the kubelet set comes first.
	out.environment = append([]string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME=" + out.hostname, "HOME=/",
		"KUBERNETES_SERVICE_HOST=" + server.Hostname(), "KUBERNETES_SERVICE_PORT=" + server.Port(),
	}, environment...)
	for i, argument := range c.Args {
		out.arguments[i] = values.Replace(argument)
	}
	if s := pod.Spec.SecurityContext; s != nil {
		out.user, out.group = s.RunAsUser, s.RunAsGroup
	}
	if s := c.SecurityContext; s != nil {
		out.writable = !ptr.Deref(s.ReadOnlyRootFilesystem, false)
		if s.RunAsUser != nil {
			out.user = s.RunAsUser
		}
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
				return nil, nil, fmt.Errorf("variable %s is from somewhere unknown", v.Name)
			}
			value = known[v.ValueFrom.FieldRef.FieldPath]
		}
		pairs = append(pairs, "$("+v.Name+")", value)
		out = append(out, v.Name+"="+value)
	}
	return strings.NewReplacer(pairs...), out, nil
}

// plan is the container with the folders that its volumes have, by the volumes' names.
func (c container) plan(config Config, program Program, volumes map[string]volume) (box.Plan, error) {
	out := box.Plan{
		Program: program.File, Arguments: append([]string{program.Entrypoint}, c.arguments...), Environment: c.environment,
		UID: int(ptr.Deref(c.user, program.User)), GID: int(ptr.Deref(c.group, 0)),
		Writable: c.writable, Hostname: c.hostname, Neighbours: len(config.Pod.Spec.Containers) > 1,
	}
	boxed := box.Available() == nil
	var err error
	if boxed {
		if out.Root, err = emptyDir(config.Dir, filepath.Join("root", c.name)); err != nil {
			return box.Plan{}, err
		}
	}
	for _, m := range c.mounts {
		v, known := volumes[m.Name]
		if !known || m.SubPath != "" && v.files == nil && v.folder == "" {
			return box.Plan{}, fmt.Errorf("pod %s: mounts %s from somewhere unknown", config.Pod.Name, m.MountPath)
		}
		mount := box.Mount{Target: m.MountPath, Writable: v.writable && !m.ReadOnly}
		if !v.inMemory || !boxed {
			if mount.Source, err = v.write(config.Dir, m.Name); err != nil {
				return box.Plan{}, err
			}
			if v.folder != "" && m.SubPath != "" { // A kubelet makes it.
				mount.Source, err = emptyDir(v.folder, m.SubPath)
			} else {
				mount.Source = filepath.Join(mount.Source, m.SubPath)
			}
			if err != nil {
				return box.Plan{}, err
			}
		}
		out.Mounts = append(out.Mounts, mount)
	}
	if boxed {
		return out, nil
	}
	if out.Neighbours {
		return box.Plan{}, fmt.Errorf("pod %s: several containers of a pod run only in root file systems of their own: %w", config.Pod.Name, box.Available())
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
