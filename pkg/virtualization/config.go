package virtualization

import (
	"context"
	"errors"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

// Config is what the controllers use that look after StorageClasses of the driver on a platform
// for virtual machines.
type Config struct {
	ctrl.Env
	// Watches are what the gate starts and stops.
	Watches *Watches
	Rights  Rights
}

// controller runs sync while there is a ClusterCSIDriver.
func (c Config) controller(name string, sync factory.SyncFunc, more ...factory.Informer) factory.Controller {
	whatever := func(ctx context.Context, syncCtx factory.SyncContext, _ operatorv1.ManagementState) error {
		return sync(ctx, syncCtx)
	}
	return c.Factory(name, whatever).
		ResyncEvery(resync).
		WithInformers(c.StorageClasses.Informer(), c.Watches).
		WithInformers(more...).
		ToController(name, c.Recorder)
}

// voice says what a controller has to say of itself: its one condition.
type voice struct {
	writer              condition.Writer
	name, conditionType string
}

func (c Config) voice(name, conditionType string) voice {
	return voice{c.Operator, name, conditionType}
}

// silent takes an earlier condition back.
func (v voice) silent(ctx context.Context) error {
	return condition.Say(ctx, v.writer, v.name, []string{v.conditionType})
}

func (v voice) good(ctx context.Context) error {
	return condition.Say(ctx, v.writer, v.name, nil, condition.New(v.conditionType, operatorv1.ConditionTrue, condition.AsExpected, ""))
}

func (v voice) bad(ctx context.Context, reason, message string) error {
	return condition.Say(ctx, v.writer, v.name, nil, condition.New(v.conditionType, operatorv1.ConditionFalse, reason, message))
}

// failed tells of an error, and returns it.
func (v voice) failed(ctx context.Context, reason string, err error) error {
	return errors.Join(v.bad(ctx, reason, err.Error()), err)
}

// unready is for when what a sync reads is absent, or not known yet, with what keeps it from being known.
func (v voice) unready(ctx context.Context, known state, problem error) error {
	switch {
	case known == absent:
		return v.silent(ctx)
	case problem != nil:
		return v.bad(ctx, condition.SyncError, problem.Error())
	}
	return nil
}

// TakeBack takes back what the operator wrote into others' objects, and names it. Without the rights it has written
// nothing.
func (c Config) TakeBack(ctx context.Context) ([]string, error) {
	held, err := c.Rights.Held(ctx, c.Driver, c.Driver.MachinesRole())
	if err != nil || !held {
		return nil, err
	}
	traces, err := Traces(ctx, c.Dynamic, c.Driver)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, t := range traces {
		out = append(out, t.What)
		if err := t.Remove(ctx); err != nil {
			return out, err
		}
	}
	return out, nil
}
