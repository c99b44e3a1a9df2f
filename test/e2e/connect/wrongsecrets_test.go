package connect

import (
	"context"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	connectionDegraded = "CephConnectionDegraded"

	// otherKey is a well-formed cephx key that no Ceph cluster knows.
	otherKey  = "AQBq1XhmAAAAABAAVdfVzC5y7m0nkzVUR0mYgA=="
	noKey     = "s3cr3t-that-is-no-key"
	otherFSID = "11111111-2222-4333-8444-555555555555"
)

// wrongSecret is a mistake, made in an otherwise right Secret, and how it is reported.
type wrongSecret struct {
	what   string
	change func(data map[string][]byte)
	reason string
	// message has all of these.
	message []string
}

var (
	keyLine = regexp.MustCompile(`(?m)^(\s*key\s*=\s*)\S+`)
	// monAddress is that of each mon: all are on loopback.
	monAddress = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

func replace(entry string, pattern *regexp.Regexp, replacement string) func(map[string][]byte) {
	return func(data map[string][]byte) { data[entry] = pattern.ReplaceAll(data[entry], []byte(replacement)) }
}

var wrong = []wrongSecret{
	{what: "that is empty", change: func(data map[string][]byte) { clear(data) },
		reason: "CredentialsInvalid", message: []string{"openshift-cluster-csi-drivers/ceph-credentials", "none of ceph.conf and keyring"}},
	{what: "without ceph.conf", change: func(data map[string][]byte) { delete(data, "ceph.conf") },
		reason: "CredentialsInvalid", message: []string{"ceph.conf is missing"}},
	{what: "without a keyring", change: func(data map[string][]byte) { delete(data, "keyring") },
		reason: "CredentialsInvalid", message: []string{"keyring is missing"}},
	{what: "with a keyring that has no key", change: func(data map[string][]byte) { data["keyring"] = []byte("[client.admin]\n") },
		reason: "CredentialsInvalid", message: []string{"the key is empty"}},
	{what: "with something else for a key", change: replace("keyring", keyLine, "${1}"+noKey),
		reason: "CredentialsInvalid", message: []string{"not valid base64"}},
	{what: "with a key that Ceph does not know", change: replace("keyring", keyLine, "${1}"+otherKey),
		reason: "AccessDenied", message: []string{"client.admin", "keyring"}},
	{what: "with another fsid than that of the mons", change: func(data map[string][]byte) {
		data["ceph.conf"] = []byte(strings.ReplaceAll(string(data["ceph.conf"]), env.Cluster.Ceph().FSID(), otherFSID))
	}, reason: "WrongCluster", message: []string{otherFSID}},
}

// nobodyThere has mons of which none answers.
func nobodyThere(data map[string][]byte) { replace("ceph.conf", monAddress, "127.0.0.1:9")(data) }

// unreachable is wrong only as long as no connection has shown where the mons are.
var unreachable = wrongSecret{what: "with mons that nobody reaches", change: nobodyThere,
	reason: "CephUnreachable", message: []string{"127.0.0.1:9"}}

// complains waits until a driver's connection is Degraded as told.
func complains(ctx context.Context, d driver.Driver, reason string, message ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		c := env.Condition(ctx, g, d, connectionDegraded)
		g.Expect(c.Status).To(Equal(operatorv1.ConditionTrue), d.Name)
		g.Expect(c.Reason).To(Equal(reason), c.Message)
		for _, text := range message {
			g.Expect(c.Message).To(ContainSubstring(text))
		}
	}).WithContext(ctx).Should(Succeed())
}

// wrongSecrets are its specs. Where drivers are deployed, they stay as they are and recover
// afterwards; before that, nothing is deployed and the next mistake follows.
func wrongSecrets(areDeployed bool) {
	mistakes := slices.Clone(wrong)
	if !areDeployed {
		mistakes = append(mistakes, unreachable)
	}
	for _, w := range mistakes {
		It(w.what+" is called "+w.reason, func(ctx SpecContext) {
			env.KeepSecret(otherKey, noKey)
			var before map[string]string
			if areDeployed {
				before = deployed(ctx)
			}
			data := env.Credentials()
			w.change(data)
			env.Declare(ctx, data)
			for _, d := range driver.All {
				complains(ctx, d, w.reason, w.message...)
			}
			AddReportEntry(env.Condition(ctx, Default, driver.RBD, connectionDegraded).Message)
			if !areDeployed {
				nothingDeployed(ctx, Default)
				return
			}
			Expect(deployed(ctx)).To(Equal(before))
			env.Declare(ctx, env.Credentials())
			env.Settle(ctx)
			Expect(deployed(ctx)).To(Equal(before))
		})
	}
}
