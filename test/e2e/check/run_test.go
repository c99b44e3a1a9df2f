package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
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
	took           time.Duration
	// Result and Lines are those of -o json.
	Result string
	Lines  []line
}

type line struct {
	Group, Name, State, Message string
	Fix                         []string
}

// limit is far above the minute that a check takes at most.
const limit = 3 * time.Minute

// run runs `check` with arguments, without any environment.
func run(ctx context.Context, arguments ...string) result {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, append([]string{"check"}, arguments...)...)
	cmd.Env = []string{"TMPDIR=" + GinkgoT().TempDir()}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		Expect(err).NotTo(HaveOccurred())
	}
	r := result{code: cmd.ProcessState.ExitCode(), stdout: out.String(), stderr: errs.String()}
	for _, key := range keys {
		Expect(r.stdout+r.stderr).NotTo(ContainSubstring(key[4:30]), "a key is shown")
	}
	return r
}

// keys must never be shown.
var keys []string

// admin are the flags of the administrator's files.
func admin() []string {
	ceph := env.Cluster.Ceph()
	keys = append(keys, fixture.KeysOf(ceph.Keyring())...)
	return []string{"--ceph-conf=" + ceph.ConfFile(), "--keyring=" + ceph.KeyringFile()}
}

func kubeconfig() string { return "--kubeconfig=" + env.Cluster.AdminKubeconfig() }

// report runs with -o json.
func report(ctx context.Context, arguments ...string) result {
	GinkgoHelper()
	begin := time.Now()
	r := run(ctx, append(arguments, "-o", "json")...)
	r.took = time.Since(begin)
	Expect(json.Unmarshal([]byte(r.stdout), &r)).To(Succeed(), r.stdout+r.stderr)
	AddReportEntry("check "+strings.Join(arguments, " "), r.stdout, ReportEntryVisibilityFailureOrVerbose)
	return r
}

// wrong are the group and name of each wrong line, sorted. Each must have a command.
func (r result) wrong() []string {
	GinkgoHelper()
	out := []string{}
	for _, l := range r.Lines {
		if l.State == "wrong" {
			out = append(out, l.Group+"/"+l.Name)
			Expect(l.Fix).NotTo(BeEmpty(), l.Name)
		}
	}
	slices.Sort(out)
	return out
}

// line finds one by group and name.
func (r result) line(group, name string) line {
	GinkgoHelper()
	i := slices.IndexFunc(r.Lines, func(l line) bool { return l.Group == group && l.Name == name })
	Expect(i).To(BeNumerically(">=", 0), group+"/"+name)
	return r.Lines[i]
}

// as are the flags of a user that is made for a spec, with caps as `ceph auth` takes them.
func as(ctx context.Context, id string, caps ...string) []string {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), id+".keyring")
	ceph := env.Cluster.Ceph()
	_, err := ceph.Command(ctx, append([]string{"auth", "get-or-create", "client." + id, "-o", file}, caps...)...)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) {
		_, err := ceph.Command(ctx, "auth", "rm", "client."+id)
		Expect(err).NotTo(HaveOccurred())
	})
	keys = append(keys, fixture.KeysOf(read(file))...)
	return []string{"--ceph-conf=" + ceph.ConfFile(), "--keyring=" + file}
}

func read(file string) string {
	GinkgoHelper()
	content, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	return string(content)
}
