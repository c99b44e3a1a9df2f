package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/programs"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/onnodes"
)

const (
	reportFile = "report.json"
	logFile    = "log.txt"
	// patience is far above what all tests take.
	patience = 4 * time.Hour
	// farewell is what an interrupted run gets to clean up.
	farewell = time.Minute
)

// suite is the tests of one driver.
type suite struct {
	driver   driver.Driver
	programs programs.Installed
	// folder is where the tests run, and where their report and their log are left.
	folder string
	lists  lists
	found  int
	chosen []string
}

func (s suite) command(ctx context.Context, program string, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, arguments...)
	cmd.Dir = s.folder
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = farewell
	return cmd
}

// run runs the chosen tests, and returns an error unless all pass that are known to.
func (s suite) run(ctx context.Context, cluster *onnodes.Cluster, o options, out io.Writer) error {
	if err := s.fill(ctx, cluster); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: running %d of %d tests; the log is %s\n", s.driver.Kind, len(s.chosen), s.found, filepath.Join(s.folder, logFile))
	begin := time.Now()
	ran := s.test(ctx, cluster, o)
	all, err := outcomes(filepath.Join(s.folder, reportFile), prefix(s.driver))
	if err != nil {
		return fmt.Errorf("tests of %s: %w", s.driver.Kind, errors.Join(err, ran))
	}
	v := judge(s.chosen, all)
	fmt.Fprintf(out, "%s: %d of %d passed in %s\n", s.driver.Kind, len(v.passed), len(s.chosen), time.Since(begin).Round(time.Second))
	v.print(out)
	if o.all {
		return writePassing(s.driver, v.passed)
	}
	if len(v.others) > 0 {
		return fmt.Errorf("%d tests of %s did not pass that did before", len(v.others), s.driver.Kind)
	}
	return nil
}

// test starts them side by side; that some fail is an error, too.
func (s suite) test(ctx context.Context, cluster *onnodes.Cluster, o options) error {
	log, err := os.Create(filepath.Join(s.folder, logFile))
	if err != nil {
		return err
	}
	defer log.Close()
	arguments := []string{
		"-procs=" + strconv.Itoa(o.parallel), "-no-color", "-timeout=" + patience.String(), "-output-dir=" + s.folder,
		"-json-report=" + reportFile, "-focus=" + focus(prefix(s.driver), s.chosen), "./" + programs.StorageTests, "--",
	}
	flags, err := readmeFlags(cluster.AdminKubeconfig())
	if err != nil {
		return err
	}
	cmd := s.command(ctx, s.programs.Path(programs.StorageTestsRunner), append(arguments, flags...)...)
	// Ginkgo would warn that this repository's suites have another version than these tests.
	cmd.Env = append(environment(cluster), "GO111MODULE=off")
	cmd.Stdout, cmd.Stderr = log, log
	return cmd.Run()
}

// focus matches exactly the names.
func focus(prefix string, names []string) string {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, regexp.QuoteMeta(name))
	}
	return regexp.QuoteMeta(prefix) + "(?:" + strings.Join(quoted, "|") + ")$"
}

// fill does what test/README.md says, so that the classes are those of the cluster.
func (s suite) fill(ctx context.Context, cluster *onnodes.Cluster) error {
	command, err := readmeLoop(s.driver)
	if err != nil {
		return err
	}
	cmd := s.command(ctx, "bash", "-euc", command)
	cmd.Env = environment(cluster)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", command, err, out)
	}
	return nil
}

// readmeLoop is the command of test/README.md with what that says about the other driver and about a cluster without OpenShift.
func readmeLoop(d driver.Driver) (string, error) {
	command, err := repository.ReadmeCommand("for file in *.in;")
	if err != nil {
		return "", err
	}
	words := []string{"$(oc ", "$(kubectl "}
	if d.NeedsFilesystem {
		words = append(words, driver.RBD.Kind, d.Kind, "pool", "fsName")
	}
	return strings.NewReplacer(words...).Replace(command), nil
}

// readmeFlags are those of the command in test/README.md but Ginkgo's.
func readmeFlags(kubeconfig string) ([]string, error) {
	command, err := repository.ReadmeCommand(programs.StorageTests + " ")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, word := range strings.Fields(command)[1:] {
		if !strings.HasPrefix(word, "-ginkgo.") {
			out = append(out, strings.ReplaceAll(word, "$KUBECONFIG", kubeconfig))
		}
	}
	return out, nil
}

func environment(cluster *onnodes.Cluster) []string {
	return append(os.Environ(), "KUBECONFIG="+cluster.AdminKubeconfig(), "PATH="+filepath.Dir(cluster.Kubectl())+":"+os.Getenv("PATH"))
}
