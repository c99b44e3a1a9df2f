package operator

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/operator/resource/resourceread"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Names of the snapshotter's container and of its feature gates in assets: it releases its lease
// only while it does not care for group snapshots.
const (
	snapshotterContainer = "csi-snapshotter"
	groupSnapshots       = "CSIVolumeGroupSnapshot=true,ReleaseLeaderElectionOnExit=false"
	noGroupSnapshots     = "CSIVolumeGroupSnapshot=false,ReleaseLeaderElectionOnExit=true"
)

// groupSnapshotCRDs are what the gate needs, in the version that the snapshotter asks for:
// otherwise it waits for its informers for ever, and makes no plain snapshot either.
var groupSnapshotCRDs = []string{
	"volumegroupsnapshotclasses.groupsnapshot.storage.k8s.io",
	"volumegroupsnapshotcontents.groupsnapshot.storage.k8s.io",
}

// upstreamSnapshotter is an image of the Kubernetes project, or a copy under its name.
var upstreamSnapshotter = regexp.MustCompile(`csi-snapshotter:v(\d+)\.(\d+)\.`)

// groupSnapshotVersion is what the snapshotter of an image asks for. An image that does not tell
// its release is of OpenShift's, whose release is that of the operator.
func groupSnapshotVersion(image string) string {
	found := upstreamSnapshotter.FindStringSubmatch(image)
	if found == nil {
		return "v1"
	}
	major, _ := strconv.Atoi(found[1])
	minor, _ := strconv.Atoi(found[2])
	switch {
	case major > 8 || major == 8 && minor >= 6:
		return "v1"
	case major == 8 && minor >= 4:
		return "v1beta2"
	}
	return "v1beta1"
}

// groupSnapshotsOffered says whether the driver of a pod offers them.
func groupSnapshotsOffered(d driver.Driver, pod corev1.PodSpec) bool {
	return d.OffersGroupSnapshots(driver.ImageIn(pod))
}

// snapshotManifests are the snapshot classes that the driver offers.
func snapshotManifests(d driver.Driver, set assets.Set) [][]byte {
	out := [][]byte{set.Manifest(assets.VolumeSnapshotClass)}
	if groupSnapshotsOffered(d, resourceread.ReadDeploymentV1OrDie(set.Controller()).Spec.Template.Spec) {
		out = append(out, set.Manifest(assets.VolumeGroupSnapshotClass))
	}
	return out
}

// driverImage is the driver's on the nodes.
func driverImage(set assets.Set) string {
	return driver.ImageIn(resourceread.ReadDaemonSetV1OrDie(set.Node()).Spec.Template.Spec)
}

// withGroupSnapshots turns the gate off where the driver does not offer them, or the API server does
// not serve what it needs.
func withGroupSnapshots(d driver.Driver, served func(crd string) []string) func(*operatorv1.OperatorSpec, *appsv1.Deployment) error {
	return func(_ *operatorv1.OperatorSpec, deployment *appsv1.Deployment) error {
		containers := deployment.Spec.Template.Spec.Containers
		at := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == snapshotterContainer })
		if at < 0 {
			return fmt.Errorf("no container %s in Deployment %s", snapshotterContainer, deployment.Name)
		}
		version := groupSnapshotVersion(containers[at].Image)
		if groupSnapshotsOffered(d, deployment.Spec.Template.Spec) && !slices.ContainsFunc(groupSnapshotCRDs, func(crd string) bool { return !slices.Contains(served(crd), version) }) {
			return nil
		}
		args := containers[at].Args
		for i := range args {
			args[i] = strings.Replace(args[i], groupSnapshots, noGroupSnapshots, 1)
		}
		return nil
	}
}
