package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
)

// askEvery is how often Ceph is asked for what it does not have yet.
const askEvery = time.Second

// story is what goes on once the cluster runs.
type story struct {
	options
	cluster   *embedded.Cluster
	watch     *watch
	printer   *printer
	operators []*operatorprocess.Process
	// died has the end of each operator that has ended.
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
		died: make(chan error, len(driver.All)), answers: make(chan answer, 1),
	}
}

func (s *story) startOperators(ctx context.Context) error {
	s.begin = time.Now()
	for _, d := range driver.All {
		kubeconfig, err := s.cluster.ServiceAccountKubeconfig(ctx, driver.Namespace, d.OperatorName())
		if err != nil {
			return err
		}
		p, err := operatorprocess.Start(operatorprocess.Config{
			Binary: s.binary, Driver: d, Kubeconfig: kubeconfig, Dir: s.operatorDir(d),
		})
		if err != nil {
			return err
		}
		s.operators = append(s.operators, p)
		go func() {
			<-p.Done()
			s.died <- p.Exited()
		}()
		s.printer.say(d.Kind, "operator started, process %d", p.PID())
	}
	return nil
}

func (s *story) operatorDir(d driver.Driver) string {
	return filepath.Join(s.cluster.Dir(), "operators", d.Kind)
}

func (s *story) stopOperators() {
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	for _, p := range s.operators {
		if p.Exited() != nil {
			continue
		}
		if err := p.Stop(ctx); err != nil {
			s.printer.say("cluster", "%v", err)
		}
	}
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
			s.celebrate()
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

func (s *story) celebrate() {
	s.printer.say("cluster", "both drivers were available %.1f s after the start of their operators, and now everything is settled", s.available.Seconds())
	if s.exitWhenReady {
		return
	}
	ceph := s.cluster.Ceph()
	s.printer.plain(hints(paths{
		kubeconfig: s.cluster.AdminKubeconfig(), kubectl: s.cluster.Kubectl(),
		cephConf: ceph.ConfFile(), cephKeyring: ceph.KeyringFile(),
		logs: filepath.Join(s.cluster.Dir(), "logs"), operator: s.operators[0].LogFile(),
	}))
}
