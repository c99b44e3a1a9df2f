package teardown

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// result is what a run of the command left.
type result struct {
	code           int
	stdout, stderr string
	// The rest is that of -o json.
	Items []item
	Tags  map[string]int
	Alive []string
}

type item struct {
	Kind, Name, Verdict, Reason, Result, Note, Error string
}

// limit is far above what a removal takes that waits for watches of a killed run.
const limit = 4 * time.Minute

// command is `teardown` with the administrator's files, without any environment.
func command(ctx context.Context, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary, append([]string{
		"teardown", "--ceph-conf=" + daemons.ConfFile(), "--keyring=" + daemons.KeyringFile(),
	}, arguments...)...)
	cmd.Env = []string{"TMPDIR=" + GinkgoT().TempDir()}
	return cmd
}

// run runs it to its end.
func run(ctx context.Context, arguments ...string) result {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := command(ctx, arguments...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		Expect(err).NotTo(HaveOccurred())
	}
	Expect(ctx.Err()).NotTo(HaveOccurred(), "teardown does not end")
	r := result{code: cmd.ProcessState.ExitCode(), stdout: out.String(), stderr: errs.String()}
	AddReportEntry("teardown "+strings.Join(arguments, " "), r.stdout+r.stderr, ReportEntryVisibilityFailureOrVerbose)
	for _, key := range fixture.KeysOf(daemons.Keyring()) {
		Expect(r.stdout+r.stderr).NotTo(ContainSubstring(key[4:30]), "a key is shown")
	}
	return r
}

// teardown runs it for a cluster, with -o json and without asking.
func teardown(ctx context.Context, infraID string, arguments ...string) result {
	GinkgoHelper()
	r := run(ctx, append([]string{"--infra-id=" + infraID, "--yes", "-o", "json"}, arguments...)...)
	Expect(json.Unmarshal([]byte(r.stdout), &r)).To(Succeed(), r.stdout+r.stderr)
	return r
}

// named are the names of items with a verdict, sorted.
func (r result) named(verdict string) []string {
	out := []string{}
	for _, i := range r.Items {
		if i.Verdict == verdict {
			out = append(out, i.Name)
		}
	}
	slices.Sort(out)
	return out
}

// reason is that of an item that is not removed.
func (r result) reason(name string) string {
	GinkgoHelper()
	i := slices.IndexFunc(r.Items, func(i item) bool { return i.Name == name })
	Expect(i).To(BeNumerically(">=", 0), name+" is not listed:\n"+r.stdout)
	Expect(r.Items[i].Verdict).NotTo(Equal("remove"), name)
	return r.Items[i].Reason
}
