package glue

import (
	"strings"
	"testing"
)

func TestUndeclared(t *testing.T) {
	for kubernetes, command := range map[bool]string{false: "`oc create secret", true: "`kubectl create secret"} {
		if got := undeclared(kubernetes); !strings.Contains(got, command) {
			t.Errorf("got %q, want %q", got, command)
		}
	}
}
