package assets

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// The manifests of the operators themselves lie under the same paths as in
// cluster-storage-operator's assets, where they are copied to.
//
//go:embed csidriveroperators
var operators embed.FS

// Operator returns a manifest of csidriveroperators/ by its path, with placeholders for the
// images, the version and the log level: it is an AssetFunc of library-go.
func Operator(path string) ([]byte, error) {
	content, err := operators.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading asset: %w", err)
	}
	return content, nil
}

// The ClusterRoles that cluster-storage-operator ships for the sidecars of all CSI drivers.
//
//go:embed sharedroles
var sharedRoles embed.FS

// SharedRoles are the manifests of the sidecars' shared ClusterRoles, by the name of the role,
// which is also that of the file.
func SharedRoles() map[string][]byte {
	out := map[string][]byte{}
	err := fs.WalkDir(sharedRoles, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := sharedRoles.ReadFile(name)
		out[strings.TrimSuffix(path.Base(name), ".yaml")] = content
		return err
	})
	if err != nil {
		panic(fmt.Sprintf("reading embedded files: %v", err))
	}
	return out
}
