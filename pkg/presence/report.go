package presence

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

// report tells of what was found in all Ceph clusters together.
func (c *controller) report(ctx context.Context, clusters []ceph.Cluster, infraID string) error {
	var shared, hidden []string
	for _, cluster := range clusters {
		h := c.held[cluster.FSID]
		if h == nil {
			continue
		}
		if h.others.lasting() {
			shared = append(shared, fmt.Sprintf("Ceph cluster %s: %s", cluster.FSID, strings.Join(h.others.who, "; ")))
		}
		if len(h.denied) > 0 {
			hidden = append(hidden, fmt.Sprintf("pools %s of Ceph cluster %s (client.%s)",
				strings.Join(slices.Sorted(maps.Keys(h.denied)), ", "), cluster.FSID, cluster.Credentials.UserID))
		}
	}
	var wanted []*condition.Said
	message := ""
	if len(shared) > 0 {
		message = c.shared(infraID, shared)
		wanted = append(wanted, condition.New(condition.InfraIDUnshared, operatorv1.ConditionFalse, condition.InfraIDShared, message))
	}
	if len(hidden) > 0 {
		wanted = append(wanted, condition.New(condition.PresenceShown, operatorv1.ConditionFalse, condition.AccessDenied, fmt.Sprintf(
			"the operator may not show in %s that it runs, so that a teardown would not see there that this cluster lives; "+
				"with 'ceph auth caps', add to the user's osd caps for these pools: allow rw namespace=%s", strings.Join(hidden, "; "), ceph.PresenceNamespace)))
	}
	if message != c.told && message != "" {
		c.Recorder.Warning(condition.InfraIDShared, message)
	}
	c.told = message
	return condition.Say(ctx, c.Operator, c.name, []string{condition.InfraIDUnshared, condition.PresenceShown}, wanted...)
}

func (c *controller) shared(infraID string, found []string) string {
	return fmt.Sprintf("another cluster with the infra ID %q is running: %s. Clusters that share an infra ID take each other's volumes, users and pools "+
		"for their own: what one deletes, the other loses, and a teardown of either would remove both's. If one was cloned, or restored from a backup, "+
		"beside the other, shut one of them down, or keep it from this Ceph cluster: take Secret ceph-credentials and the operators off it", infraID, strings.Join(found, "; "))
}
