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
	"maps"
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

// Keys of the ConfigMap.
const (
	versionKey   = "version"
	clusterKey   = "cluster"
	placementKey = "placement"
	settingsKey  = "settings"
	classKey     = "class"
	snapshotKey  = "snapshotClass"
	groupKey     = "groupSnapshotClass"
	machinesKey  = "virtualizationClass"
	usersKey     = "users"
	// InfraIDKey is named in a message.
	InfraIDKey = "infraID"
)

// Record is one key of the ConfigMap. One feature writes it, any may read it.
type Record[T any] struct {
	client    corev1client.ConfigMapsGetter
	lister    corelisters.ConfigMapLister
	configMap string
	key       string
}

// Clusters is the record that pkg/connection writes.
func Clusters(client corev1client.ConfigMapsGetter, lister corelisters.ConfigMapLister, d driver.Driver) Record[Cluster] {
	return Record[Cluster]{client: client, lister: lister, configMap: d.StateConfigMap(), key: clusterKey}
}

// Placements is the record that pkg/pools writes.
func Placements(client corev1client.ConfigMapsGetter, lister corelisters.ConfigMapLister, d driver.Driver) Record[Placement] {
	return Record[Placement]{client: client, lister: lister, configMap: d.StateConfigMap(), key: placementKey}
}

// LastSettings is the record that pkg/settings writes.
func LastSettings(client corev1client.ConfigMapsGetter, lister corelisters.ConfigMapLister, d driver.Driver) Record[Settings] {
	return Record[Settings]{client: client, lister: lister, configMap: d.StateConfigMap(), key: settingsKey}
}

// Classes is the record that pkg/classes writes.
func Classes(client corev1client.ConfigMapsGetter, lister corelisters.ConfigMapLister, d driver.Driver) Record[Class] {
	return Record[Class]{client: client, lister: lister, configMap: d.StateConfigMap(), key: classKey}
}

// SnapshotClasses is the record that pkg/classes writes of the VolumeSnapshotClass.
func SnapshotClasses(client corev1client.ConfigMapsGetter, lister corelisters.ConfigMapLister, d driver.Driver) Record[Class] {
	return Record[Class]{client: client, lister: lister, configMap: d.StateConfigMap(), key: snapshotKey}
}

// GroupSnapshotClasses is the record that pkg/classes writes of the VolumeGroupSnapshotClass.
func GroupSnapshotClasses(client corev1client.ConfigMapsGetter, lister corelisters.ConfigMapLister, d driver.Driver) Record[Class] {
	return Record[Class]{client: client, lister: lister, configMap: d.StateConfigMap(), key: groupKey}
}

// VirtualizationClasses is the record that pkg/virtualization writes.
func VirtualizationClasses(client corev1client.ConfigMapsGetter, lister corelisters.ConfigMapLister, d driver.Driver) Record[Class] {
	return Record[Class]{client: client, lister: lister, configMap: d.StateConfigMap(), key: machinesKey}
}

// Users is the record that pkg/credentials writes.
func Users(client corev1client.ConfigMapsGetter, lister corelisters.ConfigMapLister, d driver.Driver) Record[CephUsers] {
	return Record[CephUsers]{client: client, lister: lister, configMap: d.StateConfigMap(), key: usersKey}
}

// InfraIDs is the record that pkg/infraid writes.
func InfraIDs(client corev1client.ConfigMapsGetter, lister corelisters.ConfigMapLister, d driver.Driver) Record[InfraID] {
	return Record[InfraID]{client: client, lister: lister, configMap: d.StateConfigMap(), key: InfraIDKey}
}

// Load returns the record, or false when there is none. Content that cannot be read is an
// error that names ConfigMap and key.
func (r Record[T]) Load() (T, bool, error) {
	data, err := r.data()
	if err != nil {
		var none T
		return none, false, err
	}
	return r.in(data)
}

// Read is Load past the cache. It lists, as the operators' informers do: they have no other right to read.
func (r Record[T]) Read(ctx context.Context) (T, bool, error) {
	one := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, r.configMap).String()}
	list, err := r.client.ConfigMaps(driver.Namespace).List(ctx, one)
	if err != nil {
		var none T
		return none, false, fmt.Errorf("reading ConfigMap %s/%s: %w", driver.Namespace, r.configMap, err)
	}
	var data map[string]string
	for _, object := range list.Items {
		if object.Name == r.configMap {
			data = object.Data
		}
	}
	return r.in(data)
}

func (r Record[T]) in(data map[string]string) (T, bool, error) {
	var value T
	content, found := data[r.key]
	if !found {
		return value, false, nil
	}
	if err := json.Unmarshal([]byte(content), &value); err != nil {
		var none T
		return none, false, r.unreadable(err)
	}
	return value, true, nil
}

// Save writes the record unless the ConfigMap has it already. Other keys of the ConfigMap
// and unknown fields of the record stay as they are.
func (r Record[T]) Save(ctx context.Context, value T) error {
	data, err := r.data()
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
	known, err := fieldsOf(value)
	if err != nil {
		return "", fmt.Errorf("encoding key %q of ConfigMap %s: %w", r.key, r.configMap, err)
	}
	all := map[string]json.RawMessage{}
	if content != "" {
		if err := json.Unmarshal([]byte(content), &all); err != nil {
			return "", r.unreadable(err)
		}
	}
	if all == nil { // content is "null"
		all = known
	}
	maps.Copy(all, known)
	merged, err := json.Marshal(all)
	if err != nil {
		return "", fmt.Errorf("encoding key %q of ConfigMap %s: %w", r.key, r.configMap, err)
	}
	return string(merged), nil
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
