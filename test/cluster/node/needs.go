package node

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// packaged are the programs that nodes need of the distribution, of which test/install-dependencies.sh
// knows the packages.
var packaged = []string{"containerd", "ctr", "runc", "nft", "conntrack", "ip", "nsenter", "losetup"}

// systemFolders are where programs for administrators lie, which are not in every user's PATH.
var systemFolders = []string{"/usr/local/sbin", "/usr/sbin", "/sbin"}

// Missing says what this machine lacks for running real nodes, and how to get it.
func Missing() error {
	var errs []error
	if os.Getuid() != 0 {
		if out, err := exec.Command("sudo", "--non-interactive", "true").CombinedOutput(); err != nil {
			errs = append(errs, fmt.Errorf("real nodes need root, or sudo without a password (try `sudo true` first): %w: %s", err, strings.TrimSpace(string(out))))
		}
	}
	var missing []string
	for _, program := range packaged {
		if !installed(program) {
			missing = append(missing, program)
		}
	}
	if len(missing) > 0 {
		errs = append(errs, fmt.Errorf("real nodes need %q: run `make dependencies-nodes`", missing))
	}
	return errors.Join(errs...)
}

func installed(program string) bool {
	if _, err := exec.LookPath(program); err == nil {
		return true
	}
	for _, dir := range systemFolders {
		if _, err := os.Stat(filepath.Join(dir, program)); err == nil {
			return true
		}
	}
	return false
}

func asRoot(command ...string) []string {
	if os.Getuid() == 0 {
		return command
	}
	return append([]string{"sudo", "--non-interactive"}, command...)
}
