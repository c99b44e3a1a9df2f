package pools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

// Report is what is known of the pools in use; names by fsid, sorted.
type Report struct {
	// Missing are named by StorageClasses or volumes and do not exist.
	Missing map[string][]string
	// Protected carry Ceph's nodelete flag while they are in use, Unprotected should.
	Protected, Unprotected map[string][]string
}

// protectionCaps are what protection needs beyond reading.
const protectionCaps = `allow command "osd pool application set", allow command "osd pool application rm", allow command "osd pool set" with var=nodelete`

func (l *look) refused(pools []string, outcome string, refusal error) trouble {
	return trouble{condition.AccessDenied, fmt.Sprintf(
		"each of %s of Ceph cluster %s %s: %v; add to the mon caps of client.%s with 'ceph auth caps': %s",
		quotedPools(pools), l.cluster.FSID, outcome, refusal, l.cluster.Credentials.UserID, protectionCaps)}
}

func quotedPools(names []string) string {
	out := make([]string, 0, len(names))
	for _, name := range slices.Sorted(slices.Values(names)) {
		out = append(out, fmt.Sprintf("%q", name))
	}
	return "pools " + strings.Join(out, ", ")
}

// trouble is what a look that failed leads to.
func (c *Care) trouble(cluster ceph.Cluster, err error) trouble {
	reason := condition.SyncError
	if errors.Is(err, ceph.ErrDenied) {
		reason = condition.AccessDenied
	}
	return trouble{reason, fmt.Sprintf("Ceph cluster %s: %v", cluster.FSID, err)}
}

// conclude publishes what was found in all Ceph clusters together, once each was looked at.
func (c *Care) conclude(ctx context.Context, clusters []ceph.Cluster, want demand) error {
	if len(clusters) == 0 {
		return nil
	}
	all := findings{}
	published := Report{Missing: map[string][]string{}, Protected: map[string][]string{}, Unprotected: map[string][]string{}}
	capacities := Capacities{}
	for _, cluster := range clusters {
		v := c.seen[cluster.FSID]
		if v == nil || v.found == nil {
			return nil
		}
		capacities[cluster.FSID] = v.found.capacities
		all.classes = append(all.classes, v.found.classes...)
		all.lost = append(append(all.lost, v.found.lost...), v.found.astray...)
		all.trouble = append(all.trouble, v.found.trouble...)
		all.withheld = append(all.withheld, v.found.withheld...)
		put(published.Missing, cluster.FSID, v.found.missing)
		put(published.Protected, cluster.FSID, v.found.protected)
		put(published.Unprotected, cluster.FSID, v.found.unprotected)
	}
	if c.strangers(&all, clusters, want) && c.Clock.Since(c.started) < settling {
		return nil // The connection to that Ceph cluster may be on its way.
	}
	problems := want.usage.Unreadable
	if c.Open() {
		problems = slices.Concat(problems, want.usage.Ineffective)
	}
	for _, class := range problems {
		all.classes = append(all.classes, classProblem{class.Class, fmt.Sprintf("StorageClass %s: %s", class.Class, class.Problem)})
	}
	c.Report.Set(published)
	c.Capacities.Set(capacities)
	c.Problems.Set(sortedTexts(all.classes))
	return errors.Join(c.report(ctx, all, want), c.tellClasses(ctx, all.classes))
}

func put(byCluster map[string][]string, fsid string, names []string) {
	if len(names) > 0 {
		byCluster[fsid] = slices.Compact(slices.Sorted(slices.Values(names)))
	}
}

// strangers finds classes and volumes of Ceph clusters that are not known here.
func (c *Care) strangers(all *findings, clusters []ceph.Cluster, want demand) bool {
	var known []string
	for _, cluster := range clusters {
		known = append(known, cluster.FSID)
	}
	some := false
	for _, place := range want.usage.Places {
		if slices.ContainsFunc(clusters, place.IsIn) {
			continue
		}
		some = true
		for _, class := range place.Classes {
			all.classes = append(all.classes, classProblem{class, fmt.Sprintf(
				"StorageClass %s names clusterID %q, which is no Ceph cluster that is declared here; known: %s",
				class, place.FSID, strings.Join(known, ", "))})
		}
		if place.Volumes > 0 {
			all.lost = append(all.lost, fmt.Sprintf("%s in Ceph cluster %q, which is not declared here; known: %s",
				plural(place.Volumes, "volume is", "volumes are"), place.FSID, strings.Join(known, ", ")))
		}
	}
	return some
}

func sortedTexts(problems []classProblem) []string {
	out := []string{}
	for _, p := range problems {
		out = append(out, p.text)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (c *Care) report(ctx context.Context, all findings, want demand) error {
	conditions := []*condition.Said{protection(all, want.protect), places(all.lost)}
	if message := describeLegacy(want.usage); message != "" {
		conditions = append(conditions, condition.New(condition.LegacyVolumes, operatorv1.ConditionTrue, condition.OlderVolumes, message))
	}
	return condition.Say(ctx, c.Operator, careName, []string{condition.LegacyVolumes}, conditions...)
}

// unknown tells of what keeps the operator from knowing which pools are in use.
func (c *Care) unknown(ctx context.Context) error {
	err := c.Unknown()
	if !apierrors.IsForbidden(err) {
		return nil // It will be known in a moment.
	}
	return condition.Say(ctx, c.Operator, careName, nil, condition.New(condition.PoolsProtected, operatorv1.ConditionFalse, condition.Forbidden,
		fmt.Sprintf("pools in use are not known, so that none is protected any more than before: %v", err)))
}

func protection(all findings, enabled bool) *condition.Said {
	status, reason := operatorv1.ConditionTrue, condition.AsExpected
	var texts []string
	if !enabled {
		status, reason = operatorv1.ConditionFalse, condition.ProtectionDisabled
		texts = append(texts, "spec.driverConfig.ceph.poolProtection is Disabled")
	}
	slices.SortFunc(all.trouble, func(a, b trouble) int { return strings.Compare(a.text, b.text) })
	for i, t := range all.trouble {
		if i == 0 {
			status, reason = operatorv1.ConditionFalse, t.reason
		}
		texts = append(texts, t.text)
	}
	texts = append(texts, all.withheld...)
	return condition.New(condition.PoolsProtected, status, reason, strings.Join(texts, "; "))
}

func places(lost []string) *condition.Said {
	if len(lost) == 0 {
		return condition.New(condition.VolumePlacesPresent, operatorv1.ConditionTrue, condition.AsExpected, "")
	}
	slices.Sort(lost)
	return condition.New(condition.VolumePlacesPresent, operatorv1.ConditionFalse, condition.PlaceMissing, strings.Join(slices.Compact(lost), "; "))
}

// tellClasses writes one event about each class whose problems have changed.
func (c *Care) tellClasses(ctx context.Context, problems []classProblem) error {
	texts := map[string][]classProblem{}
	for _, p := range problems {
		texts[p.class] = append(texts[p.class], p)
	}
	for class := range c.told {
		if len(texts[class]) == 0 {
			delete(c.told, class)
		}
	}
	var errs []error
	for class, own := range texts {
		message := strings.Join(sortedTexts(own), "; ")
		if c.told[class] == message {
			continue
		}
		event := classProblem{class, message}
		if err := c.tell(ctx, class, message, c.times[event]); err != nil {
			errs = append(errs, err)
			continue
		}
		c.told[class] = message
		c.times[event]++
	}
	return errors.Join(errs...)
}
