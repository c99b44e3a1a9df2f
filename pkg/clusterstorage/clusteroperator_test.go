package clusterstorage

import (
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	configinformers "github.com/openshift/client-go/config/informers/externalversions"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestMovingBeside: where cluster-storage-operator has its own version in ClusterOperator storage, that is Progressing while
// another version's operators are the last that have applied what is deployed.
func TestMovingBeside(t *testing.T) {
	const moving = "Moving to 4.23.0, waiting for the operator and the pods of rbd.csi.ceph.com"
	rolling := func(_ *operatorv1.ClusterCSIDriver, _ *appsv1.Deployment, node *appsv1.DaemonSet) {
		node.Status.DesiredNumberScheduled = 2
	}
	for name, tc := range map[string]struct {
		reason   string
		operands string
		moving   operatorv1.ConditionStatus // so far
		change   func(*operatorv1.ClusterCSIDriver, *appsv1.Deployment, *appsv1.DaemonSet)
		message  string
	}{
		"There":     {"", "4.23.0", operatorv1.ConditionTrue, nil, ""},
		"Upgrading": {"a person wants to know what is waited for", "4.22.0", operatorv1.ConditionFalse, nil, moving},
		"Nodes later": {"the controller's pods are the first", "4.23.0", operatorv1.ConditionFalse, func(_ *operatorv1.ClusterCSIDriver, _ *appsv1.Deployment, node *appsv1.DaemonSet) {
			delete(node.Annotations, driver.VersionAnnotation)
		}, moving},
		"Rolling out":       {"all is applied, and not yet running", "4.23.0", operatorv1.ConditionTrue, rolling, moving},
		"Rolling out later": {"that is no move", "4.23.0", operatorv1.ConditionFalse, rolling, ""},
		"Unmanaged": {"an administrator looks after it", "4.22.0", operatorv1.ConditionTrue, func(cr *operatorv1.ClusterCSIDriver, _ *appsv1.Deployment, _ *appsv1.DaemonSet) {
			cr.Spec.ManagementState = operatorv1.Unmanaged
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := deployedBy(tc.operands, tc.change)
			s.ReportClusterOperator = false
			s.clients.storage = v1helpers.NewFakeOperatorClient(&operatorv1.OperatorSpec{}, &operatorv1.OperatorStatus{Conditions: []operatorv1.OperatorCondition{
				{Type: "CephClusterStorageProgressing", Status: tc.moving},
			}}, nil)
			want := operatorv1.ConditionFalse
			if tc.message != "" {
				want = operatorv1.ConditionTrue
			}
			c := s.moving(s.operators()[:1])
			if *c.Type != "CephClusterStorageProgressing" || *c.Status != want || *c.Message != tc.message {
				t.Errorf("%s: %s=%s %q, want %s %q", tc.reason, *c.Type, *c.Status, *c.Message, want, tc.message)
			}
		})
	}
}

// TestMoving: ClusterOperator storage is Progressing while it reports another version.
func TestMoving(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		// reported are the versions of ClusterOperator storage; nil means that there is none.
		reported []configv1.OperandVersion
		// operands have been applied by an operator of this version.
		operands string
		want     operatorv1.ConditionStatus
		message  string
	}{
		"Installed":  {"nothing has been reported", nil, "4.23.0", operatorv1.ConditionTrue, "Moving to 4.23.0"},
		"Upgraded":   {"the report is still to come", versions("4.22.0"), "4.23.0", operatorv1.ConditionTrue, "Moving from 4.22.0 to 4.23.0"},
		"Upgrading":  {"a person wants to know what is waited for", versions("4.22.0"), "4.22.0", operatorv1.ConditionTrue, "Moving from 4.22.0 to 4.23.0, waiting for the operator and the pods of rbd.csi.ceph.com"},
		"There":      {"", versions("4.23.0"), "4.23.0", operatorv1.ConditionFalse, ""},
		"There once": {"a rollout after that has a condition of its own", versions("4.23.0"), "4.22.0", operatorv1.ConditionFalse, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := deployedBy(tc.operands, nil)
			s.ReportClusterOperator = true
			s.clients.cso = informers.NewSharedInformerFactory(nil, 0)
			s.clients.configInformers = configinformers.NewSharedInformerFactory(nil, 0)
			if tc.reported != nil {
				o := &configv1.ClusterOperator{ObjectMeta: metav1.ObjectMeta{Name: clusterOperatorName}, Status: configv1.ClusterOperatorStatus{Versions: tc.reported}}
				if err := s.clients.configInformers.Config().V1().ClusterOperators().Informer().GetIndexer().Add(o); err != nil {
					t.Fatal(err)
				}
			}
			c := s.moving(s.operators()[:1])
			if *c.Type != "CephClusterStorageProgressing" || *c.Status != tc.want || *c.Message != tc.message {
				t.Errorf("%s: %s=%s %q, want %s %q", tc.reason, *c.Type, *c.Status, *c.Message, tc.want, tc.message)
			}
		})
	}
}

func versions(operator string) []configv1.OperandVersion {
	return []configv1.OperandVersion{{Name: "elsewhere", Version: "1"}, {Name: operatorVersion, Version: operator}}
}

func TestUndeclared(t *testing.T) {
	for kubernetes, command := range map[bool]string{false: "`oc create secret", true: "`kubectl create secret"} {
		if got := undeclared(kubernetes); !strings.Contains(got, command) {
			t.Errorf("got %q, want %q", got, command)
		}
	}
}
