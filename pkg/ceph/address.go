package ceph

import (
	"net"
	"strconv"
	"strings"
)

// MaxAddresses is how many mon addresses are taken. Ceph clusters have a handful of mons;
// librados names addresses by one character, and aborts the process at the 257th.
const MaxAddresses = 128

// Protocol is the messenger protocol that a mon speaks at an address.
type Protocol string

// The protocols, written as Ceph writes them.
const (
	V1 Protocol = "v1"
	V2 Protocol = "v2"
	// Any is an address whose protocol nobody named; librados tries both.
	Any Protocol = "any"
)

// Ports that mons have unless told otherwise.
const (
	portV1 uint16 = 6789
	portV2 uint16 = 3300
)

// Address is one address of a mon. Addresses compare with ==.
type Address struct {
	Protocol Protocol
	// IP is an IPv4 or IPv6 address in canonical form, without brackets.
	IP   string
	Port uint16
}

// HostPort is the form that kernel clients and config.json take: "10.0.0.1:6789",
// "[fd00::1]:6789".
func (a Address) HostPort() string {
	return net.JoinHostPort(a.IP, strconv.Itoa(int(a.Port)))
}

// String is the form that librados takes: "v2:10.0.0.1:3300", without a prefix for Any.
func (a Address) String() string {
	if a.Protocol == Any {
		return a.HostPort()
	}
	return string(a.Protocol) + ":" + a.HostPort()
}

// MonHost writes the addresses as librados' option mon_host. It de-duplicates them, and
// writes none as a vector "[v2:…,v1:…]": librados aborts the process when a vector holds
// an address that was named before.
func MonHost(addresses []Address) string {
	var entries []string
	for _, a := range UniqueAddresses(addresses) {
		entries = append(entries, a.String())
	}
	return strings.Join(entries, ",")
}

// UniqueAddresses drops repeated addresses and those with protocol Any whose protocol
// another one tells. The order stays.
func UniqueAddresses(addresses []Address) []Address {
	type place struct {
		ip   string
		port uint16
	}
	told := map[place]bool{}
	for _, a := range addresses {
		if a.Protocol != Any {
			told[place{a.IP, a.Port}] = true
		}
	}
	seen := map[Address]bool{}
	var unique []Address
	for _, a := range addresses {
		if seen[a] || a.Protocol == Any && told[place{a.IP, a.Port}] {
			continue
		}
		seen[a] = true
		unique = append(unique, a)
	}
	return unique
}

// preferred is the address of one mon that a client of ours takes: v2 if there is one,
// because only v2 encrypts what travels, minted keys for example.
func preferred(addresses []Address) Address {
	for _, a := range addresses {
		if a.Protocol == V2 {
			return a
		}
	}
	return addresses[0]
}
