package faults

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// state is what there is, by what it is, without what counts or tells the time.
type state map[string]string

// volatile are fields that no two runs have in common.
var volatile = [][]string{
	{"metadata", "resourceVersion"}, {"metadata", "uid"}, {"metadata", "generation"}, {"metadata", "creationTimestamp"},
	{"metadata", "managedFields"}, {"metadata", "annotations", "deployment.kubernetes.io/revision"},
	{"metadata", "annotations", "deprecated.daemonset.template.generation"}, {"metadata", "annotations", "storage.openshift.io/stable-generation"},
	{"status", "generations"}, {"status", "observedGeneration"},
	{"spec", "clusterIP"}, {"spec", "clusterIPs"}, {"data", "tls.crt"}, {"data", "tls.key"},
}

// kubernetes is the state of all objects that operators write. Keys are those of users, whichever they are.
func kubernetes(ctx context.Context) state {
	GinkgoHelper()
	var pairs []string
	for _, u := range users(ctx) {
		pairs = append(pairs, base64.StdEncoding.EncodeToString([]byte(u.Key)), "key of "+u.Entity)
	}
	out, keys := state{}, strings.NewReplacer(pairs...)
	for _, object := range env.History.Latest() {
		if ns := object.GetNamespace(); ns != "" && ns != driver.Namespace || isTold(object.GetName()) {
			continue
		}
		object = object.DeepCopy()
		for _, field := range volatile {
			unstructured.RemoveNestedField(object.Object, field...)
		}
		if kind := object.GetKind(); kind == "Deployment" || kind == "DaemonSet" {
			unstructured.RemoveNestedField(object.Object, "status", "conditions")
			unstructured.RemoveNestedField(object.Object, "status", "collisionCount")
		}
		withoutTimes(object)
		if config, found, _ := unstructured.NestedString(object.Object, "data", "config.json"); found {
			plain, err := base64.StdEncoding.DecodeString(config)
			Expect(err).NotTo(HaveOccurred())
			Expect(unstructured.SetNestedField(object.Object, string(plain), "data", "config.json")).To(Succeed())
		}
		text, err := json.Marshal(object.Object)
		Expect(err).NotTo(HaveOccurred())
		out[fmt.Sprintf("%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())] = alike(keys.Replace(string(text)))
	}
	return out
}

// isTold says that an object tells people how things are, with times: it follows the rest.
func isTold(name string) bool {
	return slices.ContainsFunc(driver.All, func(d driver.Driver) bool { return name == d.StatusConfigMap() })
}

func withoutTimes(object *unstructured.Unstructured) {
	conditions, found, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	Expect(err).NotTo(HaveOccurred())
	if !found {
		return
	}
	for _, c := range conditions {
		delete(c.(map[string]any), "lastTransitionTime")
	}
	slices.SortFunc(conditions, func(a, b any) int {
		return strings.Compare(fmt.Sprint(a.(map[string]any)["type"]), fmt.Sprint(b.(map[string]any)["type"]))
	})
	Expect(unstructured.SetNestedSlice(object.Object, conditions, "status", "conditions")).To(Succeed())
}

// inCeph is the state of pools and users.
func inCeph(ctx context.Context) state {
	GinkgoHelper()
	out := state{}
	for _, p := range pools(ctx) {
		// The first is of one that is seconds old, the second of one with a snapshot, once and for all.
		flags := strings.NewReplacer(",creating", "", ",selfmanaged_snaps", "").Replace(p.Flags)
		out["pool "+p.Name] = fmt.Sprint(flags, p.Metadata)
	}
	for _, u := range users(ctx) {
		out["user "+u.Entity] = fmt.Sprint(u.Caps)
	}
	return out
}

// pool is one of Ceph's.
type pool struct {
	ID       int64                        `json:"pool_id"`
	Name     string                       `json:"pool_name"`
	Flags    string                       `json:"flags_names"`
	Metadata map[string]map[string]string `json:"application_metadata"`
}

func pools(ctx context.Context) []pool {
	GinkgoHelper()
	var all []pool
	ask(ctx, &all, "osd", "pool", "ls", "detail")
	return all
}

// user is one of Ceph's.
type user struct {
	Entity, Key string
	Caps        map[string]string
}

func users(ctx context.Context) []user {
	GinkgoHelper()
	var all struct {
		Users []user `json:"auth_dump"`
	}
	ask(ctx, &all, "auth", "ls")
	return all.Users
}

func ask(ctx context.Context, into any, command ...string) {
	GinkgoHelper()
	out, err := env.Cluster.Ceph().Command(ctx, append(command, "--format=json")...)
	Expect(err).NotTo(HaveOccurred())
	Expect(json.Unmarshal(out, into)).To(Succeed())
}

// differences are sentences on what is not as wanted.
func (s state) differences(want state) []string {
	var out []string
	for what, is := range s {
		if should, ok := want[what]; !ok {
			out = append(out, what+" is there")
		} else if is != should {
			out = append(out, what+":\n  is     "+around(is, should)+"\n  was to be "+around(should, is))
		}
	}
	for what := range want {
		if _, ok := s[what]; !ok {
			out = append(out, what+" is missing")
		}
	}
	slices.Sort(out)
	return out
}

// around is the part of a text from where it differs.
func around(text, other string) string {
	const context = 80
	i := 0
	for i < min(len(text), len(other)) && text[i] == other[i] {
		i++
	}
	return text[max(0, i-context):min(len(text), i+4*context)]
}
