package main

import (
	"fmt"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// paths are what the commands at the end work on.
type paths struct {
	kubeconfig, kubectl   string
	cephConf, cephKeyring string
	// logs is the folder of the daemons' logs, operators has a folder for each operator's pod; without it,
	// they run on real nodes.
	logs, operators string
}

// hints are commands that work when pasted into another terminal.
func hints(p paths) string {
	commands := []struct{ why, command string }{
		{"In another terminal:", ""},
		{"", "export KUBECONFIG=" + quote(p.kubeconfig)},
		{"", fmt.Sprintf("alias oc=%s   # any oc or kubectl will do", quote(p.kubectl))},
		{"", fmt.Sprintf("export CEPH_ARGS=%s", quote("--conf "+p.cephConf+" --keyring "+p.cephKeyring))},
		{"What the operators report, and what they deployed:", ""},
		{"", "oc get clusteroperator storage"},
		{"", "oc get clustercsidriver"},
		{"", "oc describe clustercsidriver " + driver.RBD.Name},
		{"", "oc -n " + driver.Namespace + " get deployments,daemonsets,pods,secrets"},
		{"", "oc get storageclasses,volumesnapshotclasses"},
		{"Ceph itself:", ""},
		{"", "ceph status"},
		{"", "ceph osd pool ls"},
		{"Settings: set spec.logLevel to Debug, and see the pods follow:", ""},
		{"", "oc edit clustercsidriver " + driver.RBD.Name},
		{"", fmt.Sprintf("oc -n %s get deployment %s -o yaml | grep -e --v=", driver.Namespace, driver.RBD.ControllerName())},
		{"Break the credentials, see what is said here, and correct them:", ""},
		{"", fmt.Sprintf(`oc -n %s patch secret %s -p '{"stringData":{"keyring":"nonsense"}}'`, driver.Namespace, driver.CredentialsSecret)},
		{"", fmt.Sprintf("oc -n %[1]s create secret generic %[2]s --from-file=ceph.conf=%[3]s --from-file=keyring=%[4]s --dry-run=client -o yaml | oc replace -f -",
			driver.Namespace, driver.CredentialsSecret, quote(p.cephConf), quote(p.cephKeyring))},
		{"Logs of the operators, and of everything else:", ""},
		{"", operatorLogs(p)},
		{"", "ls " + quote(p.logs)},
	}
	var b strings.Builder
	for _, c := range commands {
		if c.why != "" {
			fmt.Fprintf(&b, "\n%s\n", c.why)
			continue
		}
		fmt.Fprintf(&b, "  %s\n", c.command)
	}
	b.WriteString("\nIt runs until Ctrl-C here or 'make cluster-down' elsewhere. Changes are shown as they happen.\n\n")
	return b.String()
}

func operatorLogs(p paths) string {
	if p.operators == "" {
		return fmt.Sprintf("oc -n %s logs -f deployment/%s", driver.Namespace, driver.RBD.OperatorName())
	}
	return "tail -f " + quote(p.operators) + "/*/*.log"
}

// quote makes a word of a shell command of any text.
func quote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
