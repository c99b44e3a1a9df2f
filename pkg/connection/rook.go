package connection

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	// rookInterval is how often Rook's objects are read while there is a connection: then only
	// a new key is news.
	rookInterval = time.Minute
	// rookTimeout bounds one reading.
	rookTimeout = 10 * time.Second
)

// rook reads the objects by which Rook tells its own clients of a Ceph cluster. They are read
// one by one: a watch would need the right to list all Secrets of the namespace.
type rook struct {
	driver driver.Driver
	client corev1client.CoreV1Interface
	clock  clock.PassiveClock

	mu        sync.Mutex // guards what was read last
	namespace string
	at        time.Time
	data      map[string][]byte
	problem   verdict
}

// source is what was read last in a namespace.
func (r *rook) source(namespace string) source {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := source{key: rookKey, where: "Secret " + namespace + "/" + ceph.RookSecret, keyEntry: ceph.RookKeyEntry}
	if r.namespace != namespace {
		s.unread = true
		return s
	}
	s.data, s.problem = r.data, r.problem
	return s
}

// refresh reads the objects if that is due.
func (r *rook) refresh(ctx context.Context, namespace string, connected bool) {
	r.mu.Lock()
	pause := redialInterval
	if connected {
		pause = rookInterval
	}
	due := r.namespace != namespace || r.clock.Since(r.at) >= pause
	r.mu.Unlock()
	if !due || namespace == "" {
		return
	}
	data, problem, err := r.read(ctx, namespace)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && r.namespace == namespace {
		return // an API server that does not answer says nothing about Rook; the next sync asks again
	}
	if err != nil {
		problem = verdict{condition.SyncError, err.Error()}
	}
	r.namespace, r.at, r.data, r.problem = namespace, r.clock.Now(), data, problem
}

// read returns what ceph.ParseSource takes, or why there is no such thing; err is for what the
// next try may mend.
func (r *rook) read(ctx context.Context, namespace string) (data map[string][]byte, problem verdict, err error) {
	ctx, cancel := context.WithTimeout(ctx, rookTimeout)
	defer cancel()
	secret, err := r.client.Secrets(namespace).Get(ctx, ceph.RookSecret, metav1.GetOptions{})
	if err != nil {
		problem, err = r.refused(err, namespace, "Secret "+namespace+"/"+ceph.RookSecret)
		return nil, problem, err
	}
	endpoints, err := r.client.ConfigMaps(namespace).Get(ctx, ceph.RookConfigMap, metav1.GetOptions{})
	if err != nil {
		problem, err = r.refused(err, namespace, "ConfigMap "+namespace+"/"+ceph.RookConfigMap)
		return nil, problem, err
	}
	data, err = ceph.ParseRook(secret.Data, endpoints.Data)
	var input *ceph.InputError
	if errors.As(err, &input) {
		return nil, verdict{condition.CredentialsInvalid, "Rook's objects in namespace " + namespace + ": " + input.Text}, nil
	}
	return data, verdict{}, err
}

func (r *rook) refused(err error, namespace, what string) (verdict, error) {
	field := "spec.driverConfig.ceph.rookNamespace of ClusterCSIDriver " + r.driver.Name
	switch {
	case apierrors.IsNotFound(err):
		return verdict{condition.CredentialsMissing, fmt.Sprintf("%s does not exist, although %s is %s; name the namespace "+
			"of Rook's CephCluster there, or leave the field out", what, field, namespace)}, nil
	case apierrors.IsForbidden(err):
		return verdict{condition.Forbidden, fmt.Sprintf("The operator may not read %s. Allow it: %s", what, r.driver.AllowRook(namespace))}, nil
	}
	return verdict{}, fmt.Errorf("reading %s: %w", what, err)
}
