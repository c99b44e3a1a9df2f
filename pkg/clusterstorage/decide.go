package clusterstorage

import (
	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// verdict is what is done about one driver.
type verdict int

const (
	// leave: write nothing.
	leave verdict = iota
	// blocked: start nothing, because the CRD does not let the ClusterCSIDriver be created.
	blocked
	// run: start the operator and look after it.
	run
)

// facts are what decides over a driver.
type facts struct {
	// managed: spec.managementState of Storage/cluster is Managed.
	managed bool
	// stoodDown: a CSO that knows Ceph runs.
	stoodDown bool
	// wanted: a Ceph cluster is declared or the ClusterCSIDriver exists.
	wanted bool
	// exists: the ClusterCSIDriver or the operator's Deployment does.
	exists bool
	// accepted: the CRD accepts the ClusterCSIDriver's name.
	accepted bool
}

// decide:
//
//	not managed, or a CSO that knows Ceph runs  leave
//	something of the driver exists              run: drivers go on under a stock CRD, too
//	not wanted                                  leave
//	wanted, name not accepted                   blocked
//	wanted, name accepted                       run
func decide(f facts) verdict {
	switch {
	case !f.managed || f.stoodDown:
		return leave
	case f.exists:
		return run
	case !f.wanted:
		return leave
	case !f.accepted:
		return blocked
	}
	return run
}

func (s starter) decide(o operator) verdict { return decide(s.gather(o)) }

func (s starter) gather(o operator) facts {
	_, err := s.clients.operators.Operator().V1().ClusterCSIDrivers().Lister().Get(o.CSIDriverName)
	hasCR := !apierrors.IsNotFound(err)
	_, err = s.clients.ns().Apps().V1().Deployments().Lister().Deployments(driver.Namespace).Get(o.driver.OperatorName())
	return facts{
		managed:   s.managed(),
		stoodDown: s.otherGlue(),
		wanted:    o.StatusFilter(hasCR),
		exists:    hasCR || err == nil,
		accepted:  accepts(s.clients.crd(clusterCSIDriverCRD), o.CSIDriverName),
	}
}

// managed says whether Storage/cluster exists and is Managed.
func (s starter) managed() bool {
	spec, _, _, err := s.clients.storage.GetOperatorState()
	return err == nil && spec.ManagementState == operatorv1.Managed
}

// started says whether the operator of a driver is to run, or would be but for the CRD.
func (s starter) started(o operator) bool { return s.decide(o) != leave }
