package programs

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// pins is a module below test/cluster whose programs are built when they are asked for.
type pins struct {
	builder
	// inputs are the contents of the files that the programs depend on.
	inputs []string
	// target is the programs' folder in the cache.
	target string
}

func pinned(log io.Writer, folder string, files ...string) (pins, error) {
	root, err := repository.Root()
	if err != nil {
		return pins{}, err
	}
	cache, err := CacheRoot(log)
	if err != nil {
		return pins{}, err
	}
	module := filepath.Join(root, "test", "cluster", folder)
	paths := make([]string, 0, len(files))
	for _, file := range files {
		paths = append(paths, filepath.Join(module, file))
	}
	inputs, err := readAll(paths...)
	if err != nil {
		return pins{}, fmt.Errorf("module test/cluster/%s: %w", folder, err)
	}
	b := builder{module: module, root: root, cache: cache, log: log}
	return pins{builder: b, inputs: inputs, target: filepath.Join(cache, folder+"-"+key(inputs...))}, nil
}
