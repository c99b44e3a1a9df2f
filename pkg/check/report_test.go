package check

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var sample = Report{Lines: []Line{
	{Group: "Files", Name: "ceph.conf", State: OK, Message: "3 mon addresses"},
	{Group: "Mons", Name: "quorum", State: Wrong, Message: "2 of 3 mons\nb", Fix: []string{"first <x>", "second"}},
	{Group: "Mons", Name: "a", State: Note, Message: "n"},
}}

// TestTable is what a person reads.
func TestTable(t *testing.T) {
	var out strings.Builder
	if err := sample.WriteTable(&out); err != nil {
		t.Fatal(err)
	}
	const want = `Files
  ok       ceph.conf  3 mon addresses

Mons
  wrong    quorum     2 of 3 mons b
           $ first <x>
           $ second
  note     a          n

1 wrong, 1 note, 1 ok.
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestJSON is the schema that scripts rely on.
func TestJSON(t *testing.T) {
	var out strings.Builder
	if err := sample.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	const want = `{
  "version": 1,
  "result": "wrong",
  "lines": [
    {
      "group": "Files",
      "name": "ceph.conf",
      "state": "ok",
      "message": "3 mon addresses"
    },
    {
      "group": "Mons",
      "name": "quorum",
      "state": "wrong",
      "message": "2 of 3 mons\nb",
      "fix": [
        "first <x>",
        "second"
      ]
    },
    {
      "group": "Mons",
      "name": "a",
      "state": "note",
      "message": "n"
    }
  ]
}
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	out.Reset()
	if err := (Report{}).WriteJSON(&out); err != nil || !strings.Contains(out.String(), `"lines": []`) || !strings.Contains(out.String(), `"result": "ok"`) {
		t.Errorf("an empty report is %s, %v", out.String(), err)
	}
}
