package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/status"
)

const (
	// viewEvery is the time between two looks.
	viewEvery = 5 * time.Second
	// viewTimeout bounds each call: what takes longer is told of, and asked again.
	viewTimeout = 5 * time.Second
)

// View is a live view of a cluster in which the drivers run. It changes nothing, in Ceph or in Kubernetes.
type View struct {
	Cluster *Cluster
	Drivers []driver.Driver
	// Declaration has what the Secret of the cluster has otherwise; nil: that Secret is read.
	Declaration map[string][]byte
	Dial        func(ctx context.Context, source ceph.Source) (Ceph, error)
	Resolve     ceph.Resolver
	Clock       clock.Clock

	session Ceph
	// user is the Ceph user of the session, declared the content of the Secret that it was made from.
	user     string
	declared map[string][]byte
}

// Screen shows what a view sees.
type Screen interface {
	// Show replaces what was shown: lines returns what fits into a width and a height, of which 0 is
	// without end.
	Show(lines func(width, height int) []string) error
}

// seen is everything that a screen is made of.
type seen struct {
	now            time.Time
	drivers        []driver.Driver
	version        fact[string]
	infrastructure fact[*unstructured.Unstructured]
	events         fact[[]corev1.Event]

	resources  map[string]fact[*unstructured.Unstructured]
	status     map[string]fact[*status.Document]
	daemonSets map[string]fact[*appsv1.DaemonSet]

	ceph seenCeph
}

// seenCeph is what Ceph tells; monMap is the proof that it answers.
type seenCeph struct {
	user            string
	connected       bool
	monMap          fact[ceph.MonMap]
	version         fact[string]
	quorum          fact[[]string]
	pools           fact[[]ceph.Capacity]
	filesystemPools fact[[]ceph.FilesystemPools]
}

// Run shows the cluster anew every few seconds, until ctx ends.
func (v *View) Run(ctx context.Context, screen Screen) error {
	defer v.hangUp()
	for {
		s := v.look(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err := screen.Show(s.lines); err != nil {
			return fmt.Errorf("showing the cluster: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-v.Clock.After(viewEvery):
		}
	}
}

func (v *View) hangUp() {
	if v.session != nil {
		v.session.Close()
		v.session = nil
	}
}

// look asks everybody, Ceph and Kubernetes side by side.
func (v *View) look(ctx context.Context) seen {
	s := seen{
		drivers:    v.Drivers,
		resources:  map[string]fact[*unstructured.Unstructured]{},
		status:     map[string]fact[*status.Document]{},
		daemonSets: map[string]fact[*appsv1.DaemonSet]{},
	}
	together(func() { v.lookAtCluster(ctx, &s) }, func() { s.ceph = v.lookAtCeph(ctx) })
	s.now = v.Clock.Now()
	return s
}

func (v *View) lookAtCeph(ctx context.Context) seenCeph {
	data, err := v.declaration(ctx)
	if known := err == nil || errors.Is(err, errNotDeclared); known && !maps.EqualFunc(data, v.declared, bytes.Equal) {
		v.hangUp()
	}
	if v.session == nil {
		if err == nil {
			err = v.connect(ctx, data)
		}
		if err != nil {
			return seenCeph{user: v.user, monMap: fact[ceph.MonMap]{err: err, asked: true}}
		}
	}
	s := seenCeph{user: v.user, connected: true, monMap: ask(ctx, viewTimeout, v.session.MonMap)}
	if !s.monMap.known() {
		v.hangUp() // The key may be another one by now, or all mons.
		return s
	}
	together(
		func() { s.version = ask(ctx, viewTimeout, v.session.Version) },
		func() { s.quorum = ask(ctx, viewTimeout, v.session.Quorum) },
		func() { s.pools = ask(ctx, viewTimeout, v.session.Capacities) },
		func() { s.filesystemPools = ask(ctx, viewTimeout, v.session.FilesystemPools) },
	)
	return s
}

var errNotDeclared = errors.New("there is no Secret " + credentialsSecret + " in " + driver.Namespace + "; give --ceph-conf and --keyring")

// declaration is what the Secret has now.
func (v *View) declaration(ctx context.Context) (map[string][]byte, error) {
	if v.Declaration != nil {
		return v.Declaration, nil
	}
	secret := ask(ctx, viewTimeout, v.Cluster.secret)
	switch {
	case secret.err != nil:
		return nil, secret.err
	case secret.value == nil:
		return nil, errNotDeclared
	}
	return secret.value.Data, nil
}

func (v *View) connect(ctx context.Context, data map[string][]byte) error {
	source, err := ceph.ParseSource(ctx, data, v.Resolve)
	if err != nil {
		return err
	}
	v.user, v.declared = source.UserID, data
	session, err := v.Dial(ctx, source)
	if err != nil {
		return err
	}
	v.session = session
	return nil
}
