package nodes

import (
	"strings"
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestLife: a node is told of after a minute, by its state then, and not before, and until it stays
// served; pods that start are no news, nor is one that crashes each time.
func TestLife(t *testing.T) {
	r := newRig(t)
	unknown := Unserved{Node: "c", Why: "the kubelet does not know the driver", Unregistered: true}
	cordoned := Unserved{Node: "a", Why: "CrashLoopBackOff; the node is cordoned", Cordoned: true}
	crashing, away := Unserved{Node: "a", Why: "CrashLoopBackOff"}, Unserved{Node: "b", Why: "the node is not ready", Away: true}
	off := []Unserved{{Node: "a", Why: "off", Away: true}, {Node: "b", Why: "off", Away: true}, {Node: "c", Why: "off", Away: true}}
	nobody := []Unserved{{Node: "a", Why: "gone"}, {Node: "b", Why: "gone"}, {Node: "c", Why: "gone"}}
	for _, step := range []struct {
		reason     string
		after      time.Duration
		available  int32
		registered int
		unserved   []Unserved
		want, why  string
		count      Report
	}{
		{"pods start", 0, 0, 3, []Unserved{crashing, away}, "", "", Report{Served: 1, NotServed: 1, NotReady: 1}},
		{"and one crashes", 20 * time.Second, 1, 3, []Unserved{crashing}, "", "", Report{Served: 2, NotServed: 1}},
		{"and crashes", 39 * time.Second, 1, 3, []Unserved{crashing}, "", "", Report{Served: 2, NotServed: 1}},
		{"for a minute; the other one was served meanwhile", time.Second, 1, 3, []Unserved{crashing, away}, condition.NodesNotServed, "1 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\na: CrashLoopBackOff", Report{Served: 1, NotServed: 1, NotReady: 1}},
		{"nothing new", 0, 1, 3, []Unserved{crashing, away}, condition.NodesNotServed, "1 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\na: CrashLoopBackOff", Report{Served: 1, NotServed: 1, NotReady: 1}},
		{"that one does no more", patience - calm, 2, 3, []Unserved{away}, condition.NodesNotServed, "1 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\na: CrashLoopBackOff", Report{Served: 1, NotServed: 1, NotReady: 1}},
		{"a node is away", calm, 2, 3, []Unserved{away}, condition.NodesNotReady, "1 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\nb: the node is not ready", Report{Served: 2, NotReady: 1}},
		{"and back", 0, 3, 3, nil, condition.NodesNotReady, "1 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\nb: the node is not ready", Report{Served: 2, NotReady: 1}},
		{"and stays", calm, 3, 3, nil, "", "", Report{Served: 3}},
		{"one is cordoned, and its pod crashes", 0, 2, 3, []Unserved{cordoned}, "", "", Report{Served: 2, NotReady: 1}},
		{"for a minute", time.Minute, 2, 3, []Unserved{cordoned}, condition.NodesNotReady, "1 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\na: CrashLoopBackOff; the node is cordoned", Report{Served: 2, NotReady: 1}},
		{"and has just begun anew", 0, 3, 3, nil, condition.NodesNotReady, "1 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\na: CrashLoopBackOff; the node is cordoned", Report{Served: 2, NotReady: 1}},
		{"and crashes again", calm - time.Second, 2, 3, []Unserved{cordoned}, condition.NodesNotReady, "1 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\na: CrashLoopBackOff; the node is cordoned", Report{Served: 2, NotReady: 1}},
		{"and begins anew", time.Second, 3, 3, nil, condition.NodesNotReady, "1 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\na: CrashLoopBackOff; the node is cordoned", Report{Served: 2, NotReady: 1}},
		{"and is mended", calm, 3, 3, nil, "", "", Report{Served: 3}},
		{"another begins to crash", 0, 2, 3, []Unserved{crashing}, "", "", Report{Served: 2, NotServed: 1}},
		{"and is ready for a moment each time", patience - time.Second, 3, 3, nil, "", "", Report{Served: 3}},
		{"for a minute", time.Second, 2, 3, []Unserved{crashing}, condition.NodesNotServed, "1 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\na: CrashLoopBackOff", Report{Served: 2, NotServed: 1}},
		{"and is mended", 0, 3, 3, nil, condition.NodesNotServed, "1 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\na: CrashLoopBackOff", Report{Served: 2, NotServed: 1}},
		{"as one sees later", calm, 3, 3, nil, "", "", Report{Served: 3}},
		{"a kubelet is started again", 0, 3, 2, []Unserved{unknown}, "", "", Report{Served: 2, NotServed: 1}},
		{"and does not find the driver", time.Minute, 3, 2, []Unserved{unknown}, condition.NodesNotServed, "1 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\nc: the kubelet does not know the driver", Report{Served: 2, NotServed: 1}},
		{"and does", 0, 3, 3, nil, condition.NodesNotServed, "1 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\nc: the kubelet does not know the driver", Report{Served: 2, NotServed: 1}},
		{"and stays", calm, 3, 3, nil, "", "", Report{Served: 3}},
		{"no kubelet does", 0, 3, 0, nobody, "", "", Report{NotServed: 3}},
		{"for a minute", time.Minute, 3, 0, nobody, condition.NodesNotServed, "3 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\na: gone\nb: gone\nc: gone", Report{NotServed: 3}},
		{"one does", 0, 3, 1, nobody[:2], condition.NodesNotServed, "3 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\na: gone\nb: gone\nc: gone", Report{NotServed: 3}},
		{"and stays", calm, 3, 1, nobody[:2], condition.NodesNotServed, "2 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\na: gone\nb: gone", Report{Served: 1, NotServed: 2}},
		{"all do", 0, 3, 3, nil, condition.NodesNotServed, "2 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\na: gone\nb: gone", Report{Served: 1, NotServed: 2}},
		{"and stay", calm, 3, 3, nil, "", "", Report{Served: 3}},
		{"the whole cluster is shut down", 0, 0, 3, off, "", "", Report{NotReady: 3}},
		{"which is no fault of the driver", time.Minute, 0, 3, off, condition.NodesNotReady, "3 of 3 nodes cannot mount volumes of rbd.csi.ceph.com:\na: off\nb: off\nc: off", Report{NotReady: 3}},
	} {
		r.set("x", 3, step.available, step.unserved)
		r.registered = step.registered
		r.look(t, step.after)
		reason, message := r.served().Reason, r.served().Message
		if reason != step.want || message != step.why {
			t.Errorf("%s: got %s: %q", step.reason, reason, message)
		}
		if got, _ := r.Report.Get(); got != step.count {
			t.Errorf("%s: counted %+v, want %+v", step.reason, got, step.count)
		}
		if got := r.operator.Condition(condition.NodesDegraded); (got.Status == operatorv1.ConditionTrue) != (len(nobody) == strings.Count(message, "gone")) {
			t.Errorf("%s: Degraded is only that no node at all is served: %+v", step.reason, got)
		}
	}
	if r.operator.Writes() != 14 {
		t.Errorf("%d writes, want one for each change", r.operator.Writes())
	}
}

// TestLeftOut: nodes without the driver are counted and told at once, beside others that cannot mount, and
// nobody looks for them where no setting can leave any out.
func TestLeftOut(t *testing.T) {
	r := newRig(t)
	everywhere, some := map[string]string{corev1.LabelOSStable: "linux"}, map[string]string{corev1.LabelOSStable: "linux", "storage": "ceph"}
	crashing := []Unserved{{Node: "a", Why: "CrashLoopBackOff"}}
	const left = "2 of 4 nodes have no driver rbd.csi.ceph.com, because ceph.node leaves them out: y, z"
	const nowhere = "3 of 3 nodes have no driver rbd.csi.ceph.com, because ceph.node leaves them out: x, y, z"
	const broken = "1 of 2 nodes cannot mount volumes of rbd.csi.ceph.com:\na: CrashLoopBackOff\n" + left
	for _, step := range []struct {
		reason     string
		selector   map[string]string
		available  int32
		found      Found
		status     operatorv1.ConditionStatus
		want, says string
		count      Report
		looks      int
	}{
		{"on all nodes", everywhere, 2, Found{Wanted: 2, LeftOut: []string{"y", "z"}}, "", "", "", Report{Served: 2}, 0},
		{"on some", some, 2, Found{Wanted: 2, LeftOut: []string{"y", "z"}}, "True", condition.NodesLeftOut, left, Report{Served: 2, LeftOut: 2}, 1},
		{"the answer is of before it started", some, 2, Found{Wanted: 2, Unserved: crashing, LeftOut: []string{"y", "z"}}, "True", condition.NodesLeftOut, left, Report{Served: 2, LeftOut: 2}, 2},
		{"one crashes", some, 1, Found{Wanted: 2, Unserved: crashing, LeftOut: []string{"y", "z"}}, "True", condition.NodesLeftOut, left, Report{Served: 1, NotServed: 1, LeftOut: 2}, 3},
		{"for a minute", some, 1, Found{Wanted: 2, Unserved: crashing, LeftOut: []string{"y", "z"}}, "False", condition.NodesNotServed, broken, Report{Served: 1, NotServed: 1, LeftOut: 2}, 4},
		{"on some, which are all", some, 2, Found{}, "False", condition.NodesNotServed, "1 of 2 nodes cannot mount volumes of rbd.csi.ceph.com:\na: CrashLoopBackOff", Report{Served: 1, NotServed: 1}, 5},
		{"and stay", some, 2, Found{Wanted: 2}, "", "", "", Report{Served: 2}, 6},
		{"on none at all, where pods still end", some, 2, Found{Leaving: true, LeftOut: []string{"x"}}, "True", condition.NodesLeftOut, "1 of 1 nodes have no driver rbd.csi.ceph.com, because ceph.node leaves them out: x", Report{Served: 2, LeftOut: 1}, 7},
		{"on none at all, as Kubernetes has not heard yet", some, 2, Found{LeftOut: []string{"x", "y", "z"}}, "True", condition.NodesLeftOut, nowhere, Report{Served: 2, LeftOut: 3}, 8},
	} {
		r.set("x", 2, step.available, nil)
		r.found = step.found
		r.daemonSet.Spec.Template.Spec.NodeSelector = step.selector
		r.daemonSet.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		r.look(t, time.Minute)
		got := r.served()
		if none := r.operator.Condition(condition.NodesDegraded); (none.Status == operatorv1.ConditionTrue) != (step.says == nowhere) || none.Message != "" && none.Message != step.says {
			t.Errorf("%s: Degraded is only that no node at all is served: %+v", step.reason, none)
		}
		if got.Status != step.status || got.Reason != step.want || got.Message != step.says {
			t.Errorf("%s: got %s %s: %q", step.reason, got.Status, got.Reason, got.Message)
		}
		if count, _ := r.Report.Get(); count != step.count || r.looks != step.looks {
			t.Errorf("%s: counted %+v in %d looks, want %+v in %d", step.reason, count, r.looks, step.count, step.looks)
		}
	}
}

func TestNextLook(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		served bool
		found  Found
		want   time.Duration
	}{
		"Broken":  {"it may be mended", false, Found{}, again},
		"Leaving": {"an answer, maybe an older one, from before pods have ended on nodes that are left out", true, Found{Leaving: true}, again},
		"LeftOut": {"nodes come and go without a pod", true, Found{LeftOut: []string{"a"}}, seldom},
	} {
		if got := nextLook(tc.served, tc.found); got != tc.want {
			t.Errorf("%s: %s: %s, want %s", name, tc.reason, got, tc.want)
		}
	}
}

// TestLook: pods of others do not count, and nobody asks for each pod that starts.
func TestLook(t *testing.T) {
	a, b := node("a", corev1.ConditionTrue), node("b", corev1.ConditionTrue)
	mine, others := pod("a", corev1.ConditionTrue), pod("b", corev1.ConditionTrue)
	mine.Namespace, others.Namespace = driver.Namespace, driver.Namespace
	mine.Labels, others.Labels = map[string]string{"app": "n"}, map[string]string{"app": "other"}
	daemonSet := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace}}
	daemonSet.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "n"}}
	client, now := fake.NewClientset(&a, &b, &mine, &others), clocktesting.NewFakeClock(time.Unix(1000, 0))
	look := NewLook(client, now, func(string) bool { return true })
	for _, step := range []struct {
		reason     string
		after      time.Duration
		uid        types.UID
		generation int64
		desired    int32
		requests   int
	}{
		{"the first time", 0, "one", 1, 2, 2},
		{"a pod has started", 29 * time.Second, "one", 1, 2, 2},
		{"half a minute later", time.Second, "one", 1, 2, 4},
		{"a change", 0, "one", 2, 2, 6},
		{"another one", 0, "other", 2, 2, 8},
		{"a node comes, whose pod starts", 0, "other", 2, 3, 8},
		{"and is deleted", 0, "other", 2, 2, 10},
	} {
		now.SetTime(now.Now().Add(step.after))
		daemonSet.UID, daemonSet.Generation, daemonSet.Status.DesiredNumberScheduled = step.uid, step.generation, step.desired
		found, err := look.Find(t.Context(), daemonSet)
		got := found.Unserved
		if err != nil || len(got) != 1 || got[0].Node != "b" {
			t.Errorf("%s: got %v, %v", step.reason, got, err)
		}
		if requests := len(client.Actions()); requests != step.requests {
			t.Errorf("%s: %d requests, want %d", step.reason, requests, step.requests)
		}
	}
}

// TestLookAtTheEndOfARollout: a rollout ends beside nodes that are not ready, or cordoned, when no others miss a pod.
func TestLookAtTheEndOfARollout(t *testing.T) {
	away, a, b := node("away", corev1.ConditionFalse), node("a", corev1.ConditionTrue), node("b", corev1.ConditionTrue)
	daemonSet := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace}}
	daemonSet.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "n"}}
	client := fake.NewClientset(&away, &a, &b)
	look := NewLook(client, clocktesting.NewFakeClock(time.Unix(1000, 0)), func(string) bool { return true })
	for _, step := range []struct {
		reason   string
		started  string
		missing  int32
		unserved int
		requests int
	}{
		{"none has started", "", 3, 3, 2},
		{"one more to wait for", "a", 2, 3, 2},
		{"only that of the node that is away is missing", "b", 1, 1, 4},
		{"still", "", 1, 1, 4},
	} {
		if step.started != "" {
			p := pod(step.started, corev1.ConditionTrue)
			p.Name, p.Namespace, p.Labels = step.started, driver.Namespace, map[string]string{"app": "n"}
			if err := client.Tracker().Add(&p); err != nil {
				t.Fatal(err)
			}
		}
		daemonSet.Status = appsv1.DaemonSetStatus{DesiredNumberScheduled: 3, NumberUnavailable: step.missing}
		found, err := look.Find(t.Context(), daemonSet)
		if err != nil || len(found.Unserved) != step.unserved {
			t.Errorf("%s: got %v, %v, want %d", step.reason, found.Unserved, err, step.unserved)
		}
		if requests := len(client.Actions()); requests != step.requests {
			t.Errorf("%s: %d requests, want %d", step.reason, requests, step.requests)
		}
	}
}
