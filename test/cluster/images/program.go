package images

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/programs"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
)

// sidecars are the real ones, by the variables of their images.
var sidecars = map[string]string{
	"PROVISIONER_IMAGE": "csi-provisioner",
	"ATTACHER_IMAGE":    "csi-attacher",
	"RESIZER_IMAGE":     "csi-resizer",
	"SNAPSHOTTER_IMAGE": "csi-snapshotter",
}

// standIns are programs of test/standins, by the variables of the images whose place they take.
var standIns = map[string]string{
	driverVariable:    "cephcsi",
	registrarVariable: "nodedriverregistrar",
	livenessVariable:  "livenessprobe",
	proxyVariable:     "kuberbacproxy",
}

// Program is what the image of that name starts, built now unless it is there. The name is one that
// the manifests carry.
func Program(ctx context.Context, log io.Writer, image string) (operatorprocess.Program, error) {
	all, err := recipes()
	if err != nil {
		return operatorprocess.Program{}, err
	}
	i := slices.IndexFunc(all, func(r recipe) bool { return r.name == image })
	if i < 0 {
		return operatorprocess.Program{}, fmt.Errorf("image %s: the manifests name no such image", image)
	}
	r := all[i]
	out := operatorprocess.Program{Entrypoint: r.entrypoint[0]}
	if out.User, err = strconv.ParseInt(cmp.Or(r.user, "0"), 10, 64); err != nil {
		return out, fmt.Errorf("user of image %s: %w", image, err)
	}
	out.File, err = r.program(ctx, log)
	return out, err
}

func program(ctx context.Context, log io.Writer, variable string) (string, error) {
	var installed programs.Installed
	var err error
	name := sidecars[variable]
	switch {
	case variable == operatorVariable:
		return operatorprocess.Binary()
	case name != "":
		installed, err = programs.EnsureSidecars(ctx, log)
	default:
		name = standIns[variable]
		installed, err = programs.EnsureStandIns(ctx, log)
	}
	if err != nil {
		return "", err
	}
	if name != "" {
		_, err := os.Stat(installed.Path(name))
		return installed.Path(name), err
	}
	return "", fmt.Errorf("variable %s of the manifests names an image of which no program is known", variable)
}
