package monitors

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// entry is one Ceph cluster in ceph-csi's config.json, with what this package looks at.
type entry struct {
	ClusterID    string        `json:"clusterID"`
	Monitors     []string      `json:"monitors"`
	ReadAffinity *readAffinity `json:"readAffinity,omitempty"`
	// raw is the entry as it stands there.
	raw json.RawMessage
}

type readAffinity struct {
	Enabled             bool     `json:"enabled"`
	CrushLocationLabels []string `json:"crushLocationLabels"`
}

// config is a config.json, entries in the order in which they stand there.
type config struct {
	entries []entry
	// before is the text that was read; it stays as long as no entry changes.
	before  []byte
	changed bool
}

// indent is that of an entry.
const indent = "  "

// readConfig keeps every entry, also those that ceph-csi could not use. What ceph-csi could not
// read is ceph.ErrUnreadableConfig.
func readConfig(content []byte) (config, error) {
	c := config{before: content}
	if _, err := ceph.ParseConfig(content); err != nil {
		return c, err
	}
	if len(bytes.TrimSpace(content)) == 0 {
		return c, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(content, &list); err != nil {
		return c, fmt.Errorf("%w: %w", ceph.ErrUnreadableConfig, err)
	}
	for _, raw := range list {
		e, err := entryOf(raw)
		if err != nil {
			return c, err
		}
		c.entries = append(c.entries, e)
	}
	return c, nil
}

func entryOf(raw json.RawMessage) (entry, error) {
	e := entry{raw: raw}
	if err := json.Unmarshal(raw, &e); err != nil {
		return e, fmt.Errorf("%w: %w", ceph.ErrUnreadableConfig, err)
	}
	return e, nil
}

// find returns the index of a Ceph cluster's entry, of several that of the first, as ceph-csi does;
// -1 for none.
func (c config) find(clusterID string) int {
	return slices.IndexFunc(c.entries, func(e entry) bool { return e.ClusterID == clusterID })
}

// monitors are those of a Ceph cluster's entry; none if there is no entry.
func (c config) monitors(clusterID string) []string {
	if i := c.find(clusterID); i >= 0 {
		return c.entries[i].Monitors
	}
	return nil
}

// set gives a member of an entry, such as "cephFS.subvolumeGroup", another value; nil removes it.
// An entry that is not there is made.
func (c *config) set(clusterID, path string, value any) error {
	if c.find(clusterID) < 0 {
		raw, err := setMember(nil, []string{"clusterID"}, clusterID, indent)
		if err != nil {
			return fmt.Errorf("encoding the entry of Ceph cluster %s: %w", clusterID, err)
		}
		c.entries = append(c.entries, entry{ClusterID: clusterID, raw: raw})
	}
	i := c.find(clusterID)
	raw, err := setMember(c.entries[i].raw, strings.Split(path, "."), value, indent)
	if err != nil {
		return fmt.Errorf("setting %s in the entry of Ceph cluster %s: %w", path, clusterID, err)
	}
	if bytes.Equal(raw, c.entries[i].raw) {
		return nil
	}
	c.changed = true
	c.entries[i], err = entryOf(raw)
	return err
}

// has says whether an entry has a member.
func (c config) has(clusterID, path string) bool {
	var raw json.RawMessage
	if i := c.find(clusterID); i >= 0 {
		raw = c.entries[i].raw
	}
	for _, name := range strings.Split(path, ".") {
		o, err := readObject(raw)
		if err != nil {
			return true // of whatever it is
		}
		raw = o.value(name)
	}
	return raw != nil
}

// text is what it was as long as nothing has changed; entries that are as they were keep every byte.
func (c config) text() []byte {
	if !c.changed {
		return c.before
	}
	var out []string
	for _, e := range c.entries {
		out = append(out, indent+string(e.raw))
	}
	return []byte("[\n" + strings.Join(out, ",\n") + "\n]\n")
}

// Entries reads, of the cache, what the driver's pods read of clusterIDs.
func Entries(env ctrl.Env) func() ([]ceph.ConfigEntry, error) {
	return func() ([]ceph.ConfigEntry, error) {
		return entries(env.Driver, func(name string) (*corev1.Secret, error) {
			return env.Secrets.Lister().Secrets(driver.Namespace).Get(name)
		})
	}
}

// LiveEntries is Entries past the cache.
func LiveEntries(env ctrl.Env) func(ctx context.Context) ([]ceph.ConfigEntry, error) {
	return func(ctx context.Context) ([]ceph.ConfigEntry, error) {
		return entries(env.Driver, func(name string) (*corev1.Secret, error) {
			return env.Kube.CoreV1().Secrets(driver.Namespace).Get(ctx, name, metav1.GetOptions{})
		})
	}
}

func entries(d driver.Driver, get func(name string) (*corev1.Secret, error)) ([]ceph.ConfigEntry, error) {
	secret, err := get(d.ConfigSecret())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s/%s: %w", driver.Namespace, d.ConfigSecret(), err)
	}
	return ceph.ParseConfig(secret.Data[ConfigKey])
}
