package check

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
)

const minimalConf = "ceph config generate-minimal-conf -o ceph.conf"

func confFile(config Config, f facts) []Line {
	name := ceph.EntryConf
	if err := f.conf.err; err != nil {
		return []Line{wrong(name, text(config.Conf.Name, err), minimalConf)}
	}
	d := f.conf.value
	if d.fsid == "" {
		return []Line{note(name, fmt.Sprintf("%d mon addresses; no fsid, so nothing guards against the mons of another Ceph cluster",
			len(d.mons)), minimalConf)}
	}
	return []Line{right(name, "Ceph cluster %s, %s", d.fsid, counted(len(d.mons), "mon address", "mon addresses"))}
}

func keyringFile(config Config, f facts) []Line {
	name := ceph.EntryKeyring
	if err := f.user.err; err != nil {
		user := "client." + strings.TrimPrefix(config.User, "client.")
		if config.User == "" {
			user = "client.admin"
		}
		return []Line{wrong(name, text(config.Keyring.Name, err), fmt.Sprintf("ceph auth get %s -o keyring", shell.Quote(user)))}
	}
	return []Line{right(name, "user %s", f.user.value.Entity())}
}

// text puts the name of the file that the user gave before the fault in it.
func text(file string, err error) string {
	var fault *ceph.InputError
	if errors.As(err, &fault) {
		_, after, found := strings.Cut(fault.Text, fault.Entry+": ")
		if found {
			return file + ": " + after
		}
	}
	return file + ": " + err.Error()
}

// addresses has a line for each address of the monmap, or of ceph.conf while there is none.
func addresses(config Config, f facts) []Line {
	var lines []Line
	for _, mon := range f.monMap.value.Mons {
		for _, address := range mon.Addrs {
			name := fmt.Sprintf("mon %s %s", mon.Name, address)
			if err := f.reach[address]; err != nil {
				lines = append(lines, wrong(name, err.Error(), revive(mon.Name)...))
				continue
			}
			lines = append(lines, right(name, "answers"))
		}
	}
	known := f.monMap.value
	for _, address := range f.conf.value.mons {
		err := f.reach[address]
		switch {
		case len(known.Mons) > 0 && hasAddress(known, address):
		case len(known.Mons) > 0:
			lines = append(lines, note("mon "+address.String(), "no mon of this Ceph cluster has this address any more; the others are enough",
				minimalConf))
		case err != nil:
			lines = append(lines, wrong("mon "+address.String(), err.Error(), fmt.Sprintf("ceph mon dump; nc -vz %s %d", address.IP, address.Port)))
		default:
			lines = append(lines, right("mon "+address.String(), "answers"))
		}
	}
	return lines
}

// revive brings a mon back, or takes it out for good.
func revive(mon string) []string {
	return []string{
		"systemctl restart " + shell.Quote("ceph-mon@"+mon) + "  # on its host; under cephadm: ceph orch daemon restart " + shell.Quote("mon."+mon),
		"ceph mon remove " + shell.Quote(mon) + "  # only if it is gone for good",
	}
}

func hasAddress(m ceph.MonMap, wanted ceph.Address) bool {
	return slices.ContainsFunc(m.Mons, func(mon ceph.Mon) bool {
		return slices.ContainsFunc(mon.Addrs, func(a ceph.Address) bool {
			return a.IP == wanted.IP && a.Port == wanted.Port
		})
	})
}

func quorum(_ Config, f facts) []Line {
	const name = "quorum"
	if err := errors.Join(f.quorum.err, f.monMap.err); err != nil {
		return []Line{unanswered(name, err)}
	}
	var names, missing, told []string
	for _, mon := range f.monMap.value.Mons {
		names = append(names, mon.Name)
		if !slices.Contains(f.quorum.value, mon.Name) {
			missing, told = append(missing, mon.Name), append(told, mon.Name)
		}
	}
	for _, mon := range f.monMap.value.NeverJoined {
		names, missing, told = append(names, mon), append(missing, mon), append(told, neverJoined(mon))
	}
	if len(missing) > 0 {
		return []Line{wrong(name, fmt.Sprintf("%d of %d mons; out of it: %s", len(names)-len(missing), len(names),
			strings.Join(told, ", ")), revive(missing[0])...)}
	}
	return []Line{right(name, "%s: %s", counted(len(names), "mon", "mons"), strings.Join(names, ", "))}
}

func neverJoined(mon string) string { return mon + " (never joined)" }

// connection tells why there is no session.
func connection(config Config, f facts) []Line {
	const name = "connection"
	err, user := f.fsid.err, f.user.value.Entity()
	switch {
	case err == nil:
		return []Line{right(name, "%s is accepted by Ceph cluster %s", user, f.fsid.value)}
	case errors.Is(err, ceph.ErrKeyType):
		return []Line{wrong(name, err.Error(), fmt.Sprintf("ceph auth rotate %s --key_type %s", shell.Quote(user), ceph.AES))}
	case errors.Is(err, ceph.ErrWrongKey):
		message := fmt.Sprintf("the mons refuse %s: it does not exist, has another key, or has no caps for mons", user)
		fix := []string{shell.Command("ceph", "auth", "get", user, "-o", config.Keyring.Name)}
		if f.user.value.Key.Type() == ceph.AES {
			message += fmt.Sprintf("; or its key is of type %s, which a Ceph that was made with %s, or later, does not allow", ceph.AES, ceph.StrongReleases)
			fix = append(fix, fmt.Sprintf("ceph auth rotate %s --key_type %s  # only where ceph mon dump allows no other type", shell.Quote(user), ceph.AES256))
		}
		return []Line{wrong(name, message, fix...)}
	case errors.Is(err, ceph.ErrOtherCluster):
		return []Line{wrong(name, err.Error(), "ceph fsid", minimalConf)}
	case errors.Is(err, ceph.ErrUnreachable), errors.Is(err, ceph.ErrTimeout):
		return []Line{wrong(name, "no mon made a connection: "+why(f), "ceph -s  # on a host of the Ceph cluster")}
	}
	return []Line{wrong(name, err.Error(), "ceph -s  # on a host of the Ceph cluster")}
}

// why there is no connection, by what the addresses told.
func why(f facts) string {
	answering := 0
	for _, err := range f.reach {
		if err == nil {
			answering++
		}
	}
	if answering == 0 {
		return "none of the addresses answers"
	}
	return fmt.Sprintf("%d of %d addresses answer, but the mons have no quorum or are overloaded", answering, len(f.reach))
}

// unanswered is the line for a question that was refused or not answered.
func unanswered(name string, err error) Line {
	switch {
	case errors.Is(err, ceph.ErrDenied):
		return unknown(name, "the user may not see it: "+err.Error())
	case errors.Is(err, ceph.ErrTimeout):
		return wrong(name, "Ceph does not answer in time: "+err.Error(), "ceph -s  # on a host of the Ceph cluster")
	}
	return unknown(name, err.Error())
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func clocks(_ Config, f facts) []Line {
	const name = "clocks"
	if f.clocks.err != nil {
		return []Line{unanswered(name, f.clocks.err)}
	}
	var lines []Line
	worst := 0.0
	for _, c := range f.clocks.value {
		skew := max(c.Skew, -c.Skew)
		worst = max(worst, skew)
		if !c.OK {
			lines = append(lines, wrong(name, fmt.Sprintf("the clock of mon %s is %.3f s off; mons and tickets of users fail with that", c.Mon, skew),
				"chronyc makestep  # on the host of mon "+c.Mon))
		}
	}
	switch {
	case len(lines) > 0:
		return lines
	case len(f.clocks.value) == 0:
		return []Line{right(name, "one mon only, nothing to compare with")}
	}
	return []Line{right(name, "%s, %.3f s apart at most", counted(len(f.clocks.value), "mon", "mons"), worst)}
}

// losesData is the release in which reads from a near OSD of CephFS can lose data.
const losesData = "20.2.0"

func versions(_ Config, f facts) []Line {
	const name = "versions"
	if f.versions.err != nil {
		return []Line{unanswered(name, f.versions.err)}
	}
	const upgrade = "ceph orch upgrade status  # or your own way to upgrade Ceph"
	releases := f.versions.value.Releases()
	var lines []Line
	for _, release := range releases {
		var major, minor int
		if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil {
			lines = append(lines, unknown(name, "release "+release+" is of no known form"))
			continue
		}
		if ceph.TooOld(release) {
			lines = append(lines, wrong(name, fmt.Sprintf("release %s of %s is too old for ceph-csi, which needs %d.%d or later",
				release, running(f.versions.value, release), ceph.OldestMajor, ceph.OldestMinor), upgrade))
		}
		if ceph.IsRelease(release, losesData) {
			lines = append(lines, note(name, "release "+release+" can lose data of CephFS with read affinity: leave ceph.readAffinity off", upgrade))
		}
	}
	if len(releases) > 1 {
		lines = append(lines, note(name, "several releases run at a time, as in an upgrade: "+strings.Join(releases, ", "), upgrade))
	}
	if len(lines) == 0 {
		return []Line{right(name, "Ceph %s", strings.Join(releases, ", "))}
	}
	return lines
}

// running are the kinds of daemons that run a release.
func running(v ceph.Versions, release string) string {
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(v)) {
		if v[kind][release] > 0 {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, ", ")
}
