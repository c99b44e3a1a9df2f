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

// plainSnapshots gives the arguments in assets those of a snapshotter that releases its lease: this may then be as long as
// the others', and the snapshotter outlasts a minute without API server.
var plainSnapshots = strings.NewReplacer(
	groupSnapshots, noGroupSnapshots,
	"--leader-election-lease-duration=30s", "--leader-election-lease-duration=90s",
	"--leader-election-renew-deadline=20s", "--leader-election-renew-deadline=78s",
)

// groupSnapshotCRDs are what the gate needs, in the version that the snapshotter asks for:
// otherwise it waits for its informers for ever, and makes no plain snapshot either.
var groupSnapshotCRDs = []string{
	"volumegroupsnapshotclasses.groupsnapshot.storage.k8s.io",
	"volumegroupsnapshotcontents.groupsnapshot.storage.k8s.io",
}

// snapshotter is an image that tells its release, by the name that it has upstream or in OpenShift, and since which
// release it asks for which version of the API: the informers that cmd/csi-snapshotter/main.go makes.
type snapshotter struct {
	image       *regexp.Regexp
	v1, v1beta2 [2]int
}

var snapshotters = []snapshotter{
	{regexp.MustCompile(`csi-snapshotter:v(\d+)\.(\d+)\.`), [2]int{8, 6}, [2]int{8, 4}},
	{regexp.MustCompile(`csi-external-snapshotter(?:-rhel\d+)?:v?(\d+)\.(\d+)\b`), [2]int{4, 23}, [2]int{4, 21}},
}

// groupSnapshotVersion is what the snapshotter of an image asks for. One that does not tell its release is taken for a
// newer one of OpenShift's.
func groupSnapshotVersion(image string) string {
	for _, s := range snapshotters {
		found := s.image.FindStringSubmatch(image)
		if found == nil {
			continue
		}
		major, _ := strconv.Atoi(found[1])
		minor, _ := strconv.Atoi(found[2])
		since := func(release [2]int) bool { return slices.Compare([]int{major, minor}, release[:]) >= 0 }
		switch {
		case since(s.v1):
			return "v1"
		case since(s.v1beta2):
			return "v1beta2"
		}
		return "v1beta1"
	}
	return "v1"
}

// groupSnapshotsOffered says whether the driver of a pod offers them.
func groupSnapshotsOffered(d driver.Driver, pod corev1.PodSpec) bool {
	return d.OffersGroupSnapshots(driver.ImageIn(pod))
}

// snapshotManifests are the snapshot classes that the driver offers.
func snapshotManifests(d driver.Driver, set assets.Set) [][]byte {
	out := [][]byte{set.Manifest(assets.VolumeSnapshotClass)}
	if groupSnapshotsOffered(d, controllerPod(set)) {
		out = append(out, set.Manifest(assets.VolumeGroupSnapshotClass))
	}
	return out
}

func controllerPod(set assets.Set) corev1.PodSpec {
	return resourceread.ReadDeploymentV1OrDie(set.Controller()).Spec.Template.Spec
}

// groupSnapshotsTaken says whether the controller pods do so.
func groupSnapshotsTaken(d driver.Driver, set assets.Set, served func(crd string) []string) func() bool {
	pod := controllerPod(set)
	return func() bool { return takesGroupSnapshots(d, pod, served) }
}

// takesGroupSnapshots says whether a pod's driver and snapshotter do so: the latter asks for one version of their API.
func takesGroupSnapshots(d driver.Driver, pod corev1.PodSpec, served func(crd string) []string) bool {
	at := slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == snapshotterContainer })
	if at < 0 || !groupSnapshotsOffered(d, pod) {
		return false
	}
	version := groupSnapshotVersion(pod.Containers[at].Image)
	return !slices.ContainsFunc(groupSnapshotCRDs, func(crd string) bool { return !slices.Contains(served(crd), version) })
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
		if takesGroupSnapshots(d, deployment.Spec.Template.Spec, served) {
			return nil
		}
		args := containers[at].Args
		for i := range args {
			args[i] = plainSnapshots.Replace(args[i])
		}
		return nil
	}
}
