package clusterstorage

import (
	"slices"
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	configfake "github.com/openshift/client-go/config/clientset/versioned/fake"
	configinformers "github.com/openshift/client-go/config/informers/externalversions"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/status"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/dynamicinformer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/utils/clock"
)

// TestReportsBesideNobody: a cluster-storage-operator that comes later has its own version and related objects in
// ClusterOperator storage; both would write them for ever.
func TestReportsBesideNobody(t *testing.T) {
	const own = "CephClusterStorageAvailable"
	for name, tc := range map[string]struct {
		reason string
		cso    bool
	}{
		"Alone":  {"nobody else reports", false},
		"Beside": {"it does not know Ceph, and reports all the same", true},
	} {
		t.Run(name, func(t *testing.T) {
			reported := &configv1.ClusterOperator{ObjectMeta: metav1.ObjectMeta{Name: clusterOperatorName}, Status: configv1.ClusterOperatorStatus{Versions: versions("4.22.9")}}
			config := configfake.NewSimpleClientset(reported)
			s := deployedBy("4.23.0", nil)
			s.ReportClusterOperator = true
			s.recorder, s.versions = events.NewInMemoryRecorder("test", clock.RealClock{}), status.NewVersionGetter()
			s.clients.config, s.clients.configInformers = config, configinformers.NewSharedInformerFactory(config, 0)
			s.clients.cso = informers.NewSharedInformerFactory(nil, 0)
			s.clients.crds = dynamicinformer.NewDynamicSharedInformerFactory(dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()), 0)
			if err := s.clients.configInformers.Config().V1().ClusterOperators().Informer().GetIndexer().Add(reported); err != nil {
				t.Fatal(err)
			}
			if tc.cso {
				stock := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: csoNamespace, Name: csoName}}
				if err := s.clients.cso.Apps().V1().Deployments().Informer().GetIndexer().Add(stock); err != nil {
					t.Fatal(err)
				}
			}
			spec := &operatorv1.OperatorSpec{ManagementState: operatorv1.Managed}
			syncCtx := factory.NewSyncContext("test", s.recorder)

			s.clients.storage = v1helpers.NewFakeOperatorClient(spec, &operatorv1.OperatorStatus{}, nil)
			if err := s.ownState().Sync(t.Context(), syncCtx); err != nil {
				t.Fatal(err)
			}
			_, said, _, _ := s.clients.storage.GetOperatorState()
			if alone := v1helpers.FindOperatorCondition(said.Conditions, own) != nil; alone == tc.cso {
				t.Errorf("%s: %v", tc.reason, said.Conditions)
			}
			told := v1helpers.FindOperatorCondition(said.Conditions, "CephClusterOperatorReported")
			if (told != nil) != tc.cso || told != nil && (told.Status != no || !strings.Contains(told.Message, "--report-cluster-operator")) {
				t.Errorf("%s: told %v", tc.reason, told)
			}

			s.clients.storage = v1helpers.NewFakeOperatorClient(spec, &operatorv1.OperatorStatus{Conditions: []operatorv1.OperatorCondition{cond(own, yes, "")}}, nil)
			for _, c := range []factory.Controller{s.clusterOperator(), s.managementState()} {
				if err := c.Sync(t.Context(), syncCtx); err != nil {
					t.Fatal(err)
				}
			}
			if writes := len(config.Actions()); (writes > 0) == tc.cso {
				t.Errorf("%s: %v", tc.reason, config.Actions())
			}
			_, said, _, _ = s.clients.storage.GetOperatorState()
			if wrote := v1helpers.FindOperatorCondition(said.Conditions, "ManagementStateDegraded") != nil; wrote == tc.cso {
				t.Errorf("%s: %v", tc.reason, said.Conditions)
			}
			if known := slices.Contains(s.conditionTypes(), "ManagementStateDegraded"); known == tc.cso {
				t.Errorf("%s: what was written before is kept: %t", tc.reason, known)
			}
		})
	}
}
