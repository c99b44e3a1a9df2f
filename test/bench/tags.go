package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

const (
	untaggedImages = 20000
	untaggedPool   = "untagged"
	// untaggedSubvolumes are few: thousands take an hour to make.
	untaggedSubvolumes = 400
	// firstPassLimit is many times what the operator's own pace makes of it.
	firstPassLimit = 30 * time.Minute
)

// firstPass is what an operator does that finds thousands of volumes without tags.
type firstPass struct {
	took   time.Duration
	memory memory
}

func (p *firstPass) seconds() float64 { return p.took.Seconds() }
func (p *firstPass) private() float64 { return p.memory.private() }

// untagged are volumes without tags, as an operator finds them.
type untagged struct {
	count int
	// layOut makes them in Ceph and returns their handles; attributes are those of their
	// PersistentVolumes.
	layOut     func(context.Context) ([]string, error)
	attributes map[string]string
}

func (b *bench) untagged(d driver.Driver) untagged {
	fsid := b.cluster.Ceph().FSID()
	return map[string]untagged{
		driver.RBD.Kind:    {untaggedImages, b.layOutUntagged, map[string]string{"clusterID": fsid, "pool": untaggedPool, "imageFeatures": "layering"}},
		driver.CephFS.Kind: {untaggedSubvolumes, b.layOutUntaggedSubvolumes, map[string]string{"clusterID": fsid, "fsName": cephdaemons.Filesystem}},
	}[d.Kind]
}

func (b *bench) tagging(figure func(*firstPass) float64) func(context.Context, driver.Driver) (float64, error) {
	return func(ctx context.Context, d driver.Driver) (float64, error) {
		if b.tagged[d.Kind] == nil {
			pass, err := b.tagAll(ctx, d, b.untagged(d))
			if err != nil {
				return 0, err
			}
			b.tagged[d.Kind] = pass
		}
		return figure(b.tagged[d.Kind]), nil
	}
}

func (b *bench) tagAll(ctx context.Context, d driver.Driver, all untagged) (*firstPass, error) {
	if err := b.deployed(ctx); err != nil {
		return nil, err
	}
	if err := b.stopOperator(ctx, d); err != nil {
		return nil, err
	}
	begin := time.Now()
	handles, err := all.layOut(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.fillUntagged(ctx, d, handles, all.attributes); err != nil {
		return nil, err
	}
	fmt.Fprintf(b.progress, "%d volumes without tags and their PersistentVolumes created in %.0f s\n", all.count, time.Since(begin).Seconds())
	begin, err = b.startOperator(ctx, d)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, firstPassLimit)
	defer cancel()
	for {
		done, err := b.allTagged(ctx, d, all.count)
		if err != nil {
			return nil, err
		}
		if done {
			break
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the volumes are not tagged: %w", ctx.Err())
		case <-time.After(time.Second):
		}
	}
	took := time.Since(begin)
	m, err := memoryOf(b.operators[d.Name].PID())
	return &firstPass{took: took, memory: m}, err
}

// layOutUntagged makes images as ceph-csi did before it knew tags, and returns their handles.
func (b *bench) layOutUntagged(ctx context.Context) ([]string, error) {
	if err := b.cluster.Ceph().CreatePool(ctx, untaggedPool, "rbd"); err != nil {
		return nil, err
	}
	ceph, err := volumes.Open(b.cluster.Ceph().ConfFile(), b.cluster.Ceph().KeyringFile())
	if err != nil {
		return nil, err
	}
	defer ceph.Close()
	cluster := ceph.Cluster("bench", 1)
	class := volumes.Class{Place: volumes.Place{Pool: untaggedPool}, Features: volumes.Layering}
	handles := make([]string, untaggedImages)
	err = volumes.Parallel(untaggedImages, func(i int) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		image, err := cluster.UnfinishedImage(class, fmt.Sprintf("claim-%d", i))
		if err == nil {
			handles[i] = image.Handle()
		}
		return err
	})
	return handles, err
}

// layOutUntaggedSubvolumes makes subvolumes as ceph-csi did before it knew tags.
func (b *bench) layOutUntaggedSubvolumes(ctx context.Context) ([]string, error) {
	ceph, err := volumes.Open(b.cluster.Ceph().ConfFile(), b.cluster.Ceph().KeyringFile())
	if err != nil {
		return nil, err
	}
	defer ceph.Close()
	const infraID = embedded.DefaultInfrastructureName // It names group and journal, as the operator has them.
	class := volumes.FileClass{Filesystem: cephdaemons.Filesystem, Group: infraID, Namespace: infraID}
	if err := ceph.Group(class); err != nil {
		return nil, err
	}
	cluster := ceph.Cluster("bench", 1)
	handles := make([]string, untaggedSubvolumes)
	err = volumes.Parallel(untaggedSubvolumes, func(i int) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		subvolume, err := cluster.UnfinishedSubvolume(class, fmt.Sprintf("claim-%d", i))
		if err == nil {
			handles[i], err = subvolume.Handle()
		}
		return err
	})
	return handles, err
}

func (b *bench) fillUntagged(ctx context.Context, d driver.Driver, handles []string, attributes map[string]string) error {
	config := b.cluster.AdminConfig()
	config.ContentType = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(creators)
	for i, handle := range handles {
		group.Go(func() error {
			_, err := client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
				ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("untagged-%s-%d", d.Kind, i)},
				Spec: corev1.PersistentVolumeSpec{
					Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("8Mi")},
					AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
					PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
						Driver: d.Name, VolumeHandle: handle, VolumeAttributes: attributes,
					}},
				},
			}, metav1.CreateOptions{})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("creating PersistentVolumes: %w", err)
	}
	return b.volumesAvailable(ctx, client)
}

// allTagged asks the status ConfigMap, which is written seconds after the end.
func (b *bench) allTagged(ctx context.Context, d driver.Driver, count int) (bool, error) {
	configMap, err := b.kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, d.StatusConfigMap(), metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	return strings.Contains(configMap.Data["status.yaml"], fmt.Sprintf(" tagged: %d\n", count)), nil
}
