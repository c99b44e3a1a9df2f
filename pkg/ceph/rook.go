package ceph

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Names of the objects in which Rook tells its own clients of a Ceph cluster.
const (
	RookSecret    = "rook-ceph-mon"
	RookConfigMap = "rook-ceph-mon-endpoints"
	// RookKeyEntry is the entry of RookSecret with the user's key.
	RookKeyEntry = "ceph-secret"
)

const (
	rookUser     = "ceph-username"
	rookFSID     = "fsid"
	rookAdminKey = "admin-secret"
	rookMons     = "data"
	// rookNoKey stands in the admin's place where Rook uses an external Ceph cluster.
	rookNoKey = "admin-secret"
)

// ParseRook reads the objects that Rook keeps, and returns a declaration for ParseSource. The
// user is the one that Rook itself works as: client.admin, or what was imported for an external
// Ceph cluster. Errors are InputErrors, whose Text names object and key.
func ParseRook(secret map[string][]byte, endpoints map[string]string) (map[string][]byte, error) {
	wrong := func(object, entry string, reason error, format string, args ...any) error {
		return &InputError{Entry: entry, Reason: reason,
			Text: fmt.Sprintf("key %q of %s %s", entry, object, fmt.Sprintf(format, args...))}
	}
	fsid, err := parseFSID(string(secret[rookFSID]))
	if err != nil || fsid == "" {
		return nil, wrong("Secret "+RookSecret, rookFSID, ErrEntryInvalid, "has no Ceph cluster ID; wait until Rook has set up the Ceph cluster")
	}
	user, key, entry := string(secret[rookUser]), string(secret[RookKeyEntry]), RookKeyEntry
	if strings.TrimSpace(key) == "" {
		user, key, entry = adminEntity, string(secret[rookAdminKey]), rookAdminKey
	}
	user = strings.TrimPrefix(strings.TrimSpace(user), "client.")
	if !entityForm.MatchString("client."+user) || user == "" || looksSecret(user) {
		return nil, wrong("Secret "+RookSecret, rookUser, ErrEntryInvalid, "does not name a Ceph user")
	}
	if strings.TrimSpace(key) == rookNoKey {
		return nil, wrong("Secret "+RookSecret, RookKeyEntry, ErrEntryMissing, "is missing: of this external Ceph cluster Rook has no "+
			"user that it shares; declare the Ceph cluster in a Secret of your own instead")
	}
	if _, err := ParseKey(key); err != nil {
		return nil, wrong("Secret "+RookSecret, entry, ErrEntryInvalid, "is wrong: %v", err)
	}
	monitors, err := parseRookMons(endpoints[rookMons])
	if err != nil {
		return nil, wrong("ConfigMap "+RookConfigMap, rookMons, ErrEntryInvalid, "is wrong: %v", err)
	}
	return map[string][]byte{
		EntryFSID: []byte(fsid), EntryMonitors: []byte(monitors), EntryUserID: []byte(user), EntryUserKey: []byte(key),
	}, nil
}

// parseRookMons turns "a=10.0.0.1:6789,b=[fd00::1]:3300" into a sorted mon_host: Rook writes
// the mons in another order each time.
func parseRookMons(text string) (string, error) {
	var monitors []string
	for _, entry := range strings.Split(text, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		name, address, found := strings.Cut(entry, "=")
		if !found {
			return "", fmt.Errorf("%s is not of the form \"a=10.0.0.1:6789\"", quote(entry))
		}
		if _, err := ParseMonHost(context.Background(), address, noNames); err != nil {
			return "", fmt.Errorf("mon %s: %w", quote(name), err)
		}
		monitors = append(monitors, strings.TrimSpace(address))
	}
	if len(monitors) == 0 {
		return "", errors.New("it lists no mon; wait until Rook has set up the Ceph cluster")
	}
	slices.Sort(monitors)
	all := strings.Join(slices.Compact(monitors), ",")
	if _, err := ParseMonHost(context.Background(), all, noNames); err != nil {
		return "", err
	}
	return all, nil
}

// noNames accepts host names without looking them up.
func noNames(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.IPv4Unspecified()}, nil
}
