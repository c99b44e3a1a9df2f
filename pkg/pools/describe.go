package pools

import (
	"errors"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// deniedAdvice completes Ceph's bare refusal.
const deniedAdvice = "; give the user of Secret " + driver.Namespace + "/" + driver.CredentialsSecret +
	" the caps for it with 'ceph auth caps', or put another user's keyring into the Secret"

// describe turns what is wrong into the condition; nil is the good case. The first match wins:
// ErrNoPool may carry the refusal that led to it.
func describe(problem error) *condition.Said {
	if problem == nil {
		return condition.Good(condition.PoolsDegraded)
	}
	reason, advice := condition.SyncError, ""
	for _, known := range []struct {
		err            error
		reason, advice string
	}{
		{driver.ErrInvalidSettings, condition.InvalidSettings, ""},
		{driver.ErrNoPool, condition.NoPool, ""},
		{driver.ErrNoFilesystem, condition.NoFilesystem, ""},
		{driver.ErrFilesystemUnclear, condition.NoFilesystem, ""},
		{driver.ErrNoManager, condition.CephUnreachable, ""},
		{ceph.ErrNoActiveMDS, condition.NoActiveMDS, ""},
		{ceph.ErrDenied, condition.AccessDenied, deniedAdvice},
	} {
		if errors.Is(problem, known.err) {
			reason, advice = known.reason, known.advice
			break
		}
	}
	return condition.New(condition.PoolsDegraded, operatorv1.ConditionTrue, reason, problem.Error()+advice)
}
