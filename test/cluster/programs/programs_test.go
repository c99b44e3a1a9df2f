package programs

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var errBoom = errors.New("boom")

func TestKey(t *testing.T) {
	if one, same := key("a", "b"), key("a", "b"); one != same {
		t.Error("the same inputs have different keys")
	}
	for _, other := range []string{key("a"), key("b", "a"), key("ab", ""), key("a", "b", "")} {
		if other == key("a", "b") {
			t.Error("different inputs share a key")
		}
	}
}

func TestRequired(t *testing.T) {
	const gomod = "module x\n\nrequire (\n\tk8s.io/kubernetes v1.36.2\n\tk8s.io/kubernetes-other v0.1.0 // indirect\n)\nrequire single v1.0.0\n"
	tests := map[string]struct {
		module, want string
		fails        bool
	}{
		"Block":   {module: "k8s.io/kubernetes", want: "v1.36.2"},
		"Single":  {module: "single", want: "v1.0.0"},
		"Missing": {module: "k8s.io/kube", fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := required(gomod, tc.module)
			if got != tc.want || (err != nil) != tc.fails {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	tests := map[string]struct {
		reason    string
		inherited []string
		want      []string
	}{
		"ProductFlags": {
			reason:    "the product's build tags must not change the programs",
			inherited: []string{"HOME=/h", "GOFLAGS=-tags=pacific", "GOWORK=/w", "GOPROXY=p"},
			want:      []string{"HOME=/h", "GOPROXY=p", "GOFLAGS=-mod=readonly", "GOWORK=off"},
		},
		"NoHome": {
			reason:    "the go command refuses to run without places for its caches",
			inherited: []string{"HOME="},
			want:      []string{"HOME=", "GOFLAGS=-mod=readonly", "GOWORK=off", "GOCACHE=/c/go-build", "GOPATH=/c/gopath"},
		},
		"NoHomeButCaches": {
			reason:    "what the user chose stays",
			inherited: []string{"GOCACHE=/b", "GOPATH=/p"},
			want:      []string{"GOCACHE=/b", "GOPATH=/p", "GOFLAGS=-mod=readonly", "GOWORK=off"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, environment(tc.inherited, "/c")); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
		})
	}
}

// countingLog counts the lines of those that wait for the builder.
type countingLog struct{ lines atomic.Int32 }

func (l *countingLog) Write(p []byte) (int, error) {
	l.lines.Add(1)
	return len(p), nil
}

func TestInstallOnceForAll(t *testing.T) {
	const starts = 8
	target := filepath.Join(t.TempDir(), "programs")
	var fills atomic.Int32
	var waiting countingLog
	var all sync.WaitGroup
	for range starts {
		all.Go(func() {
			_, err := install(t.Context(), target, &waiting, func(_ context.Context, dir string) error {
				fills.Add(1)
				for fills.Load() == 1 && waiting.lines.Load() < starts-1 {
					runtime.Gosched()
				}
				return os.WriteFile(filepath.Join(dir, "etcd"), nil, 0o700)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if fills.Load() != 1 {
		t.Errorf("filled %d times", fills.Load())
	}
	if !exists(Installed{target}.Path("etcd")) {
		t.Error("no program in the folder")
	}
}

func TestInstallNeverLeavesHalf(t *testing.T) {
	tests := map[string]struct {
		reason string
		// interrupt leaves a build unfinished.
		interrupt func(t *testing.T, target string)
	}{
		"Failed": {
			reason: "the build returned an error",
			interrupt: func(t *testing.T, target string) {
				_, err := install(t.Context(), target, io.Discard, func(_ context.Context, dir string) error {
					return errors.Join(os.WriteFile(filepath.Join(dir, "half"), nil, 0o700), errBoom)
				})
				if !errors.Is(err, errBoom) || exists(target) {
					t.Fatalf("got %v, folder exists: %t", err, exists(target))
				}
			},
		},
		"Killed": {
			reason: "the program died while it built",
			interrupt: func(t *testing.T, target string) {
				if err := os.MkdirAll(filepath.Join(target+".unfinished", "half"), 0o700); err != nil {
					t.Fatal(err)
				}
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			target := filepath.Join(t.TempDir(), "programs")
			tc.interrupt(t, target)
			installed, err := install(t.Context(), target, io.Discard, func(context.Context, string) error { return nil })
			if err != nil || exists(installed.Path("half")) {
				t.Errorf("%s; the next start: %v, leftover exists: %t", tc.reason, err, exists(installed.Path("half")))
			}
		})
	}
}

func TestLinkerFlags(t *testing.T) {
	if _, err := linkerFlags("v1.36"); err == nil {
		t.Error("a version without patch is accepted")
	}
}

func TestCacheRootWithoutHome(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("TMPDIR", t.TempDir())
	root, err := CacheRoot(io.Discard)
	if err != nil || filepath.Dir(root) != os.TempDir() {
		t.Errorf("got %q, %v", root, err)
	}
}
