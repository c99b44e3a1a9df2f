package former

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// history is a repository of three commits.
func history(t *testing.T) (dir string, commits []string) {
	t.Helper()
	dir = t.TempDir()
	do(t, dir, "init", "--quiet")
	for _, subject := range []string{"one", "two", "three"} {
		do(t, dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "--allow-empty", "-m", subject)
		commits = append(commits, do(t, dir, "rev-parse", "HEAD"))
	}
	return dir, commits
}

func do(t *testing.T, dir string, arguments ...string) string {
	t.Helper()
	out, err := run(t.Context(), dir, "git", arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFind(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		// tags by the number of the commit.
		tags map[string]int
		want int
	}{
		"Untagged":  {"there is no release yet", nil, 0},
		"Released":  {"the newest release", map[string]int{"v4.9.0": 0, "v4.10.0": 1}, 1},
		"Releasing": {"the commit that is released now is no former version", map[string]int{"v4.9.0": 1, "v4.10.0": 2}, 1},
		"First":     {"the first release has none before it", map[string]int{"v4.9.0": 2}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir, commits := history(t)
			for tag, i := range tc.tags {
				do(t, dir, "tag", tag, commits[i])
			}
			got, err := find(t.Context(), dir, commits[0])
			if err != nil || got != commits[tc.want] {
				t.Errorf("%s: got %s, %v, want %s", tc.reason, got, err, commits[tc.want])
			}
		})
	}
}

// TestShallow: who clones without the history is told how to get it.
func TestShallow(t *testing.T) {
	dir, commits := history(t)
	clone := filepath.Join(t.TempDir(), "clone")
	do(t, dir, "clone", "--quiet", "--depth=1", "file://"+dir, clone)
	_, err := find(t.Context(), clone, commits[0])
	if !errors.Is(err, ErrNoHistory) || !strings.Contains(err.Error(), "git fetch --unshallow --tags") {
		t.Fatalf("got %v", err)
	}
	do(t, clone, "fetch", "--quiet", "--unshallow", "--tags")
	if got, err := find(t.Context(), clone, commits[0]); err != nil || got != commits[0] {
		t.Errorf("got %s, %v, want %s", got, err, commits[0])
	}
	if _, err := find(t.Context(), t.TempDir(), commits[0]); !errors.Is(err, ErrNoHistory) || !strings.Contains(err.Error(), "history") {
		t.Errorf("without a repository: %v", err)
	}
}

// TestUnreleased is in the repository's history.
func TestUnreleased(t *testing.T) {
	_, err := find(t.Context(), ".", unreleased)
	if shallow, _ := git(t.Context(), ".", "rev-parse", "--is-shallow-repository"); err != nil && shallow != "false" {
		t.Skip(err)
	}
	if err != nil {
		t.Error(err)
	}
}
