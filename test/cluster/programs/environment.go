package programs

import (
	"path/filepath"
	"strings"
)

// environment is the go command's: the caller's own, without what would change the build. A
// GOFLAGS of the product (build tags, -mod=vendor) must not reach it; setting it to the default, not
// to nothing, also silences the one of `go env -w`. Without a home, Go's caches go below cache.
func environment(inherited []string, cache string) []string {
	var env []string
	set := map[string]bool{}
	for _, entry := range inherited {
		name, value, _ := strings.Cut(entry, "=")
		if name == "GOFLAGS" || name == "GOWORK" {
			continue
		}
		set[name] = value != ""
		env = append(env, entry)
	}
	env = append(env, "GOFLAGS=-mod=readonly", "GOWORK=off")
	if set["HOME"] {
		return env
	}
	if !set["GOCACHE"] && !set["XDG_CACHE_HOME"] {
		env = append(env, "GOCACHE="+filepath.Join(cache, "go-build"))
	}
	if !set["GOPATH"] {
		env = append(env, "GOPATH="+filepath.Join(cache, "gopath"))
	}
	return env
}
