package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPrinterSaysEachThingOnce(t *testing.T) {
	now := time.Unix(0, 0)
	var out strings.Builder
	p := newPrinter(&out, func() time.Time { return now })
	steps := []struct {
		reason string
		facts  []fact
		want   string
	}{
		{"what is not there is not told", []fact{{"Secret x", ""}}, ""},
		{"what is new is told", []fact{{"Secret x", "exists"}, {"Available", "is False"}}, "    1.0 s  rbd      Secret x exists\n    1.0 s  rbd      Available is False\n"},
		{"what stays is not told again", []fact{{"Secret x", "exists"}, {"Available", "is False"}}, ""},
		{"what changes is told, on one line", []fact{{"Secret x", "exists"}, {"Available", "is True:\n  all\tis well\n"}}, "    2.0 s  rbd      Available is True: all is well\n"},
		{"what goes is told", []fact{{"Secret x", ""}}, "    2.5 s  rbd      Secret x is gone\n"},
		{"and only once", []fact{{"Secret x", ""}}, ""},
		{"what comes back is told", []fact{{"Secret x", "exists"}}, "    3.5 s  rbd      Secret x exists\n"},
	}
	for _, step := range steps {
		now = now.Add(500 * time.Millisecond)
		out.Reset()
		p.show("rbd", step.facts)
		if diff := cmp.Diff(step.want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
}

func TestSubjectsHaveTheirOwnFacts(t *testing.T) {
	var out strings.Builder
	p := newPrinter(&out, time.Now)
	p.show("rbd", []fact{{"Available", "is True"}})
	p.show("cephfs", []fact{{"Available", "is True"}})
	if n := strings.Count(out.String(), "Available is True"); n != 2 {
		t.Errorf("told %d times for two drivers:\n%s", n, out.String())
	}
}

func TestWriterPrefixesEachLine(t *testing.T) {
	var out strings.Builder
	p := newPrinter(&out, func() time.Time { return time.Unix(0, 0) })
	if n, err := p.of("cluster").Write([]byte("one 100%\n  two\n")); n != 15 || err != nil {
		t.Errorf("Write: %d, %v", n, err)
	}
	want := "    0.0 s  cluster  one 100%\n    0.0 s  cluster  two\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHintsQuotePaths(t *testing.T) {
	text := hints(paths{
		kubeconfig: "/my home/it's/kubeconfig", kubectl: "/bin/kubectl", cephConf: "/c/ceph.conf", cephKeyring: "/c/keyring",
		logs: "/c/logs", operators: "/c/operators",
	})
	for _, want := range []string{
		`  export KUBECONFIG='/my home/it'\''s/kubeconfig'` + "\n",
		"  alias oc=/bin/kubectl ",
		"  export CEPH_ARGS='--conf /c/ceph.conf --keyring /c/keyring'\n",
		"make cluster-down",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
}
