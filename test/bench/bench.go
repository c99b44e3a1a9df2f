package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"
	"time"

	operatorclient "github.com/openshift/client-go/operator/clientset/versioned"
	operatorclientv1 "github.com/openshift/client-go/operator/clientset/versioned/typed/operator/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/faults"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
)

// stopLimit bounds the end of an operator, which gives its lease back.
const stopLimit = 10 * time.Second

// bench is a cluster, the operators in it, and what was measured once for several rows.
type bench struct {
	options  options
	cluster  *embedded.Cluster
	progress io.Writer

	kube          kubernetes.Interface
	dynamic       dynamic.Interface
	drivers       operatorclientv1.ClusterCSIDriverInterface
	tape          *tape
	stopRecording context.CancelFunc
	// found is what there was before anything of the drivers.
	found map[object]bool
	// operators that have been started, running or not.
	operators map[string]*operatorprocess.Process

	installs   map[string]*install
	memories   map[string]memory
	idle       map[string]traffic
	monChanges map[string]monChange
	crowd      bool
	// nodes is what was measured on real ones.
	nodes *onNodes
	// tagged are the first passes that were measured, by the driver's kind.
	tagged map[string]*firstPass
	loads  map[string]*load
	// proxies are in front of the API server where something is broken on purpose, silenced how much of Ceph is silent.
	proxies  map[string]*faults.Proxy
	silenced atomic.Int32
}

// start returns a cluster in which no operator runs.
func start(ctx context.Context, o options, progress io.Writer) (*bench, error) {
	cluster, err := embedded.Start(ctx, embedded.Options{Log: progress, Keep: o.keep, Mons: 3})
	if err != nil {
		return nil, err
	}
	b := &bench{
		options: o, cluster: cluster, progress: progress, stopRecording: func() {},
		operators: map[string]*operatorprocess.Process{}, installs: map[string]*install{}, memories: map[string]memory{},
		tagged: map[string]*firstPass{}, proxies: map[string]*faults.Proxy{},
	}
	if err := b.prepare(ctx); err != nil {
		return nil, errors.Join(err, b.stop(err))
	}
	return b, nil
}

func (b *bench) prepare(ctx context.Context) error {
	admin := b.cluster.AdminConfig()
	var errs [3]error
	var operators *operatorclient.Clientset
	b.kube, errs[0] = kubernetes.NewForConfig(admin)
	b.dynamic, errs[1] = dynamic.NewForConfig(admin)
	operators, errs[2] = operatorclient.NewForConfig(admin)
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	b.drivers = operators.OperatorV1().ClusterCSIDrivers()
	recording, stop := context.WithCancel(context.WithoutCancel(ctx))
	b.stopRecording = stop
	var err error
	if b.tape, err = record(recording, b.dynamic); err != nil {
		return err
	}
	// Each fresh install takes away the pool of the one before.
	if _, err := b.cluster.Ceph().Command(ctx, "config", "set", "mon", "mon_allow_pool_delete", "true"); err != nil {
		return err
	}
	if b.options.load > 0 {
		if err := b.intercept(); err != nil {
			return err
		}
	}
	b.found, err = b.objects(ctx)
	return err
}

// stop ends everything. The folder of a bench that failed stays.
func (b *bench) stop(failure error) error {
	if failure != nil && !errors.Is(failure, context.Canceled) {
		b.cluster.KeepState()
		fmt.Fprintln(b.progress, "State and logs stay in", b.cluster.Dir())
	}
	b.stopRecording()
	for _, p := range b.operators {
		if p.Exited() == nil {
			p.Kill()
		}
	}
	var errs []error
	for _, proxy := range b.proxies {
		errs = append(errs, proxy.Stop())
	}
	return errors.Join(append(errs, b.cluster.Stop())...)
}

// startOperator starts the operator of a driver under its own ServiceAccount, and returns
// when that was: not what a kubelet takes until then.
func (b *bench) startOperator(ctx context.Context, d driver.Driver) (time.Time, error) {
	if p := b.operators[d.Name]; p != nil {
		err := p.Restart()
		return time.Now(), err
	}
	deployment, err := operatorprocess.Deployment(d)
	if err != nil {
		return time.Time{}, err
	}
	if err := operatorprocess.Prepare(ctx, b.kube, d); err != nil {
		return time.Time{}, err
	}
	b.operators[d.Name], err = operatorprocess.Start(ctx, operatorprocess.Config{
		Pod: operatorprocess.PodOf(deployment), Binary: b.options.binary, Client: b.kube, APIServer: b.apiServer(d),
		Dir: filepath.Join(b.cluster.Dir(), "operators", d.Kind),
	})
	return time.Now(), err
}

// stopOperator ends the operator of a driver, if it runs, as the kubelet does.
func (b *bench) stopOperator(ctx context.Context, d driver.Driver) error {
	p := b.operators[d.Name]
	if p == nil || p.Exited() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	return p.Stop(ctx)
}

// deployed sees to it that both drivers are, and that nothing is in motion.
func (b *bench) deployed(ctx context.Context) error {
	if err := b.declare(ctx); err != nil {
		return err
	}
	for _, d := range driver.All {
		if err := b.createDriver(ctx, d); err != nil {
			return err
		}
		if p := b.operators[d.Name]; p == nil || p.Exited() != nil {
			if _, err := b.startOperator(ctx, d); err != nil {
				return err
			}
		}
	}
	for _, d := range driver.All {
		if err := b.settled(ctx, d); err != nil {
			return err
		}
	}
	return nil
}
