package operatorprocess

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// defaultMode is that of files in volumes that name none.
const defaultMode int32 = 0o644

// volume is what a container sees where it mounts it.
type volume struct {
	files map[string][]byte
	mode  os.FileMode
	// inMemory ones are empty and writable.
	inMemory, writable bool
	// folder is that of the node.
	folder string
	// renewal is when its token is due to be replaced; the zero time is never.
	renewal time.Time
}

// volumes are those of the pod, by their names.
func (c Config) volumes(ctx context.Context) (map[string]volume, error) {
	out := map[string]volume{}
	for _, v := range c.Pod.Spec.Volumes {
		found, err := c.volume(ctx, v)
		if err != nil {
			return nil, fmt.Errorf("volume %s of pod %s: %w", v.Name, c.Pod.Name, err)
		}
		out[v.Name] = found
	}
	return out, nil
}

func (c Config) volume(ctx context.Context, v corev1.Volume) (volume, error) {
	switch {
	case v.EmptyDir != nil:
		return volume{inMemory: v.EmptyDir.Medium == corev1.StorageMediumMemory, writable: true}, nil
	case v.HostPath != nil:
		folder, err := c.ofNode(*v.HostPath)
		return volume{folder: folder, writable: true}, err
	case v.ConfigMap != nil:
		files, err := c.configMap(ctx, v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional)
		return volume{files: files, mode: modeOf(v.ConfigMap.DefaultMode)}, err
	case v.Secret != nil:
		files, err := c.secret(ctx, v.Secret.SecretName, v.Secret.Items, v.Secret.Optional)
		return volume{files: files, mode: modeOf(v.Secret.DefaultMode)}, err
	case v.DownwardAPI != nil:
		files, err := c.ofPod(v.DownwardAPI.Items)
		return volume{files: files, mode: modeOf(v.DownwardAPI.DefaultMode)}, err
	case v.Projected != nil:
		return c.projection(ctx, *v.Projected)
	}
	return volume{}, fmt.Errorf("is of a kind that is not known here")
}

// ofNode is a folder of the node, made where a kubelet would make it.
func (c Config) ofNode(source corev1.HostPathVolumeSource) (string, error) {
	if c.Node == "" {
		return "", fmt.Errorf("is of a node, and there is none here")
	}
	folder := filepath.Join(c.Node, source.Path)
	if ptr.Deref(source.Type, corev1.HostPathUnset) == corev1.HostPathDirectoryOrCreate {
		return emptyDir(c.Node, source.Path)
	}
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", folder)
	}
	return folder, err
}

func modeOf(mode *int32) os.FileMode { return os.FileMode(ptr.Deref(mode, defaultMode)) }

func (c Config) projection(ctx context.Context, of corev1.ProjectedVolumeSource) (volume, error) {
	out := volume{files: map[string][]byte{}, mode: modeOf(of.DefaultMode)}
	for _, source := range of.Sources {
		if source.ServiceAccountToken != nil {
			token, err := c.token(ctx, *source.ServiceAccountToken)
			if err != nil {
				return volume{}, err
			}
			out.files[source.ServiceAccountToken.Path] = []byte(token.Token)
			out.renewal = time.Now().Add(time.Duration(renewalAge * float64(time.Until(token.ExpirationTimestamp.Time))))
			continue
		}
		files, err := c.projected(ctx, source)
		if err != nil {
			return volume{}, err
		}
		maps.Copy(out.files, files)
	}
	return out, nil
}

// token is not bound to the pod, which ends here at the moment of its deletion, before its process.
func (c Config) token(ctx context.Context, source corev1.ServiceAccountTokenProjection) (authenticationv1.TokenRequestStatus, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: source.ExpirationSeconds}}
	if source.Audience != "" {
		request.Spec.Audiences = []string{source.Audience}
	}
	answer, err := c.Client.CoreV1().ServiceAccounts(c.Pod.Namespace).CreateToken(ctx, c.Pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
	if err != nil {
		return authenticationv1.TokenRequestStatus{}, err
	}
	return answer.Status, nil
}

func (c Config) projected(ctx context.Context, source corev1.VolumeProjection) (map[string][]byte, error) {
	switch {
	case source.ConfigMap != nil:
		return c.configMap(ctx, source.ConfigMap.Name, source.ConfigMap.Items, source.ConfigMap.Optional)
	case source.Secret != nil:
		return c.secret(ctx, source.Secret.Name, source.Secret.Items, source.Secret.Optional)
	case source.DownwardAPI != nil:
		return c.ofPod(source.DownwardAPI.Items)
	}
	return nil, fmt.Errorf("projects something that is not known here")
}

// ofPod are files with fields of the pod.
func (c Config) ofPod(items []corev1.DownwardAPIVolumeFile) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, item := range items {
		if item.FieldRef == nil {
			return nil, fmt.Errorf("shows what is no field of the pod")
		}
		text := c.Pod.Namespace
		if item.FieldRef.FieldPath != "metadata.namespace" {
			key, is := strings.CutPrefix(item.FieldRef.FieldPath, "metadata.annotations['")
			annotation, found := c.Pod.Annotations[strings.TrimSuffix(key, "']")]
			if !is || !found {
				return nil, fmt.Errorf("shows %s, which is not known here", item.FieldRef.FieldPath)
			}
			text = annotation
		}
		out[item.Path] = []byte(text)
	}
	return out, nil
}

func (c Config) configMap(ctx context.Context, name string, items []corev1.KeyToPath, optional *bool) (map[string][]byte, error) {
	found, err := c.Client.CoreV1().ConfigMaps(c.Pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, unless(optional, err)
	}
	data := map[string][]byte{}
	for key, text := range found.Data {
		data[key] = []byte(text)
	}
	return chosen(data, items), nil
}

func (c Config) secret(ctx context.Context, name string, items []corev1.KeyToPath, optional *bool) (map[string][]byte, error) {
	found, err := c.Client.CoreV1().Secrets(c.Pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, unless(optional, err)
	}
	return chosen(found.Data, items), nil
}

// unless is err where what is missing is not optional.
func unless(optional *bool, err error) error {
	if ptr.Deref(optional, false) && apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func chosen(data map[string][]byte, items []corev1.KeyToPath) map[string][]byte {
	if items == nil {
		return data
	}
	out := map[string][]byte{}
	for _, item := range items {
		if content, ok := data[item.Key]; ok {
			out[item.Path] = content
		}
	}
	return out
}

// write returns a folder with the volume's files.
func (v volume) write(dir, name string) (string, error) {
	if v.folder != "" {
		return v.folder, nil
	}
	folder, err := emptyDir(dir, filepath.Join("volumes", name))
	if err != nil {
		return "", err
	}
	if v.writable {
		return folder, os.Chmod(folder, 0o777)
	}
	for file, content := range v.files {
		if err := replace(filepath.Join(folder, file), content, v.mode); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// replace writes a file that nobody sees half of.
func replace(path string, content []byte, mode os.FileMode) error {
	written := path + ".new"
	if err := os.WriteFile(written, content, mode); err != nil {
		return err
	}
	if err := os.Chmod(written, mode); err != nil {
		return err
	}
	return os.Rename(written, path)
}

// emptyDir is one that every user may look into who gets there.
func emptyDir(dir, name string) (string, error) {
	folder := filepath.Join(dir, name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	return folder, os.Chmod(folder, 0o755)
}
