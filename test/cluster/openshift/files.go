package openshift

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

//go:embed manifests
var ownManifests embed.FS

// OperatorRBACFolders are where the operators' ServiceAccounts, roles and bindings lie,
// relative to the repository.
var operatorRBACFolders = []string{
	"assets/csidriveroperators/ceph-rbd",
	"assets/csidriveroperators/ceph-cephfs",
}

// readFiles adds the files that match the patterns to contents, by their base name. A pattern that
// matches nothing is an error.
func readFiles(contents map[string][]byte, dir fs.FS, patterns ...string) error {
	for _, pattern := range patterns {
		names, err := fs.Glob(dir, pattern)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return fmt.Errorf("no file %s in %v: %w", pattern, dir, os.ErrNotExist)
		}
		for _, name := range names {
			content, err := fs.ReadFile(dir, name)
			if err != nil {
				return err
			}
			contents[path.Base(name)] = content
		}
	}
	return nil
}

func loadObjects(dir fs.FS, pattern string) ([]*unstructured.Unstructured, error) {
	contents := map[string][]byte{}
	if err := readFiles(contents, dir, pattern); err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for file, content := range contents {
		objects, err := parse(file, content)
		if err != nil {
			return nil, err
		}
		all = append(all, objects...)
	}
	return all, nil
}

// ownObjects are what OpenShift brings: namespaces, and the roles for the sidecars of all CSI drivers, of which
// the repository at root has copies.
func ownObjects(root string) ([]*unstructured.Unstructured, error) {
	all, err := loadObjects(ownManifests, "manifests/*.yaml")
	if err != nil {
		return nil, err
	}
	roles, err := loadObjects(os.DirFS(filepath.Join(root, "assets", "sharedroles")), "*.yaml")
	return append(all, roles...), err
}

func operatorRBAC(root string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, folder := range operatorRBACFolders {
		objects, err := loadObjects(os.DirFS(filepath.Join(root, filepath.FromSlash(folder))), "*.yaml")
		if err != nil {
			return nil, fmt.Errorf("RBAC of the operator: %w", err)
		}
		all = append(all, objects...)
	}
	return all, nil
}
