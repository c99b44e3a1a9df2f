package ceph

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// MonMap is Ceph's own list of its mons.
type MonMap struct {
	FSID string
	// Epoch rises with every change of the map.
	Epoch int64
	// Mons are sorted by name; those out of quorum are included.
	Mons []Mon
	// NeverJoined are the names, sorted, of further mons, which count towards a majority: mon_initial_members
	// names them, and nobody knows an address of theirs.
	NeverJoined []string
	// Keys are the types of keys of its users.
	Keys KeyTypes
}

// KeyTypes are the types of keys that a Ceph cluster lets users have. The zero value is that of a Ceph
// before StrongReleases, which knows but one.
type KeyTypes struct {
	Allowed   []KeyType
	Preferred KeyType
}

// Allows says whether users may have keys of a type.
func (k KeyTypes) Allows(t KeyType) bool {
	return slices.Contains(k.Allowed, t) || len(k.Allowed) == 0 && t == AES
}

// Mon is one mon of a MonMap.
type Mon struct {
	Name string
	// Addrs has one address for each protocol the mon speaks, in the mon's own order.
	Addrs []Address
}

// Monitors lists every mon once, sorted, in the form that config.json and the kernel
// clients take: "ip:port" of the v1 address, of the v2 address where v1 is off.
func (m MonMap) Monitors() []string {
	var monitors []string
	for _, mon := range m.Mons {
		chosen := mon.Addrs[0]
		for _, a := range mon.Addrs {
			if a.Protocol == V1 {
				chosen = a
			}
		}
		monitors = append(monitors, chosen.HostPort())
	}
	slices.Sort(monitors)
	return monitors
}

// V2Only says that no mon has an address of messenger protocol 1.
func (m MonMap) V2Only() bool {
	return len(m.Mons) > 0 && !slices.ContainsFunc(m.Mons, func(mon Mon) bool {
		return slices.ContainsFunc(mon.Addrs, func(a Address) bool { return a.Protocol != V2 })
	})
}

// SpeaksBoth says that there are addresses of both messenger protocols.
func (m MonMap) SpeaksBoth() bool {
	return !m.V2Only() && slices.ContainsFunc(m.Mons, func(mon Mon) bool {
		return slices.ContainsFunc(mon.Addrs, func(a Address) bool { return a.Protocol == V2 })
	})
}

// MonHost lists every mon once, by the address that a client of ours takes: v2 if the mon
// has one.
func (m MonMap) MonHost() []Address {
	var addresses []Address
	for _, mon := range m.Mons {
		addresses = append(addresses, preferred(mon.Addrs))
	}
	return addresses
}

// ParseMonDump reads the JSON of `ceph mon dump`. A map without fsid, epoch or an address of a mon,
// or with a mon without address, is an error: it must never reach a consumer.
func ParseMonDump(data []byte) (MonMap, error) {
	type cipher struct {
		Name KeyType `json:"name"`
	}
	var dump struct {
		Allowed   []cipher `json:"auth_allowed_ciphers"`
		Preferred cipher   `json:"auth_preferred_cipher"`

		FSID  string      `json:"fsid"`
		Epoch int64       `json:"epoch"`
		Mons  []dumpedMon `json:"mons"`
	}
	if err := json.Unmarshal(data, &dump); err != nil {
		return MonMap{}, fmt.Errorf("reading the monmap: %w", err)
	}
	if !IsFSID(dump.FSID) || dump.Epoch < 1 || len(dump.Mons) == 0 {
		return MonMap{}, fmt.Errorf("monmap with fsid %q, epoch %d and %d mons is incomplete",
			dump.FSID, dump.Epoch, len(dump.Mons))
	}
	m := MonMap{FSID: dump.FSID, Epoch: dump.Epoch, Keys: KeyTypes{Preferred: dump.Preferred.Name}}
	for _, c := range dump.Allowed {
		m.Keys.Allowed = append(m.Keys.Allowed, c.Name)
	}
	for _, entry := range dump.Mons {
		mon, err := entry.mon()
		switch {
		case err != nil:
			return MonMap{}, fmt.Errorf("monmap epoch %d, mon %q: %w", dump.Epoch, entry.Name, err)
		case len(mon.Addrs) == 0:
			m.NeverJoined = append(m.NeverJoined, mon.Name)
		default:
			m.Mons = append(m.Mons, mon)
		}
	}
	slices.Sort(m.NeverJoined)
	if len(m.Mons) == 0 {
		return MonMap{}, fmt.Errorf("monmap epoch %d: none of the mons %s has an address; one has it once it was started and has joined",
			dump.Epoch, strings.Join(m.NeverJoined, ", "))
	}
	slices.SortFunc(m.Mons, func(a, b Mon) int { return cmp.Compare(a.Name, b.Name) })
	return m, nil
}

// dumpedMon is one mon of `ceph mon dump`.
type dumpedMon struct {
	Name        string `json:"name"`
	PublicAddrs struct {
		AddrVec []struct {
			Type string `json:"type"`
			Addr string `json:"addr"`
		} `json:"addrvec"`
	} `json:"public_addrs"`
}

// mon leaves out the addresses at which nobody can be. One that has never joined has none else.
func (d dumpedMon) mon() (Mon, error) {
	if len(d.PublicAddrs.AddrVec) == 0 {
		return Mon{}, errors.New("it has no address")
	}
	mon := Mon{Name: d.Name}
	for _, a := range d.PublicAddrs.AddrVec {
		if a.Type == "none" {
			continue
		}
		address, err := monAddress(a.Type, a.Addr)
		if err != nil {
			return Mon{}, err
		}
		if ip, _ := netip.ParseAddr(address.IP); address.Port > 0 && !ip.IsUnspecified() {
			mon.Addrs = append(mon.Addrs, address)
		}
	}
	return mon, nil
}

func monAddress(protocol, hostPort string) (Address, error) {
	at, err := netip.ParseAddrPort(hostPort)
	if err != nil {
		return Address{}, fmt.Errorf("address: %w", err)
	}
	switch p := Protocol(protocol); p {
	case V1, V2, Any:
		return Address{Protocol: p, IP: at.Addr().Unmap().String(), Port: at.Port()}, nil
	}
	return Address{}, fmt.Errorf("address %s has the unknown protocol %q", hostPort, protocol)
}
