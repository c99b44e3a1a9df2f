package rights

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// Used are the requests of accounts, each once.
type Used map[string]map[Request]bool

// Add has an account's requests that were allowed, whatever came of them.
func (u Used) Add(account string, events []auditv1.Event) {
	if u[account] == nil {
		u[account] = map[Request]bool{}
	}
	for _, e := range events {
		forbidden := e.ResponseStatus != nil && e.ResponseStatus.Code == http.StatusForbidden
		if e.ObjectRef == nil || forbidden {
			continue
		}
		q := Request{Namespace: e.ObjectRef.Namespace, Group: e.ObjectRef.APIGroup, Resource: e.ObjectRef.Resource, Name: e.ObjectRef.Name, Verb: e.Verb}
		if e.ObjectRef.Subresource != "" {
			q.Resource += "/" + e.ObjectRef.Subresource
		}
		u[account][q] = true
	}
}

// Dir is where suites leave what was used: below bin/, which nobody commits.
func Dir() (string, error) {
	root, err := repository.Root()
	return filepath.Join(root, "bin", "rights-used"), err
}

// Suite is the name of the one that runs in its package's folder, as `go test` has it. Two packages may be
// called the same.
func Suite() (string, error) {
	root, err := repository.Root()
	if err != nil {
		return "", err
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	name, err := filepath.Rel(root, dir)
	return strings.ReplaceAll(name, string(filepath.Separator), "-"), err
}

// Write leaves what a suite has used.
func (u Used) Write(suite string) error {
	dir, err := Dir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("leaving what %s used: %w", suite, err)
	}
	lists := map[string][]Request{}
	for account, requests := range u {
		lists[account] = sorted(requests)
	}
	content, err := json.MarshalIndent(lists, "", " ")
	if err != nil {
		return fmt.Errorf("leaving what %s used: %w", suite, err)
	}
	if err := os.WriteFile(filepath.Join(dir, suite+".json"), content, 0o644); err != nil {
		return fmt.Errorf("leaving what %s used: %w", suite, err)
	}
	return nil
}

// Read is what all suites have left in a folder, by account, and the names of the suites.
func Read(dir string) (map[string][]Request, []string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		return nil, nil, fmt.Errorf("no suite has left anything in %s: make test-e2e runs them (%w)", dir, os.ErrNotExist)
	}
	all := Used{}
	var suites []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, fmt.Errorf("what a suite used: %w", err)
		}
		lists := map[string][]Request{}
		if err := json.Unmarshal(content, &lists); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		for account, requests := range lists {
			if all[account] == nil {
				all[account] = map[Request]bool{}
			}
			for _, q := range requests {
				all[account][q] = true
			}
		}
		name := filepath.Base(file)
		suites = append(suites, name[:len(name)-len(".json")])
	}
	out := map[string][]Request{}
	for account, requests := range all {
		out[account] = sorted(requests)
	}
	return out, suites, nil
}

func sorted(requests map[Request]bool) []Request {
	return slices.SortedFunc(maps.Keys(requests), func(a, b Request) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Verb, b.Verb))
	})
}
