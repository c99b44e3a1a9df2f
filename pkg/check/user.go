package check

import (
	"fmt"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
)

// rights sorts trials by whether the user may send them.
type rights struct{ may, mayNot, unknown []string }

func (f facts) rights(trials []ceph.Trial) rights {
	var r rights
	for _, trial := range trials {
		name := fmt.Sprintf("%q", trial.Prefix)
		may, unknown := f.may(trial)
		switch {
		case unknown != nil:
			r.unknown = append(r.unknown, name)
		case may:
			r.may = append(r.may, name)
		default:
			r.mayNot = append(r.mayNot, name)
		}
	}
	return r
}

// mints says whether the operator would make users for the drivers.
func (f facts) mints() bool {
	r := f.rights(driver.MintingTrials)
	return len(r.mayNot) == 0 && len(r.unknown) == 0
}

// mintsFor says whether it would with these settings.
func (f facts) mintsFor(config Config) bool {
	return f.mints() && mode(config, f) != driver.CredentialsPassthrough
}

// mode is the credentials that all drivers agree on; Auto where they differ.
func mode(config Config, f facts) driver.CredentialsMode {
	common := driver.CredentialsMode("")
	for i, d := range config.Drivers {
		settings, _ := f.cluster.settings(d)
		if i > 0 && settings.Credentials != common {
			return driver.CredentialsAuto
		}
		common = settings.Credentials
	}
	if common == "" {
		return driver.CredentialsAuto
	}
	return common
}

func minting(config Config, f facts) []Line {
	const name = "minting"
	user := f.user.value
	r, claims := f.rights(driver.MintingTrials), f.rights([]ceph.Trial{ceph.TrySetApplication})
	wanted := mode(config, f)
	switch {
	case len(r.unknown) > 0:
		return []Line{unknown(name, "Ceph did not tell whether the user may make users: "+strings.Join(r.unknown, ", "))}
	case wanted == driver.CredentialsPassthrough:
		return []Line{right(name, "not wanted: ceph.credentials is Passthrough")}
	case len(r.mayNot) == 0 && len(claims.mayNot) > 0:
		return []Line{note(name, fmt.Sprintf("%s may make users, but may not send %s: a driver that runs reaches a pool that is new to it only after its pods were restarted, or an hour",
			user.Entity(), strings.Join(claims.mayNot, ", ")), setCaps(user, f.toMint()))}
	case len(r.mayNot) == 0:
		return []Line{right(name, "%s may make users: the drivers get users of their own with narrow caps", user.Entity())}
	case wanted == driver.CredentialsMint:
		return []Line{wrong(name, fmt.Sprintf("ceph.credentials is Mint, but %s may not send %s", user.Entity(), strings.Join(r.mayNot, ", ")),
			setCaps(user, f.toMint()))}
	case len(r.may) > 0:
		return []Line{wrong(name, fmt.Sprintf("%s may make users only in part: not %s", user.Entity(), strings.Join(r.mayNot, ", ")),
			setCaps(user, f.toMint()))}
	case f.power.value != "":
		return []Line{wrong(name, fmt.Sprintf("%s may not make users, but may send %q, which makes its key too much for every node: the drivers get none",
			user.Entity(), f.power.value), setCaps(user, f.toMint()), setCaps(user, passthroughCaps)+"  # or this, for the drivers to work as this user")}
	case f.power.err != nil:
		return []Line{unanswered(name, f.power.err)}
	}
	return []Line{note(name, fmt.Sprintf("%s may not make users: the drivers work as this user itself", user.Entity()))}
}

// passthrough has a line for each driver: may it work as the given user?
func passthrough(config Config, f facts) []Line {
	var lines []Line
	for _, d := range config.Drivers {
		lines = append(lines, passthroughOf(d, config, f))
	}
	return lines
}

func passthroughOf(d driver.Driver, config Config, f facts) Line {
	p := profiles[d.Kind]
	name, user := "passthrough "+p.group, f.user.value
	where := f.places[d.Name]
	r := f.rights(append(p.mons[:len(p.mons):len(p.mons)], p.manager(where)...))
	for _, at := range f.poolsOf(d, where) {
		known := f.objects[at]
		what := "objects of pool " + at.pool
		switch {
		case !known.known():
			r.unknown = append(r.unknown, what)
		case !known.value.Read || !known.value.Write:
			r.mayNot = append(r.mayNot, what)
		}
	}
	if p.mds {
		r.addMDS(f)
	}
	needed := mode(config, f) == driver.CredentialsPassthrough || !f.mints()
	missing := "lacks the right to " + strings.Join(r.mayNot, ", ")
	switch {
	case len(r.mayNot) > 0 && needed:
		return wrong(name, user.Entity()+" "+missing, setCaps(user, passthroughCaps))
	case len(r.mayNot) > 0:
		return note(name, fmt.Sprintf("not needed, because the driver gets users of its own; %s %s", user.Entity(), missing))
	case len(r.unknown) > 0 && !needed:
		return right(name, "not needed, because the driver gets users of its own")
	case len(r.unknown) > 0:
		return unknown(name, "not seen: "+strings.Join(r.unknown, ", ")+"; the rest is right; compare with ceph auth get "+shell.Quote(user.Entity()))
	}
	return right(name, "%s has all rights that the driver needs", user.Entity())
}

// addMDS adds what only the user's entry tells: nobody can try it without a mount.
func (r *rights) addMDS(f facts) {
	const what = "mount filesystems (caps for mds)"
	switch {
	case !f.self.known():
		r.unknown = append(r.unknown, what)
	case f.self.value.Caps.MDS == "":
		r.mayNot = append(r.mayNot, what)
	}
}

// protection tells whether pools in use can be kept from removal.
func protection(config Config, f facts) []Line {
	const name = "pool protection"
	off := 0
	for _, d := range config.Drivers {
		if settings, _ := f.cluster.settings(d); !settings.ProtectsPools() {
			off++
		}
	}
	r := f.rights(protectTrials)
	switch {
	case off == len(config.Drivers):
		return []Line{right(name, "not wanted: ceph.poolProtection is Disabled")}
	case len(r.unknown) > 0:
		return []Line{unknown(name, "Ceph did not tell whether the user may set flags of pools")}
	case len(r.mayNot) > 0:
		return []Line{note(name, fmt.Sprintf("pools in use cannot be kept from removal: %s may not send %s",
			f.user.value.Entity(), strings.Join(r.mayNot, ", ")), setCaps(f.user.value, capsFor(config, f)))}
	}
	return []Line{right(name, "pools in use can be kept from removal")}
}

// capsFor are the caps that suit how the user is used.
func capsFor(config Config, f facts) ceph.Caps {
	if f.mintsFor(config) {
		return f.toMint()
	}
	return passthroughCaps
}
