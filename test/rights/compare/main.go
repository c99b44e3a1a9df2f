// Program compare ends `make test-e2e`: it fails for each rule of the shipped roles that no
// suite was seen to use and that nothing else needs, and for each that is needed and missing. The roles are those
// of the operators and, where real nodes have run them, of the drivers' pods.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/rights"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	root, err := repository.Root()
	if err != nil {
		return err
	}
	dir, err := rights.Dir()
	if err != nil {
		return err
	}
	used, suites, err := rights.Read(dir)
	if err != nil {
		return err
	}
	accounts, err := rights.Shipped(root)
	if err != nil {
		return err
	}
	if slices.Contains(suites, rights.WithPods) {
		operands, err := rights.Operands()
		if err != nil {
			return err
		}
		accounts = append(accounts, operands...)
	} else {
		fmt.Println("The rights of the drivers' pods were not compared: no real nodes have run them.")
	}
	var wrong []string
	for _, a := range accounts {
		wrong = append(wrong, a.Compare(used[a.Name])...)
		fmt.Printf("%s: %d rights, %d different requests\n", a.Name, len(a.Held), len(used[a.Name]))
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the roles are not what %s need (test/rights):\n%s", strings.Join(suites, ", "), strings.Join(wrong, "\n"))
	}
	return nil
}
