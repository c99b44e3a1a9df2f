package operator

import (
	"strconv"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/proof"
)

// newProof returns what looks past the caches while something waits to be withdrawn.
func (s starter) newProof() *proof.Keeper {
	volumes := s.clients.volumes.Core().V1().PersistentVolumes().Informer()
	classes := s.clients.cluster().Storage().V1().StorageClasses().Informer()
	return proof.New(proof.Config{
		Read: proof.Reader{Driver: s.driver, Kube: s.clients.kube, Dynamic: s.clients.dynamic, Config: s.clusterConfig}.Read,
		Cached: func() map[string]uint64 {
			out := map[string]uint64{}
			for name, informer := range map[string]cache.SharedIndexInformer{proof.Volumes: volumes, proof.Classes: classes} {
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
