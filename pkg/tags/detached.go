package tags

import (
	"fmt"

	"github.com/openshift/library-go/pkg/controller/factory"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

// TrimAttachment keeps of a VolumeAttachment what is read of it: there is one for each volume on each node.
func TrimAttachment(object any) (any, error) {
	attachment, ok := object.(*storagev1.VolumeAttachment)
	if !ok {
		return nil, fmt.Errorf("got %T, want a VolumeAttachment", object)
	}
	*attachment = storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: attachment.Name, UID: attachment.UID, ResourceVersion: attachment.ResourceVersion},
		Spec: storagev1.VolumeAttachmentSpec{
			Attacher: attachment.Spec.Attacher,
			Source:   storagev1.VolumeAttachmentSource{PersistentVolumeName: attachment.Spec.Source.PersistentVolumeName},
		},
	}
	return attachment, nil
}

// detachments tells of VolumeAttachments that are gone: external-attacher lets them go when ceph-csi has detached
// the volume.
type detachments struct {
	factory.Informer
	// heard notes the PersistentVolume, and says whether it is one of the driver's.
	heard func(attachment *storagev1.VolumeAttachment) bool
}

func (d *detachments) AddEventHandler(listener cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return d.Informer.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(object any) {
		if gone, ok := ctrl.Object(object).(*storagev1.VolumeAttachment); ok && d.heard(gone) {
			listener.OnDelete(object)
		}
	}})
}

func (c *Controller) heardDetached(gone *storagev1.VolumeAttachment) bool {
	name := gone.Spec.Source.PersistentVolumeName
	if gone.Spec.Attacher != c.Driver.Name || name == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.detached[*name] = true
	c.news.Store(true)
	return true
}

// takeDetached are the PersistentVolumes that were detached since it was asked last.
func (c *Controller) takeDetached() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.detached
	c.detached = map[string]bool{}
	return taken
}
