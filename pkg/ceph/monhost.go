package ceph

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Resolver finds the addresses of a host name; net.DefaultResolver.LookupNetIP with
// network "ip" does.
type Resolver func(ctx context.Context, host string) ([]netip.Addr, error)

// ErrUnresolved says that mons are given by names only and none of them could be resolved.
var ErrUnresolved = errors.New("host name not resolved")

// ParseMonHost reads every form of Ceph's option mon_host: addresses and names with or
// without protocol, port and nonce, and vectors, of which it keeps the v2 address. They
// are separated by commas, semicolons or blanks. Names that cannot be resolved are left
// out as long as one address remains; otherwise the error wraps ErrUnresolved. More entries
// than MaxAddresses are an error; names may still resolve to more addresses.
func ParseMonHost(ctx context.Context, text string, resolve Resolver) ([]Address, error) {
	entries, err := SplitMonHost(text)
	if err != nil {
		return nil, err
	}
	if len(entries) > MaxAddresses {
		return nil, fmt.Errorf("%d mon addresses, more than %d; write those of one Ceph cluster only (`ceph mon dump` lists them)",
			len(entries), MaxAddresses)
	}
	var addresses []Address
	var unresolved []string
	for _, entry := range entries {
		found, err := parseEntry(ctx, entry, resolve)
		if errors.Is(err, ErrUnresolved) {
			unresolved = append(unresolved, err.Error())
			continue
		}
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, found...)
	}
	if len(addresses) == 0 && len(unresolved) > 0 {
		return nil, fmt.Errorf("%w: %s; write IP addresses, or names that the cluster's DNS knows",
			ErrUnresolved, strings.Join(unresolved, "; "))
	}
	if len(addresses) == 0 {
		return nil, errors.New("no mon address; write the addresses of all mons, separated by commas")
	}
	return UniqueAddresses(addresses), nil
}

// Nameless resolves no name: what one machine takes a name for, another may not.
func Nameless(context.Context, string) ([]netip.Addr, error) { return nil, ErrUnresolved }

// ListedAddresses are those of one entry of a list of mons that ceph-csi hands to librados, of a vector all; none of a name.
func ListedAddresses(entry string) []Address {
	if vector, found := strings.CutPrefix(entry, "[v"); found {
		entry = "v" + strings.TrimSuffix(vector, "]")
	}
	addresses, err := ParseMonHost(context.Background(), entry, Nameless)
	if err != nil {
		return nil
	}
	return addresses
}

// SplitMonHost cuts such a text at separators outside brackets.
func SplitMonHost(text string) ([]string, error) {
	var entries []string
	depth, start := 0, 0
	flush := func(end int) {
		if entry := strings.TrimSpace(text[start:end]); entry != "" {
			entries = append(entries, entry)
		}
		start = end + 1
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth == 0 && strings.IndexByte(",; \t\r\n", c) >= 0:
			flush(i)
		}
		if depth < 0 {
			break
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("unbalanced brackets in %s", quote(text))
	}
	flush(len(text))
	return entries, nil
}

func parseEntry(ctx context.Context, entry string, resolve Resolver) ([]Address, error) {
	if addresses, isVector, err := parseVector(ctx, entry, resolve); isVector {
		return addresses, err
	}
	protocol, host, port, err := splitAddress(entry)
	if err != nil {
		return nil, err
	}
	ips, err := lookUp(ctx, host, resolve)
	if err != nil {
		return nil, err
	}
	var addresses []Address
	for _, ip := range ips {
		addresses = append(addresses, expand(protocol, ip, port)...)
	}
	return addresses, nil
}

// parseVector reads "[v2:ip:port/nonce,v1:ip:port/nonce]", the addresses of one mon.
func parseVector(ctx context.Context, entry string, resolve Resolver) (addresses []Address, isVector bool, err error) {
	inner, ok := strings.CutPrefix(entry, "[")
	if !ok || !strings.HasSuffix(inner, "]") {
		return nil, false, nil
	}
	inner = strings.TrimSuffix(inner, "]")
	if _, err := netip.ParseAddr(inner); err == nil {
		return nil, false, nil
	}
	members, err := SplitMonHost(inner)
	if err != nil {
		return nil, true, err
	}
	for _, member := range members {
		if strings.HasPrefix(member, "[v") {
			return nil, true, fmt.Errorf("mon address %s is a vector within a vector", quote(entry))
		}
		found, err := parseEntry(ctx, member, resolve)
		if err != nil {
			return nil, true, err
		}
		addresses = append(addresses, found...)
	}
	if len(addresses) == 0 {
		return nil, true, fmt.Errorf("mon address %s is an empty vector", quote(entry))
	}
	return []Address{preferred(addresses)}, true, nil
}

// splitAddress cuts "v2:host:port/nonce" into its parts; port is 0 when there is none.
func splitAddress(entry string) (protocol Protocol, host string, port uint16, err error) {
	protocol, rest := Any, entry
	for _, p := range []Protocol{V1, V2, Any} {
		if after, ok := strings.CutPrefix(entry, string(p)+":"); ok {
			protocol, rest = p, after
		}
	}
	rest, nonce, hasNonce := strings.Cut(rest, "/")
	if _, err := strconv.ParseUint(nonce, 10, 32); hasNonce && err != nil {
		return "", "", 0, malformed(entry)
	}
	if _, err := netip.ParseAddr(rest); err == nil {
		return protocol, rest, 0, nil
	}
	host, number := rest, ""
	if i := strings.LastIndexByte(rest, ':'); i > strings.LastIndexByte(rest, ']') {
		host, number = rest[:i], rest[i+1:]
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			return "", "", 0, malformed(entry)
		}
		port = uint16(n)
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
		if ip, err := netip.ParseAddr(host); err != nil || !ip.Is6() {
			return "", "", 0, malformed(entry)
		}
		return protocol, host, port, nil
	}
	if !isHost(host) {
		return "", "", 0, malformed(entry)
	}
	return protocol, host, port, nil
}

func malformed(entry string) error {
	return fmt.Errorf("mon address %s is malformed; write 10.0.0.1:6789, v2:10.0.0.1:3300, "+
		"[fd00::1]:6789 or a host name", quote(entry))
}

// isHost accepts IPv4 addresses and DNS names, and nothing that could be a pasted key.
func isHost(host string) bool {
	inName := func(r rune) bool {
		return isDigit(r) || isUpper(r) || isLower(r) || strings.ContainsRune("-_.", r)
	}
	return host != "" && len(host) <= 253 && !looksSecret(host) &&
		!strings.ContainsFunc(host, func(r rune) bool { return !inName(r) })
}

func lookUp(ctx context.Context, host string, resolve Resolver) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.Zone() != "" {
			return nil, fmt.Errorf("mon address %s has a zone, which means nothing on another host", quote(host))
		}
		return []netip.Addr{ip}, nil
	}
	ips, err := resolve(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %v", ErrUnresolved, host, err)
	}
	if len(ips) == 0 {
		return nil, fmt.Errorf("%w: %s has no address", ErrUnresolved, host)
	}
	// Name servers rotate their answers; sorted, the same answer makes the same list.
	slices.SortFunc(ips, netip.Addr.Compare)
	return ips, nil
}

// expand gives an address its protocol and port as librados would.
func expand(protocol Protocol, ip netip.Addr, port uint16) []Address {
	at := func(p Protocol, port uint16) Address {
		return Address{Protocol: p, IP: ip.Unmap().String(), Port: port}
	}
	switch {
	case port == 0 && protocol == V1, protocol == Any && port == portV1:
		return []Address{at(V1, portV1)}
	case port == 0 && protocol == V2, protocol == Any && port == portV2:
		return []Address{at(V2, portV2)}
	case port == 0:
		return []Address{at(V2, portV2), at(V1, portV1)}
	}
	return []Address{at(protocol, port)}
}
