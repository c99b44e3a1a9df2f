package credentials

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
)

// Users is how the driver gets its cephx users. It never has a key.
type Users struct {
	// Mode is "Mint" or "Passthrough".
	Mode string
	// Names are the users that the driver works as, such as "client.csi-rbd-node.x", sorted.
	Names []string
	// Reason tells why the mode is not another, in a sentence; empty when it was asked for.
	Reason string
}

// outcome is what follows from an answer.
type outcome struct {
	// secrets are to have these users; none are left as they are.
	secrets map[string]ceph.Credentials
	// granted says that the users have all caps that they need.
	granted    bool
	report     Users
	conditions []*condition.Said
}

// verdict decides who the driver's users are. An answer that does not cover what is asked now
// grants nothing.
//
//	mode         Ceph              | users        granted CredentialsDegraded CredentialsMinted
//	Passthrough  –                 | operator's   yes     False               False
//	Mint, Auto   ok                | minted       yes     False               absent, or True with what to know of them
//	Auto         denies minting,   |
//	             none minted yet   | operator's   yes     False               False
//	Mint, Auto   denies otherwise  | last minted  no      True, AccessDenied  as last
//	Mint, Auto   refuses           | last minted  no      True, SyncError     as last
func verdict(d driver.Driver, in input, a answer, covers bool) outcome {
	operator := in.cluster.Credentials
	field := fmt.Sprintf("spec.driverConfig.ceph.credentials of ClusterCSIDriver %s", d.Name)
	advice := func(caps ceph.Caps) string {
		return fmt.Sprintf("an administrator allows it with: ceph auth caps %s %s", shell.Quote(operator.Entity()), caps)
	}
	switch {
	case in.mode == driver.CredentialsPassthrough:
		return passthrough(d, in, fmt.Sprintf("%s is %s: the driver works as %s, the operator's own user", field, in.mode, operator.Entity()), "")
	case a.err == nil:
		return minted(d, in, a, covers)
	case a.passedOn:
		why := fmt.Sprintf("%s may not make users with narrower caps: %v", operator.Entity(), a.err)
		return passthrough(d, in, fmt.Sprintf("The driver works as %s, the operator's own user, for %s; %s", operator.Entity(), why,
			// The command replaces all caps, and volumes are mounted with this user.
			advice(driver.MintingCaps.With(driver.MountingCaps))), why)
	case errors.Is(a.err, ceph.ErrDenied):
		return broken(a, condition.New(condition.CredentialsDegraded, operatorv1.ConditionTrue, condition.AccessDenied,
			fmt.Sprintf("%s is %s, but %s may not make the driver's Ceph users or keep their caps: %v; the Secrets stay as they are; "+
				"set it to %s if every node may have the key of %s, or %s", field, in.mode, operator.Entity(), a.err, driver.CredentialsPassthrough, operator.Entity(), advice(driver.MintingCaps))))
	}
	return broken(a, degraded(a.err))
}

func passthrough(d driver.Driver, in input, message, why string) outcome {
	operator := in.cluster.Credentials
	message += doubt(in, fmt.Sprintf("give the user a key of type %[1]s, where Ceph allows that: ceph auth rotate %[2]s --key_type %[1]s", ceph.AES, shell.Quote(operator.Entity())), operator)
	return outcome{
		secrets: map[string]ceph.Credentials{d.ProvisionerSecret(): operator, d.NodeSecret(): operator},
		granted: true,
		report:  Users{Mode: string(driver.CredentialsPassthrough), Names: []string{operator.Entity()}, Reason: why},
		conditions: []*condition.Said{
			condition.Good(condition.CredentialsDegraded),
			condition.New(condition.CredentialsMinted, operatorv1.ConditionFalse, condition.Passthrough, message),
		},
	}
}

func minted(d driver.Driver, in input, a answer, granted bool) outcome {
	var names []string
	for _, user := range a.users {
		names = append(names, user.Entity())
	}
	slices.Sort(names)
	var notes string
	for _, name := range a.leftOut {
		notes += fmt.Sprintf("; they have no rights to %q: a Ceph user's caps cannot carry this name, rename it", name)
	}
	notes += doubt(in, weaken(d, in), slices.Collect(maps.Values(a.users))...)
	said := condition.Absent(condition.CredentialsMinted)
	if notes != "" {
		said = condition.New(condition.CredentialsMinted, operatorv1.ConditionTrue, condition.AsExpected, "The driver works as "+strings.Join(names, " and ")+notes)
	}
	return outcome{
		secrets:    a.users,
		granted:    granted,
		report:     Users{Mode: string(driver.CredentialsMint), Names: names},
		conditions: []*condition.Said{condition.Good(condition.CredentialsDegraded), said},
	}
}

// broken leaves the Secrets with the last good users, whom a hand may have edited out of them.
func broken(a answer, why *condition.Said) outcome {
	return outcome{secrets: a.users, conditions: []*condition.Said{why}}
}
