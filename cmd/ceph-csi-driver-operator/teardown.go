package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/rados"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// teardownFlags are the flags of teardown.
type teardownFlags struct {
	cephFlags
	infraID, output, forceLiving     string
	kubeconfig, pvList               string
	pools, filesystems, volumes      []string
	radosNamespaces                  []string
	dryRun, force, yes, orphans      bool
	list, unclaimed                  bool
	includeRetained, keepForChildren bool
	keepUsers                        bool
	parallel                         int
	olderThan                        time.Duration
}

func newTeardownCommand() *cobra.Command {
	var flags teardownFlags
	cmd := &cobra.Command{
		Use:   "teardown --infra-id=ID --ceph-conf=FILE --keyring=FILE",
		Short: "Remove from Ceph every volume of a cluster that is gone",
		Long: "Remove from Ceph every volume of a cluster that is gone: what carries the tag of its infra ID and is\n" +
			"provably its own. Needs no Kubernetes. May be interrupted anywhere and run again.\n" +
			"Never removes a pool or a filesystem. What is refused is listed with the reason.\n\n" +
			"With --kubeconfig, ceph.conf and keyring come from Secret ceph-credentials unless they are given, and\n" +
			"volumes that objects of that cluster name are compared first: of a cluster with another infra ID, and with\n" +
			"--force-living, they are refused. With --orphans it only lists what the living cluster may have forgotten.\n\n" +
			"A cluster whose operators run is refused, also with --yes and --force, unless --force-living repeats its infra ID.\n" +
			"So is an infra ID that has no claim on a pool while others have, unless --unclaimed is given.\n\n" +
			"Exit codes: 0 done, 1 something could not be removed, 2 could not run (nothing was removed),\n" +
			"3 something was refused.",
		Args:    func(cmd *cobra.Command, args []string) error { return notRun(cobra.NoArgs(cmd, args)) },
		PreRunE: func(cmd *cobra.Command, _ []string) error { return notRun(noEmptyFlags(cmd)) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return notRun(err) })
	f := cmd.Flags()
	f.StringVar(&flags.infraID, "infra-id", "", "The infra ID of the cluster (Infrastructure cluster, .status.infrastructureName).")
	flags.add(f, "The keyring with an administrator of the Ceph cluster.")
	f.StringSliceVar(&flags.pools, "pool", nil, "Remove from this pool only; may be repeated (default: all of application rbd, and others with a claim of the cluster).")
	f.StringSliceVar(&flags.filesystems, "filesystem", nil, "Remove from this CephFS filesystem only; may be repeated (default: all).")
	f.StringSliceVar(&flags.radosNamespaces, "rados-namespace", nil, "A RADOS namespace where ceph-csi's journals of CephFS are beside "+driver.DefaultJournalNamespace+" and the infra ID (config.json, cephFS.radosNamespace); may be repeated.")
	f.StringSliceVar(&flags.volumes, "volume", nil, "Remove only the volume or snapshot with this handle; may be repeated.")
	f.StringVar(&flags.kubeconfig, "kubeconfig", "", "A kubeconfig of a cluster whose PersistentVolumes and VolumeSnapshotContents are compared first.")
	f.StringVar(&flags.pvList, "pv-list", "", "A file with handles of other clusters' volumes, one in a line; these are refused.")
	f.BoolVar(&flags.list, "list", false, "List every infra ID that has claims, tags, users or connected clients in the Ceph cluster, and remove nothing; needs no --infra-id.")
	f.BoolVar(&flags.orphans, "orphans", false, "List volumes of the living cluster that none of its objects names, and remove nothing; needs --kubeconfig.")
	f.DurationVar(&flags.olderThan, "older-than", 24*time.Hour, "With --orphans, leave out what is younger.")
	f.BoolVar(&flags.keepUsers, "keep-users", false, "Leave the cephx users that the operator made for the cluster.")
	f.BoolVar(&flags.dryRun, "dry-run", false, "Show what would be removed, and remove nothing.")
	f.IntVar(&flags.parallel, "parallel", teardown.DefaultParallel, "How much is removed at a time.")
	f.BoolVar(&flags.includeRetained, "include-retained", false, "Also remove volumes whose PersistentVolume said reclaimPolicy Retain, and snapshots whose VolumeSnapshotContent said deletionPolicy Retain.")
	f.BoolVar(&flags.keepForChildren, "keep-for-children", false, "Move images with clones that stay to the trash, where Ceph removes them after the last clone.")
	f.BoolVar(&flags.force, "force", false, "Where volumes are in use, refuse these alone instead of everything.")
	f.BoolVar(&flags.unclaimed, "unclaimed", false, "Go on although no pool has a claim of the infra ID while there are claims of others.")
	f.StringVar(&flags.forceLiving, "force-living", "", "The infra ID again: goes on although operators of the cluster run.")
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
	options, cluster, err := f.options(ctx)
	if err != nil {
		return notRun(err)
	}
	source, err := f.source(ctx, cluster)
	if err != nil {
		return notRun(err)
	}
	conn, err := rados.Dial(ctx, source, rados.Options{Calls: f.parallel, Removes: true})
	if err != nil {
		return notRun(err)
	}
	defer conn.Close()
	if err := f.limit(ctx, conn, &options); err != nil {
		return notRun(err)
	}
	if f.list {
		return notRun(f.writeList(ctx, conn, out, progress))
	}
	if err := f.compare(ctx, conn, options, progress); err != nil {
		return err
	}
	parts := f.parts(options, conn, progress)
	if f.orphans {
		_, err := teardown.Orphans(ctx, teardown.OrphansConfig{
			Options: options, Parts: parts, OlderThan: f.olderThan, Now: time.Now(), JSON: f.output == "json", Out: out,
		})
		return notRun(err)
	}
	config := f.config(options, parts, in, out, progress)
	config.Running = teardown.NewOperators(f.infraID, conn, driver.Kinds(), clock.RealClock{}).Running
	report, err := teardown.Run(ctx, config)
	if errors.Is(err, teardown.ErrRunning) {
		return exit{teardown.CodeRefused, err}
	}
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
	case f.list && (f.infraID != "" || f.orphans):
		return errors.New("--list is of all infra IDs: leave out --infra-id and --orphans")
	case !f.list && strings.TrimSpace(f.infraID) == "":
		return errors.New("--infra-id is missing or empty: it says whose volumes are removed")
	case f.infraID != strings.TrimSpace(f.infraID):
		return fmt.Errorf("--infra-id=%q: starts or ends with a blank", f.infraID)
	case f.forceLiving != "" && f.forceLiving != f.infraID:
		return fmt.Errorf("--force-living=%q: it must repeat --infra-id=%s", f.forceLiving, f.infraID)
	case f.output != "table" && f.output != "json":
		return fmt.Errorf("--output=%q: must be table or json", f.output)
	case f.orphans && f.kubeconfig == "":
		return errors.New("--orphans needs --kubeconfig: it compares with the objects of the living cluster")
	case f.orphans && len(f.volumes) > 0:
		return errors.New("--orphans removes nothing, --volume does: give one of them")
	case f.parallel < 1 || f.parallel > maxParallel:
		return fmt.Errorf("--parallel=%d: must be 1 to %d", f.parallel, maxParallel)
	}
	return acceptInfraID(f.infraID)
}

const maxParallel = 64

func (f teardownFlags) config(options teardown.Options, parts []teardown.Part, in io.Reader, out, progress io.Writer) teardown.Config {
	config := teardown.Config{
		Options: options, Parts: parts, DryRun: f.dryRun, JSON: f.output == "json", Out: out,
		ForceLiving: f.forceLiving != "",
		Progress:    teardown.NewProgress(progress, isTerminal(progress), clock.RealClock{}),
	}
	if !f.yes {
		config.Confirm = func(text string) (bool, error) { return confirm(in, progress, text), nil }
	}
	return config
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
