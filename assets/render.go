package assets

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// renderer turns the embedded files into manifests of one driver.
type renderer struct {
	// dirs are the folders of the driver, shared ones first.
	dirs     []string
	replacer *strings.Replacer
}

func newRenderer(v Values) (renderer, error) {
	if v.Driver.Kind == "" {
		return renderer{}, errors.New("rendering assets: no driver")
	}
	d := v.Driver
	values := map[string]string{
		"DRIVER_NAME":          d.Name,
		"KIND":                 d.Kind,
		"PREFIX":               prefix(d),
		"LEASE":                d.ProvisionerLease(),
		"NAMESPACE":            driver.Namespace,
		"OPERATOR":             d.OperatorName(),
		"CONTROLLER":           d.ControllerName(),
		"NODE":                 d.NodeName(),
		"CONFIG_SECRET":        d.ConfigSecret(),
		"PROVISIONER_SECRET":   d.ProvisionerSecret(),
		"NODE_SECRET":          d.NodeSecret(),
		"METRICS_CERT_SECRET":  d.MetricsCertSecret(),
		"TRUSTED_CA_CONFIGMAP": d.TrustedCAConfigMap(),
		"STORAGE_CLASS":        d.StorageClass,
		"SNAPSHOT_CLASS":       d.SnapshotClass,
	}
	var missing []string
	for _, name := range RequiredImages() {
		image := v.Images[name]
		if image == "" {
			missing = append(missing, name)
		}
		if strings.ContainsAny(image, "\"\\${} \t\r\n") {
			return renderer{}, fmt.Errorf("environment variable %s is not an image: %q", name, image)
		}
		values[name] = image
	}
	if len(missing) > 0 {
		return renderer{}, fmt.Errorf("environment variables without an image: %s", strings.Join(missing, ", "))
	}
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "${"+name+"}", value)
	}
	return renderer{dirs: []string{sharedDir, d.Kind}, replacer: strings.NewReplacer(pairs...)}, nil
}

// folder lists a folder's files of all dirs by their base names; of equal names, the shared
// one comes first.
func (r renderer) folder(name string) ([]string, error) {
	var out []string
	for _, dir := range r.dirs {
		files, err := fs.Glob(sources, path.Join(dir, name, "*.yaml"))
		if err != nil {
			return nil, fmt.Errorf("listing assets of %s: %w", dir, err)
		}
		out = append(out, files...)
	}
	slices.SortStableFunc(out, func(a, b string) int { return strings.Compare(path.Base(a), path.Base(b)) })
	return out, nil
}

// single renders a file of the last dir that has it.
func (r renderer) single(name string) ([]byte, error) {
	for _, dir := range slices.Backward(r.dirs) {
		source := path.Join(dir, name)
		if _, err := fs.Stat(sources, source); err == nil {
			return r.render(source)
		}
	}
	return nil, fmt.Errorf("no asset %q in %s", name, strings.Join(r.dirs, ", "))
}

// has says whether a dir has the file.
func (r renderer) has(name string) bool {
	return slices.ContainsFunc(r.dirs, func(dir string) bool {
		_, err := fs.Stat(sources, path.Join(dir, name))
		return err == nil
	})
}

func (r renderer) render(source string) ([]byte, error) {
	content, err := sources.ReadFile(source)
	if err != nil {
		return nil, fmt.Errorf("reading asset: %w", err)
	}
	return []byte(r.replacer.Replace(string(content))), nil
}

func (r renderer) deployment() ([]byte, error) { return merged[appsv1.Deployment](r, "controller") }

func (r renderer) daemonSet() ([]byte, error) { return merged[appsv1.DaemonSet](r, "node") }

// merged makes one workload of a folder's files.
func merged[T appsv1.Deployment | appsv1.DaemonSet](r renderer, folder string) ([]byte, error) {
	sources, err := r.folder(folder)
	if err != nil {
		return nil, err
	}
	whole := map[string]any{}
	for _, source := range sources {
		content, err := r.render(source)
		if err != nil {
			return nil, err
		}
		if err := yaml.UnmarshalStrict(content, new(T)); err != nil {
			return nil, fmt.Errorf("parsing asset %s: %w", source, err)
		}
		var part map[string]any
		if err := yaml.Unmarshal(content, &part); err != nil {
			return nil, fmt.Errorf("parsing asset %s: %w", source, err)
		}
		merge(whole, part)
	}
	return yaml.Marshal(whole)
}
