package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// userOf is the name under which a driver's operator makes requests.
func userOf(d driver.Driver) string {
	return "system:serviceaccount:" + driver.Namespace + ":" + d.OperatorName()
}

// readRequests returns a user's finished requests in an audit log that were received at
// begin or later, but for watches and what concerns a lease.
func readRequests(log io.Reader, user string, begin time.Time) ([]auditv1.Event, error) {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<24)
	quoted := []byte(`"` + user + `"`)
	var out []auditv1.Event
	for lines.Scan() {
		var event auditv1.Event
		// The last line may still be in writing.
		if !bytes.Contains(lines.Bytes(), quoted) || json.Unmarshal(lines.Bytes(), &event) != nil {
			continue
		}
		finished := event.Stage == auditv1.StageResponseComplete || event.Stage == auditv1.StagePanic
		kept := event.Verb == "watch" || event.ObjectRef != nil && event.ObjectRef.Resource == "leases"
		if finished && !kept && event.User.Username == user && !event.RequestReceivedTimestamp.Time.Before(begin) {
			out = append(out, event)
		}
	}
	return out, lines.Err()
}

// requests are those of a driver's operator since begin, but for watches and leases.
func (b *bench) requests(d driver.Driver, begin time.Time) ([]auditv1.Event, error) {
	log, err := os.Open(b.cluster.AuditLog())
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	defer log.Close()
	return readRequests(log, userOf(d), begin)
}

// isWrite says whether a request is one that changes something.
func isWrite(r auditv1.Event) bool {
	review := r.ObjectRef != nil && slices.Contains([]string{"tokenreviews", "subjectaccessreviews"}, r.ObjectRef.Resource)
	return !review && !slices.Contains([]string{"get", "list"}, r.Verb)
}

// countWrites counts the writes but for events, and those of conditions among them.
func countWrites(requests []auditv1.Event) (all, ofConditions float64) {
	for _, r := range requests {
		if !isWrite(r) || r.ObjectRef == nil || r.ObjectRef.Resource == "events" {
			continue
		}
		all++
		if r.ObjectRef.Resource == clusterCSIDrivers.Resource && r.ObjectRef.Subresource == "status" {
			ofConditions++
		}
	}
	return all, ofConditions
}

// staticResources are the kinds of which the driver's static assets are.
var staticResources = []string{
	"clusterroles", "clusterrolebindings", "roles", "rolebindings", "serviceaccounts", "services",
	"poddisruptionbudgets", "csidrivers", "prometheusrules", "servicemonitors",
}

// lastStaticWrite is when the last write to a static resource was answered; zero without any.
func lastStaticWrite(requests []auditv1.Event) time.Time {
	var last time.Time
	for _, r := range requests {
		if isWrite(r) && r.ObjectRef != nil && slices.Contains(staticResources, r.ObjectRef.Resource) && r.StageTimestamp.After(last) {
			last = r.StageTimestamp.Time
		}
	}
	return last
}

// quiet waits until a driver's operator has asked for nothing during a while.
func (b *bench) quiet(ctx context.Context, d driver.Driver, while time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	begin := time.Now()
	for {
		wait := time.Until(begin.Add(while))
		if wait <= 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s is quiet for %s: %w", d.OperatorName(), while, ctx.Err())
		case <-b.operators[d.Name].Done():
			return b.operators[d.Name].Exited()
		case <-time.After(wait):
		}
		requests, err := b.requests(d, begin)
		if err != nil {
			return err
		}
		if len(requests) > 0 {
			begin = requests[len(requests)-1].StageTimestamp.Time
		}
	}
}
