package connection

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// SecretName is the Secret in driver.Namespace that declares the Ceph cluster.
const SecretName = driver.CredentialsSecret

// Keys of sources. Of two that lead to the same Ceph cluster, the one whose key sorts first
// is used.
const (
	defaultKey  = "1-default"
	rookKey     = "2-rook"
	furtherKeys = "3-secret/"
)

// source is where a Ceph cluster is declared, or may be.
type source struct {
	key string
	// where names it in messages, keyEntry the entry that has the user's key.
	where, keyEntry string
	// further is a source that adds a Ceph cluster. The others are meant for the one in use.
	further bool
	// data is what ceph.ParseSource takes; nil while there is none.
	data map[string][]byte
	// declared is the fsid in data, empty when it has none; readable says that data is in order,
	// as far as that can be told without looking up names.
	declared string
	readable bool
	// problem is why there is no data although there is a source.
	problem verdict
	// unread is a source that nobody has looked at yet.
	unread bool
}

// exists says whether somebody declares something here.
func (s source) exists() bool { return s.data != nil || s.problem.bad() || s.unread }

func (s source) parsed() source {
	if s.data == nil {
		return s
	}
	if _, ok := s.data[ceph.EntryUserKey]; ok && s.keyEntry == "" {
		s.keyEntry = ceph.EntryUserKey
	}
	s.keyEntry = cmp.Or(s.keyEntry, ceph.EntryKeyring)
	parsed, err := ceph.ParseSource(context.Background(), s.data, anywhere)
	s.declared, s.readable = parsed.FSID, err == nil
	return s
}

// anywhere stands in for a resolver where addresses do not matter.
func anywhere(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}, nil
}

// declares picks the Secrets that declare a Ceph cluster.
func declares(object any) bool {
	secret, ok := ctrl.Object(object).(metav1.Object)
	if !ok {
		return false
	}
	_, labelled := secret.GetLabels()[driver.ClusterLabel]
	return labelled || secret.GetName() == SecretName
}

// settings remembers what was read last, which counts while nothing can be read.
type settings struct {
	read func() (driver.Settings, error)

	mu   sync.Mutex
	last driver.Settings
}

// get prefers the last good settings to none: pkg/pools reports what is wrong with them.
func (s *settings) get() driver.Settings {
	now, err := s.read()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.last = now
	}
	return s.last
}

// world is everything that a sync decides on, but what the links found.
type world struct {
	driver  driver.Driver
	sources []source // ordered by key
	// named is spec.driverConfig.ceph.cluster.
	named    string
	recorded state.Cluster
	// wanted: the driver is to be deployed; decided: that is known.
	wanted, decided bool
}

func (c *Connection[S]) gather() (world, error) {
	recorded, found, err := c.record.Load()
	if err != nil {
		return world{}, err
	}
	published, known := c.Cluster.Get()
	if !found && known {
		recorded.FSID = published.FSID
	}
	set := c.settings.get()
	w := world{driver: c.config.Driver, named: set.Cluster, recorded: recorded}
	w.wanted, w.decided = c.config.Wanted()
	if w.sources, err = c.secrets(); err != nil {
		return world{}, err
	}
	if set.RookNamespace != "" {
		w.sources = append(w.sources, c.rook.source(set.RookNamespace).parsed())
	}
	slices.SortFunc(w.sources, func(a, b source) int { return strings.Compare(a.key, b.key) })
	return w, nil
}

// secrets are the sources in our namespace. The default Secret is one even if it does not exist.
func (c *Connection[S]) secrets() ([]source, error) {
	lister := c.config.Secrets.Lister().Secrets(driver.Namespace)
	first := source{key: defaultKey, where: secretName(SecretName)}
	secret, err := lister.Get(SecretName)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("reading %s: %w", first.where, err)
	}
	if err == nil {
		first.data = entries(secret)
	}
	out := []source{first.parsed()}
	labelled, err := labels.NewRequirement(driver.ClusterLabel, selection.Exists, nil)
	if err != nil {
		return nil, fmt.Errorf("selecting Secrets with label %s: %w", driver.ClusterLabel, err)
	}
	further, err := lister.List(labels.NewSelector().Add(*labelled))
	if err != nil {
		return nil, fmt.Errorf("listing Secrets with label %s: %w", driver.ClusterLabel, err)
	}
	for _, secret := range further {
		if secret.Name == SecretName {
			continue
		}
		s := source{key: furtherKeys + secret.Name, where: secretName(secret.Name), further: true, data: entries(secret)}
		out = append(out, s.parsed())
	}
	return out, nil
}

// entries of a Secret that exists; never nil.
func entries(secret *corev1.Secret) map[string][]byte {
	if secret.Data == nil {
		return map[string][]byte{}
	}
	return secret.Data
}

func secretName(name string) string { return "Secret " + driver.Namespace + "/" + name }
