package operatorprocess

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// binaryVariable names a binary to use instead of the one that `make build` makes.
const binaryVariable = "OPERATOR_BINARY"

// Binary is the path of the operator that `make build` makes, or of the one that the
// environment variable OPERATOR_BINARY names.
func Binary() (string, error) {
	path := os.Getenv(binaryVariable)
	if path == "" {
		root, err := repository.Root()
		if err != nil {
			return "", err
		}
		path = filepath.Join(root, "bin", "ceph-csi-driver-operator")
	}
	_, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("there is no %s: run `make build`, or name another operator in %s", path, binaryVariable)
	}
	if err != nil {
		return "", fmt.Errorf("the operator's binary: %w", err)
	}
	return path, nil
}

// readImage is what the Dockerfile says of containers.
func readImage() (Program, error) {
	content, err := fromRepository("Dockerfile")
	if err != nil {
		return Program{}, err
	}
	user := regexp.MustCompile(`(?m)^USER (\d+)$`).FindSubmatch(content)
	entrypoint := regexp.MustCompile(`(?m)^ENTRYPOINT (.+)$`).FindSubmatch(content)
	if user == nil || entrypoint == nil {
		return Program{}, errors.New("the Dockerfile names no user by number or no entry point")
	}
	var words []string
	if err := json.Unmarshal(entrypoint[1], &words); err != nil || len(words) != 1 {
		return Program{}, fmt.Errorf("the Dockerfile's entry point %s is not one program: %w", entrypoint[1], err)
	}
	id, err := strconv.ParseInt(string(user[1]), 10, 64)
	return Program{Entrypoint: words[0], User: id}, err
}

func fromRepository(path string) ([]byte, error) {
	root, err := repository.Root()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(root, path))
}

// Deployment is that of a driver's operator, as cluster-storage makes it with the environment that
// the manifests give to it.
func Deployment(d driver.Driver) (*appsv1.Deployment, error) {
	out := &appsv1.Deployment{}
	return out, render(d, func(c configs.CSIOperatorConfig) string { return c.DeploymentAsset }, out)
}

// Environment has the variables that the Deployment sets.
func Environment(d driver.Driver) (map[string]string, error) {
	deployment, err := Deployment(d)
	if err != nil {
		return nil, err
	}
	return values(deployment), nil
}

func values(d *appsv1.Deployment) map[string]string {
	out := map[string]string{}
	for _, v := range d.Spec.Template.Spec.Containers[0].Env {
		out[v.Name] = v.Value
	}
	return out
}

// render reads an asset of a driver's operator into an object.
func render(d driver.Driver, asset func(configs.CSIOperatorConfig) string, into any) error {
	content, err := fromRepository("manifests/10_deployment.yaml")
	if err != nil {
		return err
	}
	glue := &appsv1.Deployment{}
	if err := yaml.UnmarshalStrict(content, glue); err != nil {
		return fmt.Errorf("parsing manifests/10_deployment.yaml: %w", err)
	}
	environment := values(glue)
	all := configs.Configs(configs.Cluster{Getenv: func(name string) string { return environment[name] }})
	config := all[slices.IndexFunc(all, func(c configs.CSIOperatorConfig) bool { return c.CSIDriverName == d.Name })]
	if content, err = assets.Operator(asset(config)); err != nil {
		return err
	}
	pairs := []string{"${LOG_LEVEL}", "2"}
	for name, value := range environment {
		if name != configs.EnvVersion && name != "POD_NAME" {
			pairs = append(pairs, "${"+name+"}", value)
		}
	}
	text := config.ImageReplacer.Replace(strings.NewReplacer(pairs...).Replace(string(content)))
	if i := strings.Index(text, "${"); i >= 0 {
		return fmt.Errorf("%s: no value for %s", asset(config), strings.SplitAfter(text[i:], "}")[0])
	}
	return yaml.UnmarshalStrict([]byte(text), into)
}

// Prepare makes what the pods of a driver's operator mount, as cluster-storage does: the ConfigMap
// with --config, and the Service for which OpenShift makes a certificate.
func Prepare(ctx context.Context, client kubernetes.Interface, d driver.Driver) error {
	configMap, service := &corev1.ConfigMap{}, &corev1.Service{}
	err := errors.Join(
		render(d, func(c configs.CSIOperatorConfig) string { return c.StandaloneOperatorConfigAsset }, configMap),
		render(d, func(c configs.CSIOperatorConfig) string { return c.StaticAssets[0] }, service))
	if err != nil {
		return err
	}
	if _, err := client.CoreV1().ConfigMaps(configMap.Namespace).Create(ctx, configMap, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if _, err := client.CoreV1().Services(service.Namespace).Create(ctx, service, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// PodOf is a pod of the Deployment, with what the API server would add to it. Its name is always
// the same, so that a killed operator finds its own lease.
func PodOf(d *appsv1.Deployment) *corev1.Pod {
	out := &corev1.Pod{ObjectMeta: *d.Spec.Template.ObjectMeta.DeepCopy(), Spec: *d.Spec.Template.Spec.DeepCopy()}
	out.Name, out.Namespace = d.Name+"-0", d.Namespace
	const name = "kube-api-access"
	sources := []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: corev1.ServiceAccountTokenKey, ExpirationSeconds: ptr.To[int64](3607)}},
		{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
			Items:                []corev1.KeyToPath{{Key: corev1.ServiceAccountRootCAKey, Path: corev1.ServiceAccountRootCAKey}},
		}},
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{
			Path: corev1.ServiceAccountNamespaceKey, FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"},
		}}}},
	}
	out.Spec.Volumes = append(out.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: sources}}})
	for i := range out.Spec.Containers {
		c := &out.Spec.Containers[i]
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: accountPath, ReadOnly: true})
	}
	return out
}
