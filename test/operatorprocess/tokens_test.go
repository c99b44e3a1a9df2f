package operatorprocess

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

const tokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token"

// TestTokens: a pod outlives its tokens.
func TestTokens(t *testing.T) {
	const life = 2 * time.Second
	for reason, idle := range map[string]bool{"while it runs": false, "when it starts again": true} {
		t.Run(reason, func(t *testing.T) {
			var given atomic.Int32
			c := standIn(t, waits)
			c.Client = clientWithTokens(life, func() string { return fmt.Sprintf("token %d\n", given.Add(1)) }, mountedObjects()...)
			p := run(t, c)
			first := readToken(t, p)
			if !idle {
				for deadline := time.Now().Add(time.Minute); readToken(t, p) == first; <-time.After(10 * time.Millisecond) {
					if time.Now().After(deadline) {
						t.Fatal("it still has its first token")
					}
				}
				return
			}
			p.Kill()
			<-p.Done()
			<-time.After(life)
			before := readToken(t, p)
			if err := p.Restart(); err != nil {
				t.Fatal(err)
			}
			if readToken(t, p) == before {
				t.Error("it starts with a token that has expired")
			}
		})
	}
}

func readToken(t *testing.T, p *Process) string {
	t.Helper()
	file, err := p.Outside(tokenFile)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil || len(content) == 0 {
		t.Fatalf("token %q: %v", content, err)
	}
	return string(content)
}

// TestTokenThatCannotBeRenewed stays what it is, and is asked for again.
func TestTokenThatCannotBeRenewed(t *testing.T) {
	c := standIn(t, waits)
	c.Client = clientWithTokens(-time.Hour, func() string { return "old\n" }, mountedObjects()...)
	volumes, err := c.volumes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	next, err := newTokens(c, volumes).renew(t.Context())
	if err == nil || time.Until(next) <= 0 {
		t.Errorf("renewed again at %s: %v", next, err)
	}
	if _, err := os.Stat(c.Dir); !os.IsNotExist(err) {
		t.Errorf("one that has expired is written: %v", err)
	}
}
