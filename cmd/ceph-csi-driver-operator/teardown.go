package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/rados"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// teardownFlags are the flags of teardown.
type teardownFlags struct {
	infraID, conf, keyring, user, output string
	pools                                []string
	dryRun, force, yes                   bool
	includeRetained, keepForChildren     bool
	parallel                             int
}

func newTeardownCommand() *cobra.Command {
	var flags teardownFlags
	cmd := &cobra.Command{
		Use:   "teardown --infra-id=ID --ceph-conf=FILE --keyring=FILE",
		Short: "Remove from Ceph every volume of a cluster that is gone",
		Long: "Remove from Ceph every volume of a cluster that is gone: what carries the tag of its infra ID and is\n" +
			"provably its own. Needs no Kubernetes. May be interrupted anywhere and run again.\n" +
			"Never removes a pool or a filesystem. What is refused is listed with the reason.\n\n" +
			"Exit codes: 0 done, 1 something could not be removed, 2 could not run (nothing was removed),\n" +
			"3 something was refused.",
		Args: func(cmd *cobra.Command, args []string) error { return notRun(cobra.NoArgs(cmd, args)) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return notRun(err) })
	f := cmd.Flags()
	f.StringVar(&flags.infraID, "infra-id", "", "The infra ID of the cluster (Infrastructure cluster, .status.infrastructureName).")
	f.StringVar(&flags.conf, "ceph-conf", "", "The ceph.conf of the Ceph cluster.")
	f.StringVar(&flags.keyring, "keyring", "", "The keyring with an administrator of the Ceph cluster.")
	f.StringVar(&flags.user, "user", "", "Which user of the keyring (default: the only one, or client.admin).")
	f.StringSliceVar(&flags.pools, "pool", nil, "Remove from this pool only; may be repeated (default: all pools of application rbd).")
	f.BoolVar(&flags.dryRun, "dry-run", false, "Show what would be removed, and remove nothing.")
	f.IntVar(&flags.parallel, "parallel", teardown.DefaultParallel, "How much is removed at a time.")
	f.BoolVar(&flags.includeRetained, "include-retained", false, "Also remove volumes whose PersistentVolume said reclaimPolicy Retain.")
	f.BoolVar(&flags.keepForChildren, "keep-for-children", false, "Move images with clones that stay to the trash, where Ceph removes them after the last clone.")
	f.BoolVar(&flags.force, "force", false, "Where volumes are in use, refuse these alone instead of everything.")
	f.BoolVar(&flags.yes, "yes", false, "Do not ask.")
	f.StringVarP(&flags.output, "output", "o", "table", "table or json.")
	return cmd
}

// notRun marks an error as one before which nothing was removed.
func notRun(err error) error {
	if err == nil {
		return nil
	}
	return exit{teardown.CodeNotRun, err}
}

func (f teardownFlags) run(ctx context.Context, in io.Reader, out, progress io.Writer) error {
	if err := f.check(); err != nil {
		return notRun(err)
	}
	source, err := f.source(ctx)
	if err != nil {
		return notRun(err)
	}
	conn, err := rados.Dial(ctx, source, rados.Options{Calls: f.parallel})
	if err != nil {
		return notRun(err)
	}
	defer conn.Close()
	report, err := teardown.Run(ctx, f.config(conn, in, out, progress))
	if err != nil {
		return notRun(err)
	}
	if code := report.Code(); code != teardown.CodeDone {
		return exit{code: code}
	}
	return nil
}

// check finds what is wrong before anything is contacted.
func (f teardownFlags) check() error {
	switch {
	case strings.TrimSpace(f.infraID) == "":
		return errors.New("--infra-id is missing or empty: it says whose volumes are removed")
	case f.infraID != strings.TrimSpace(f.infraID):
		return fmt.Errorf("--infra-id=%q: starts or ends with a blank", f.infraID)
	case f.output != "table" && f.output != "json":
		return fmt.Errorf("--output=%q: must be table or json", f.output)
	case f.parallel < 1 || f.parallel > maxParallel:
		return fmt.Errorf("--parallel=%d: must be 1 to %d", f.parallel, maxParallel)
	}
	return rados.LoadLibrbd()
}

const maxParallel = 64

func (f teardownFlags) source(ctx context.Context) (ceph.Source, error) {
	conf, err := readFile("--ceph-conf", f.conf)
	if err != nil {
		return ceph.Source{}, err
	}
	keyring, err := readFile("--keyring", f.keyring)
	if err != nil {
		return ceph.Source{}, err
	}
	data := map[string][]byte{ceph.EntryConf: conf.Content, ceph.EntryKeyring: keyring.Content}
	if f.user != "" {
		data[ceph.EntryUserID] = []byte(strings.TrimPrefix(f.user, "client."))
	}
	return ceph.ParseSource(ctx, data, resolve)
}

func (f teardownFlags) config(conn *rados.Conn, in io.Reader, out, progress io.Writer) teardown.Config {
	config := teardown.Config{
		Options: teardown.Options{
			InfraID: f.infraID, Pools: f.pools, Parallel: f.parallel,
			IncludeRetained: f.includeRetained, Force: f.force, KeepForChildren: f.keepForChildren,
		},
		DryRun: f.dryRun, JSON: f.output == "json", Out: out,
		Progress: teardown.NewProgress(progress, isTerminal(progress), clock.RealClock{}),
	}
	if !f.yes {
		config.Confirm = func(text string) (bool, error) { return confirm(in, progress, text), nil }
	}
	config.Parts = []teardown.Part{teardown.NewImages(config.Options, conn, clock.RealClock{})}
	return config
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
