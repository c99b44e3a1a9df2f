// Package state keeps what must outlive the process: one ConfigMap per driver,
// driver.StateConfigMap, with a format version and one key of JSON for each feature.
//
// The operator before and after this one read it as well, so formats only ever gain keys
// and fields: what is unknown is ignored by readers and kept by writers, and "version" is
// written only where it is missing.
package state

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Version is the format that this code writes.
const Version = "1"

// deadline bounds a request.
const deadline = 10 * time.Second

// Keys of the ConfigMap that have a name; those of the other records are where these are.
const (
	versionKey = "version"
	// InfraIDKey is named in a message.
	InfraIDKey = "infraID"
)

// Record is one key of the ConfigMap. One feature writes it, any may read it.
type Record[T any] struct {
	client    corev1client.ConfigMapsGetter
	lister    corelisters.ConfigMapLister
	configMap string
	key       string
	// deleted says that it is of what is deleted once it is saved: what the cache has is not enough then.
	deleted bool
}

// Store is what a Record is to who writes it.
type Store[T any] interface {
	Load() (T, bool, error)
	// Read is Load past the cache.
	Read(ctx context.Context) (T, bool, error)
	Save(ctx context.Context, value T) error
}

// Of makes the record of a driver. Load needs the lister alone, Read the client, In neither.
type Of[T any] func(client corev1client.ConfigMapsGetter, lister corelisters.ConfigMapLister, d driver.Driver) Record[T]

// The records, and who writes them.
var (
	// Clusters is written by pkg/connection.
	Clusters = of[Cluster]("cluster")
	// Placements is written by pkg/pools.
	Placements = of[Placement]("placement")
	// LastSettings is written by pkg/settings.
	LastSettings = of[Settings]("settings")
	// Classes, SnapshotClasses and GroupSnapshotClasses are written by pkg/classes: of the StorageClass, the
	// VolumeSnapshotClass and the VolumeGroupSnapshotClass.
	Classes              = ofDeleted[Class]("class")
	SnapshotClasses      = ofDeleted[Class]("snapshotClass")
	GroupSnapshotClasses = ofDeleted[Class]("groupSnapshotClass")
	// VirtualizationClasses is written by pkg/virtualization.
	VirtualizationClasses = ofDeleted[Class]("virtualizationClass")
	// Users is written by pkg/credentials.
	Users = of[CephUsers]("users")
	// InfraIDs is written by pkg/infraid.
	InfraIDs = of[InfraID](InfraIDKey)
)

// formats are all records by their keys, as this version writes them.
var formats = map[string]func() any{}

func of[T any](key string) Of[T] {
	formats[key] = func() any { return new(T) }
	return func(client corev1client.ConfigMapsGetter, lister corelisters.ConfigMapLister, d driver.Driver) Record[T] {
		return Record[T]{client: client, lister: lister, configMap: d.StateConfigMap(), key: key}
	}
}

// ofDeleted makes records of what is deleted next.
func ofDeleted[T any](key string) Of[T] {
	plain := of[T](key)
	return func(client corev1client.ConfigMapsGetter, lister corelisters.ConfigMapLister, d driver.Driver) Record[T] {
		out := plain(client, lister, d)
		out.deleted = true
		return out
	}
}

// Load returns the record, or false when there is none. Content that cannot be read is an
// error that names ConfigMap and key.
func (r Record[T]) Load() (value T, found bool, err error) {
	data, err := r.data()
	if err != nil {
		return value, false, err
	}
	return r.In(data)
}

// Read is Load past the cache. It lists, as the operators' informers do: they have no other right to read.
func (r Record[T]) Read(ctx context.Context) (value T, found bool, err error) {
	data, err := r.live(ctx)
	if err != nil {
		return value, false, err
	}
	return r.In(data)
}

// In is Load from the data of the ConfigMap, which the caller has read.
func (r Record[T]) In(data map[string]string) (value T, found bool, err error) {
	content, found := data[r.key]
	if !found {
		return value, false, nil
	}
	if err := json.Unmarshal([]byte(content), &value); err != nil {
		return *new(T), false, r.unreadable(err) // Half a record is none.
	}
	return value, true, nil
}

// Save writes the record unless the ConfigMap has it already. Other keys of the ConfigMap
// and unknown fields of the record stay as they are.
func (r Record[T]) Save(ctx context.Context, value T) error {
	data, err := r.data()
	if r.deleted {
		data, err = r.live(ctx)
	}
	if err != nil {
		return err
	}
	content, err := r.merge(data[r.key], value)
	if err != nil {
		return err
	}
	version := data[versionKey]
	if version != "" && content == data[r.key] {
		return nil
	}
	_, err = apply(ctx, r.client, applycorev1.ConfigMap(r.configMap, driver.Namespace), version, r.key, content)
	return err
}

// apply writes one key, as the field manager that alone does so.
func apply(ctx context.Context, client corev1client.ConfigMapsGetter, to *applycorev1.ConfigMapApplyConfiguration, version, key, content string) (*corev1.ConfigMap, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	to.WithData(map[string]string{versionKey: cmp.Or(version, Version), key: content})
	written, err := client.ConfigMaps(driver.Namespace).Apply(ctx, to, metav1.ApplyOptions{FieldManager: *to.Name + "-" + key, Force: true})
	if err != nil {
		return nil, fmt.Errorf("writing key %q of ConfigMap %s/%s: %w", key, driver.Namespace, *to.Name, err)
	}
	return written, nil
}

// merge lays value over the fields of content; equal meaning gives equal text back.
func (r Record[T]) merge(content string, value T) (string, error) {
	known, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encoding key %q of ConfigMap %s: %w", r.key, r.configMap, err)
	}
	var all map[string]json.RawMessage
	for _, layer := range []string{cmp.Or(content, "{}"), string(known)} {
		if err := json.Unmarshal([]byte(layer), &all); err != nil {
			return "", r.unreadable(err)
		}
	}
	merged, err := json.Marshal(all)
	return string(merged), err
}

func fieldsOf(value any) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var out map[string]json.RawMessage
	return out, json.Unmarshal(text, &out)
}

func (r Record[T]) data() (map[string]string, error) {
	object, err := cached(r.lister, r.configMap)
	if err != nil || object == nil {
		return nil, err
	}
	return object.Data, nil
}

func (r Record[T]) live(ctx context.Context) (map[string]string, error) {
	one := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, r.configMap).String()}
	list, err := r.client.ConfigMaps(driver.Namespace).List(ctx, one)
	if err != nil {
		return nil, fmt.Errorf("reading ConfigMap %s/%s: %w", driver.Namespace, r.configMap, err)
	}
	for _, object := range list.Items {
		if object.Name == r.configMap {
			return object.Data, nil
		}
	}
	return nil, nil
}

// cached is the ConfigMap as the cache has it; nil where there is none.
func cached(lister corelisters.ConfigMapLister, name string) (*corev1.ConfigMap, error) {
	object, err := lister.ConfigMaps(driver.Namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading ConfigMap %s/%s: %w", driver.Namespace, name, err)
	}
	return object, nil
}

func (r Record[T]) unreadable(err error) error {
	return fmt.Errorf("key %q of ConfigMap %s/%s is not readable; correct it, or delete the key to let the operator forget it: %w",
		r.key, driver.Namespace, r.configMap, err)
}
