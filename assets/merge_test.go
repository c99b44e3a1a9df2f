package assets

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestMerge(t *testing.T) {
	tests := map[string]struct {
		reason            string
		whole, part, want string
	}{
		"Maps":       {reason: "maps are merged", whole: "{a: {b: 1, c: 2}}", part: "{a: {c: 3}}", want: "{a: {b: 1, c: 3}}"},
		"Arguments":  {reason: "arguments are added", whole: "{args: [a]}", part: "{args: [b]}", want: "{args: [a, b]}"},
		"OtherLists": {reason: "lists without a key are replaced", whole: "{verbs: [a]}", part: "{verbs: [b]}", want: "{verbs: [b]}"},
		"Items": {
			reason: "items with the same key are merged, new ones come last",
			whole:  "{containers: [{name: x, args: [a]}, {name: y}]}",
			part:   "{containers: [{name: z}, {name: x, args: [b], image: i}]}",
			want:   "{containers: [{name: x, args: [a, b], image: i}, {name: y}, {name: z}]}",
		},
		"Mounts": {
			reason: "one volume may be mounted twice",
			whole:  "{volumeMounts: [{mountPath: /a, name: v}]}", part: "{volumeMounts: [{mountPath: /b, name: v}]}",
			want: "{volumeMounts: [{mountPath: /a, name: v}, {mountPath: /b, name: v}]}",
		},
		"Ports": {
			reason: "a port is told by its number",
			whole:  "{ports: [{containerPort: 1, name: a}]}", part: "{ports: [{containerPort: 1, protocol: TCP}, {containerPort: 2}]}",
			want: "{ports: [{containerPort: 1, name: a, protocol: TCP}, {containerPort: 2}]}",
		},
		"Scalars": {reason: "the last one counts", whole: "{a: 1}", part: "{a: 2, b: 3}", want: "{a: 2, b: 3}"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			whole, part, want := object(t, tc.whole), object(t, tc.part), object(t, tc.want)
			merge(whole, part)
			if diff := cmp.Diff(want, whole); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPlaceholders(t *testing.T) {
	const role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a}\n"
	tests := map[string]struct {
		reason  string
		name    string
		content string
		refused bool
	}{
		"Good":         {reason: "a whole object", name: "static/a.yaml", content: role},
		"Placeholder":  {reason: "library-go fills in nothing here", name: "static/a.yaml", content: role + "# ${LOG_LEVEL}\n", refused: true},
		"ForLibraryGo": {reason: "it fills in the log level of workloads", name: Node, content: role + "# ${LOG_LEVEL}\n"},
		"NotInNodes":   {reason: "it does not know the cluster in a DaemonSet", name: Node, content: role + "# ${CLUSTER_ID}\n", refused: true},
		"Unfinished":   {reason: "half a placeholder is one, too", name: Controller, content: role + "# ${LOG_LEVEL\n", refused: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := Set{content: map[string][]byte{tc.name: []byte(tc.content)}}.check()
			if refused := err != nil; refused != tc.refused {
				t.Errorf("%s: got error %v", tc.reason, err)
			}
		})
	}
}
