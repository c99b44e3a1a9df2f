package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/onnodes"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
)

// askEvery is how often Ceph is asked for what it does not have yet.
const askEvery = time.Second

// story is what goes on once the cluster runs.
type story struct {
	options
	cluster *embedded.Cluster
	// nodes is the cluster where its nodes are real, else nil.
	nodes   *onnodes.Cluster
	watch   *watch
	printer *printer
	// pods are the operators, stop ends them.
	pods *operatorprocess.Pods
	stop context.CancelFunc
	// died has the end of an operator that has ended by itself.
	died chan error
	// answers has what Ceph says; asking, that an answer is to come.
	answers chan answer
	asking  bool
	// answered are Ceph's answers, by the driver's name.
	answered map[string]answer
	// begin is when the operators were started, available how long it took from there.
	begin     time.Time
	available time.Duration
	ready     bool
}

func newStory(o options, cluster *embedded.Cluster, w *watch, p *printer) *story {
	return &story{
		options: o, cluster: cluster, watch: w, printer: p, answered: map[string]answer{},
		died: make(chan error, 1), answers: make(chan answer, 1),
	}
}

// startOperators runs the pods of the operators' Deployments from now on: first that of
// cluster-storage, which then makes the others. Real nodes do so by themselves.
func (s *story) startOperators(ctx context.Context) error {
	s.begin = time.Now()
	if s.nodes != nil {
		return nil
	}
	client, err := s.cluster.Client()
	if err != nil {
		return err
	}
	names := []string{clusterstorage.Name}
	for _, d := range driver.All {
		names = append(names, d.OperatorName())
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	s.pods, err = operatorprocess.RunPods(running, operatorprocess.PodsConfig{
		Client: client, Namespace: driver.Namespace, Selector: "name in (" + strings.Join(names, ",") + ")",
		Binary: s.binary, APIServer: s.cluster.AdminConfig().Host, Dir: s.operatorsDir(), Log: s.printer.of("pods"),
		Ended: func(err error) {
			select {
			case s.died <- err:
			default:
			}
		},
	})
	return err
}

func (s *story) operatorsDir() string { return filepath.Join(s.cluster.Dir(), "operators") }

func (s *story) stopOperators() {
	if s.pods == nil {
		return
	}
	s.stop()
	<-s.pods.Done()
}

// tell prints what changes.
func (s *story) tell(ctx context.Context) error {
	deadline := time.NewTimer(s.timeout)
	defer deadline.Stop()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		missing, err := s.look()
		if err != nil {
			return err
		}
		if len(missing) == 0 && !s.ready {
			s.ready = true
			deadline.Stop()
			if err := s.celebrate(ctx); err != nil {
				return err
			}
			if s.exitWhenReady {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case err := <-s.died:
			return err
		case <-deadline.C:
			return fmt.Errorf("not ready after %s, missing:\n  %s", s.timeout, strings.Join(missing, "\n  "))
		case a := <-s.answers:
			s.take(a)
		case <-s.watch.changed:
		case <-tick.C:
			if err := s.ask(ctx); err != nil {
				return err
			}
		}
	}
}

// look prints what is new and returns what is missing.
func (s *story) look() ([]string, error) {
	var missing []string
	everyoneAvailable := true
	for _, d := range driver.All {
		seen, err := s.watch.seen(d)
		if err != nil {
			return nil, err
		}
		seen.place = s.answered[d.Name].text
		s.printer.show(d.Kind, facts(d, seen))
		for _, m := range unready(d, seen) {
			missing = append(missing, d.Kind+": "+m)
		}
		if seen.place == "" {
			missing = append(missing, d.Kind+": Ceph's word on the place of volumes")
		}
		everyoneAvailable = everyoneAvailable && available(d, seen.conditions) == is(operatorv1.ConditionTrue)
	}
	reported, err := s.watch.clusterOperator()
	if err != nil {
		return nil, err
	}
	s.printer.show("cluster", reported)
	for _, f := range reported {
		missing = appendUnless(missing, f, f.text == is(wantedStatus[f.about]))
	}
	if everyoneAvailable && s.available == 0 {
		s.available = time.Since(s.begin)
	}
	return missing, nil
}

// answer is what Ceph says of the place of a driver's volumes.
type answer struct {
	driver string
	place  state.Placement
	text   string
	err    error
}

// ask has Ceph asked, which takes too long to wait for it here, until it has confirmed the
// place of each driver's volumes, and again when the operator has chosen another one.
func (s *story) ask(ctx context.Context) error {
	for _, d := range driver.All {
		placement, err := s.watch.placement(d)
		if err != nil {
			return err
		}
		last := s.answered[d.Name]
		if placement == nil || s.asking || last.text != "" && last.place == *placement {
			continue
		}
		s.asking = true
		go func() {
			text, err := askPlace(ctx, s.cluster.Ceph(), *placement)
			s.answers <- answer{d.Name, *placement, text, err}
		}()
	}
	return nil
}

func (s *story) take(a answer) {
	s.asking = false
	s.answered[a.driver] = a
	trouble := fact{about: "asking Ceph:"}
	if a.err != nil {
		trouble.text = a.err.Error()
	}
	s.printer.show("cluster", []fact{trouble})
}

func (s *story) celebrate(ctx context.Context) error {
	s.printer.say("cluster", "both drivers were available %.1f s after the start, and now everything is settled", s.available.Seconds())
	if s.nodes != nil {
		if err := s.write(ctx); err != nil {
			return err
		}
	}
	if s.exitWhenReady {
		return nil
	}
	ceph := s.cluster.Ceph()
	p := paths{
		kubeconfig: s.cluster.AdminKubeconfig(), kubectl: s.cluster.Kubectl(),
		cephConf: ceph.ConfFile(), cephKeyring: ceph.KeyringFile(), logs: filepath.Join(s.cluster.Dir(), "logs"),
	}
	if s.nodes == nil {
		p.operators = s.operatorsDir()
	}
	s.printer.plain(hints(p))
	return nil
}
