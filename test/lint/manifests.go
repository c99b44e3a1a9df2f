// Package lint counts in manifests what reviewers and linters look for: what pods may do to their node, and
// how far rights reach.
package lint

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// manifest has what is counted of any kind of object.
type manifest struct {
	metav1.TypeMeta
	Metadata metav1.ObjectMeta   `json:"metadata"`
	Rules    []rbacv1.PolicyRule `json:"rules"`
	RoleRef  rbacv1.RoleRef      `json:"roleRef"`
	Spec     struct {
		Template corev1.PodTemplateSpec `json:"template"`
	} `json:"spec"`
}

// read has all manifests in folders and those below.
func read(folders ...string) ([]manifest, error) {
	var out []manifest
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			found, err := parse(content)
			out = append(out, found...)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("reading manifests: %w", err)
		}
	}
	return out, nil
}

func parse(content []byte) ([]manifest, error) {
	var out []manifest
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		var m manifest
		if err := yaml.Unmarshal(document, &m); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
}
