package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
