// Command kuberbacproxy takes the place of kube-rbac-proxy 0.19: it has its flags and exit codes,
// asks the API server about each request's token and rights with its own ServiceAccount, and
// answers as it does. OpenShift's build lets Prometheus read /metrics without asking for rights;
// this one asks always, as the upstream's does. It knows no OIDC.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/cli"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/logs"
	"k8s.io/component-base/version/verflag"
)

func main() { os.Exit(cli.Run(newCommand())) }

func newCommand() *cobra.Command {
	o := &options{}
	command := &cobra.Command{
		Use:          "kube-rbac-proxy",
		SilenceUsage: true,
		Args: func(command *cobra.Command, args []string) error {
			for _, arg := range args {
				if arg != "" {
					return fmt.Errorf("%q does not take any arguments, got %q", command.CommandPath(), args)
				}
			}
			return nil
		},
		PersistentPreRunE: func(*cobra.Command, []string) error {
			rest.SetDefaultWarningHandler(rest.NoWarnings{})
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error {
			verflag.PrintAndExitIfRequested()
			cliflag.PrintFlags(command.Flags())
			if err := o.validate(); err != nil {
				return err
			}
			return run(command.Context(), o)
		},
	}
	flags := command.Flags()
	o.add(flags)
	verflag.AddFlags(flags)
	globalflag.AddGlobalFlags(flags, command.Name(), logs.SkipLoggingConfigurationFlags())
	return command
}
