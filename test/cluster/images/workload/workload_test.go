package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func do(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), arguments, &out)
	return out.String(), err
}

func TestVerify(t *testing.T) {
	const length = "200000"
	tests := map[string]struct {
		reason string
		damage func(content []byte) []byte
		seed   string
		fails  bool
	}{
		"Same":      {reason: "nothing happened", damage: func(c []byte) []byte { return c }, seed: "a"},
		"OneBit":    {reason: "a bit has changed", damage: func(c []byte) []byte { c[len(c)-1] ^= 1; return c }, seed: "a", fails: true},
		"Truncated": {reason: "the end is missing", damage: func(c []byte) []byte { return c[:len(c)-1] }, seed: "a", fails: true},
		"OtherSeed": {reason: "it is another volume", damage: func(c []byte) []byte { return c }, seed: "b", fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if _, err := do(t, "write", path, length, "a"); err != nil {
				t.Fatal(err)
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, tc.damage(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := do(t, "verify", path, length, tc.seed); (err != nil) != tc.fails {
				t.Errorf("%s: got %q, %v", tc.reason, out, err)
			}
		})
	}
}

func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	done := make(chan error, 1)
	go func() { done <- appendLines(ctx, path, time.Millisecond, &out) }()
	for lines := 0; lines < 3; {
		content, err := os.ReadFile(path)
		if err == nil {
			lines = bytes.Count(content, []byte("\n"))
		}
	}
	cancel()
	if err := <-done; err != nil || !strings.Contains(out.String(), "lines, longest pause") {
		t.Errorf("got %v, output %s", err, out.String())
	}
}

func TestAppendFails(t *testing.T) {
	if out, err := do(t, "append", "/dev/full"); err == nil {
		t.Errorf("a full volume is no failure: %s", out)
	}
}

func TestSize(t *testing.T) {
	if out, err := do(t, "size", t.TempDir()); err != nil || len(strings.TrimSpace(out)) < 6 {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestGet(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte("metric 1\n"))
	}))
	defer server.Close()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := server.URL + "/other"
	for code, file := range map[string]string{"200": token, "401": noToken} {
		want := fmt.Sprintf("%[1]s %[2]s\n%[1]s %[3]s\n", code, server.URL, other)
		if out, err := do(t, "get", file, server.URL, other); err != nil || out != want {
			t.Errorf("got %q, %v; want %q", out, err, want)
		}
	}
	if out, err := do(t, "body", token, server.URL); err != nil || out != "metric 1\n" {
		t.Errorf("got body %q, %v", out, err)
	}
	if out, err := do(t, "body", noToken, server.URL); err == nil {
		t.Errorf("got body %q of what is refused", out)
	}
}

func TestUsage(t *testing.T) {
	for _, arguments := range [][]string{{}, {"write", "x"}, {"else"}, {"write", "x", "many", "a"}} {
		if _, err := do(t, arguments...); err == nil {
			t.Errorf("%q is accepted", arguments)
		}
	}
}
