package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
)

const kwokUser = "kwok"

// auditPolicy records requests without their content, so that no Secret ends in the log. What
// the control plane does by itself would bury the rest.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  users: [system:apiserver, system:kube-controller-manager, system:kube-scheduler, system:kube-proxy, ` + kwokUser + `, ` + DNSUser + `]
- level: None
  userGroups: [system:serviceaccounts:kube-system, system:nodes]
- level: Metadata
`

func (c *ControlPlane) auditPolicyFile() string {
	return filepath.Join(c.options.Dir, "audit-policy.yaml")
}

func (c *ControlPlane) writeAuditPolicy() error {
	if err := os.WriteFile(c.auditPolicyFile(), []byte(auditPolicy), 0o600); err != nil {
		return fmt.Errorf("audit policy: %w", err)
	}
	return nil
}
