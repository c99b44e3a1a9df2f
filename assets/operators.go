package assets

import (
	"embed"
	"fmt"
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
