package assets

import (
	"fmt"
	"regexp"
	"slices"
)

var placeholder = regexp.MustCompile(`\$\{[^}]*\}?`)

// leftForLibraryGo are the placeholders that library-go replaces, by asset. In the DaemonSet it
// does not know the cluster, in all other assets none at all.
var leftForLibraryGo = map[string][]string{
	Controller: {"${CLUSTER_ID}", "${LOG_LEVEL}", "${TLS_CIPHER_SUITES}", "${TLS_MIN_VERSION}"},
	Node:       {"${LOG_LEVEL}", "${TLS_CIPHER_SUITES}", "${TLS_MIN_VERSION}"},
}

// check refuses placeholders that nobody would replace. That every asset can be parsed is
// tested: it does not depend on the values, and costs a start more than all else here.
func (s Set) check() error {
	for _, name := range s.Names() {
		content := s.content[name]
		for _, found := range placeholder.FindAll(content, -1) {
			if !slices.Contains(leftForLibraryGo[name], string(found)) {
				return fmt.Errorf("asset %s: no value for %s", name, found)
			}
		}
	}
	return nil
}
