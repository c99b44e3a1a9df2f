package operator

import (
	"context"
	"strconv"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/proof"
)

// What a look lists.
const (
	volumesName   = "PersistentVolumes"
	classesName   = "StorageClasses"
	snapshotsName = "VolumeSnapshotContents"
)

// newProof returns what looks past the caches while something waits to be withdrawn.
func (s starter) newProof() *proof.Keeper {
	volumes := s.clients.volumes.Core().V1().PersistentVolumes().Informer()
	classes := s.clients.cluster().Storage().V1().StorageClasses().Informer()
	return proof.New(proof.Config{
		Read: s.lookPastCaches,
		Cached: func() map[string]uint64 {
			out := map[string]uint64{}
			for name, informer := range map[string]cache.SharedIndexInformer{volumesName: volumes, classesName: classes} {
				if version, err := strconv.ParseUint(informer.LastSyncResourceVersion(), 10, 64); err == nil {
					out[name] = version
				}
			}
			return out
		},
		Apart: s.withdrawal,
		Clock: clock.RealClock{},
	})
}

// withdrawal is the time between two looks. What cannot be read asks for no other than the default.
func (s starter) withdrawal() time.Duration {
	settings, err := s.settings()
	if err != nil {
		return driver.Settings{}.Withdrawal()
	}
	return settings.Withdrawal()
}

// lookPastCaches reads everything that says what is used. It asks for the CRD of snapshots twice:
// their list may be that of one which is going.
func (s starter) lookPastCaches(ctx context.Context) (proof.Look, error) {
	config, err := s.clusterConfig()
	if err != nil {
		return proof.Look{}, err
	}
	r := reader{starter: s, config: config}
	for _, step := range []func(context.Context) error{r.served, r.classes, r.volumes, r.contents, r.served} {
		if err := step(ctx); err != nil {
			return proof.Look{}, err
		}
	}
	return r.look, nil
}
