package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openshift/ceph-csi-driver-operator/pkg/infraid"
)

// acceptInfraID is for a cluster that exists, of OpenShift or not.
func acceptInfraID(infraID string) error {
	if err := infraid.Check(infraID); err != nil {
		return fmt.Errorf("--infra-id: %w", err)
	}
	return nil
}

// noEmptyFlags refuses flags that were given without a value, as a shell gives those whose variable is not set: to
// take them for left out would look at less than was meant, or remove more.
func noEmptyFlags(cmd *cobra.Command) (err error) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if value := f.Value.String(); err == nil && f.Changed && (value == "" || value == "[]") {
			err = fmt.Errorf("--%s is empty: is $%s set?", f.Name, strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")))
		}
	})
	return err
}
