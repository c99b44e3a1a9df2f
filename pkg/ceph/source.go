package ceph

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Entries of a declaration of a Ceph cluster, the keys of its Secret.
const (
	EntryConf     = "ceph.conf"
	EntryKeyring  = "keyring"
	EntryFSID     = "fsid"
	EntryMonitors = "monitors"
	EntryUserID   = "userID"
	EntryUserKey  = "userKey"
)

// What can be wrong with a declaration; errors.Is finds them in an InputError. ErrUnresolved
// can be found there too.
var (
	// ErrNothingGiven says that none of the entries is there.
	ErrNothingGiven = errors.New("nothing given")
	// ErrEntryMissing says that an entry is absent that the others need.
	ErrEntryMissing = errors.New("missing")
	// ErrEntryEmpty says that an entry has no content.
	ErrEntryEmpty = errors.New("empty")
	// ErrEntryInvalid says that an entry's content cannot be used.
	ErrEntryInvalid = errors.New("invalid")
	// ErrEntriesConflict says that two entries tell the same thing and do not go together.
	ErrEntriesConflict = errors.New("conflicting")
)

// InputError is a fault in a declaration.
type InputError struct {
	// Entry is the key at fault; empty for ErrNothingGiven.
	Entry string
	// Reason is one of the sentinels.
	Reason error
	// Text is a complete sentence: what is wrong and how to mend it. It has no key.
	Text string
}

// Error is the Text.
func (e *InputError) Error() string { return e.Text }

// Unwrap is the Reason.
func (e *InputError) Unwrap() error { return e.Reason }

func invalid(entry string, err error) error {
	reason := ErrEntryInvalid
	if errors.Is(err, ErrUnresolved) {
		reason = ErrUnresolved
	}
	return &InputError{Entry: entry, Reason: reason, Text: entry + ": " + err.Error()}
}

// ParseSource reads a declaration. The mons come from "ceph.conf", or from "monitors" with
// "fsid"; the user from "keyring", or from "userID" and "userKey". Giving one of them in
// both ways is a conflict, with two exceptions: "userID" beside "keyring" chooses the
// user in it, and "fsid" beside "ceph.conf" must say the same. Errors are InputErrors.
func ParseSource(ctx context.Context, data map[string][]byte, resolve Resolver) (Source, error) {
	if err := checkEntries(data); err != nil {
		return Source{}, err
	}
	credentials, err := parseUser(data)
	if err != nil {
		return Source{}, err
	}
	fsid, monitors, err := parseMons(ctx, data, resolve)
	if err != nil {
		return Source{}, err
	}
	return Source{Monitors: monitors, FSID: fsid, Credentials: credentials}, nil
}

// shownEntries is how many a message names.
const shownEntries = 3

// only names what is there instead: files are often given by other names.
func only(data map[string][]byte) string {
	if len(data) == 0 {
		return ""
	}
	names := slices.Sorted(maps.Keys(data))
	return ", only " + strings.Join(names[:min(shownEntries, len(names))], ", ") + "; give files as ceph.conf=FILE and keyring=FILE"
}

func checkEntries(data map[string][]byte) error {
	has := func(entry string) bool { _, ok := data[entry]; return ok }
	all := []string{EntryConf, EntryKeyring, EntryFSID, EntryMonitors, EntryUserID, EntryUserKey}
	if !slices.ContainsFunc(all, has) {
		return &InputError{Reason: ErrNothingGiven,
			Text: "none of ceph.conf and keyring, or fsid, monitors, userID and userKey, is there" + only(data)}
	}
	for _, both := range [][2]string{{EntryConf, EntryMonitors}, {EntryKeyring, EntryUserKey}} {
		if has(both[0]) && has(both[1]) {
			return &InputError{Entry: both[1], Reason: ErrEntriesConflict,
				Text: fmt.Sprintf("%s and %s are both there; remove one of them", both[0], both[1])}
		}
	}
	for _, entry := range all {
		if has(entry) && strings.TrimSpace(string(data[entry])) == "" {
			return &InputError{Entry: entry, Reason: ErrEntryEmpty, Text: entry + " is empty; give " + content[entry]}
		}
	}
	var needed []string
	if !has(EntryKeyring) {
		needed = append(needed, EntryUserID, EntryUserKey)
		if !has(EntryUserID) && !has(EntryUserKey) {
			needed = []string{EntryKeyring}
		}
	}
	if !has(EntryConf) {
		needed = append(needed, EntryFSID, EntryMonitors)
		if !has(EntryFSID) && !has(EntryMonitors) {
			needed = append(needed[:len(needed)-2], EntryConf)
		}
	}
	for _, entry := range needed {
		if !has(entry) {
			return &InputError{Entry: entry, Reason: ErrEntryMissing,
				Text: entry + " is missing; give " + content[entry]}
		}
	}
	return nil
}

// content says what belongs into an entry and where an administrator finds it.
var content = map[string]string{
	EntryConf: "the file /etc/ceph/ceph.conf, or what `ceph config generate-minimal-conf` prints",
	EntryKeyring: "the file /etc/ceph/ceph.client.admin.keyring, or what `ceph auth get client.<user>` prints " +
		"(or userID and userKey instead)",
	EntryFSID:     "what `ceph fsid` prints",
	EntryMonitors: "the addresses of all mons, separated by commas (`ceph mon dump` lists them)",
	EntryUserID:   "the name of the Ceph user, such as admin",
	EntryUserKey:  "what `ceph auth get-key client.<user>` prints",
}

func parseUser(data map[string][]byte) (Credentials, error) {
	userID := strings.TrimPrefix(strings.TrimSpace(string(data[EntryUserID])), "client.")
	if userID != "" && !entityForm.MatchString("client."+userID) || looksSecret(userID) {
		return Credentials{}, invalid(EntryUserID, fmt.Errorf("%s is not the name of a Ceph user; give %s",
			quote(userID), content[EntryUserID]))
	}
	if keyring, ok := data[EntryKeyring]; ok {
		entities, err := ParseKeyring(keyring)
		if err != nil {
			return Credentials{}, invalid(EntryKeyring, err)
		}
		credentials, err := PickUser(entities, userID)
		if err != nil {
			return Credentials{}, invalid(EntryKeyring, err)
		}
		return credentials, nil
	}
	key, err := ParseKey(string(data[EntryUserKey]))
	if err != nil {
		return Credentials{}, invalid(EntryUserKey, err)
	}
	return Credentials{UserID: userID, Key: key}, nil
}

func parseMons(ctx context.Context, data map[string][]byte, resolve Resolver) (string, []Address, error) {
	fsid, err := parseFSID(string(data[EntryFSID]))
	if err != nil {
		return "", nil, invalid(EntryFSID, err)
	}
	entry, monHost := EntryMonitors, string(data[EntryMonitors])
	if file, ok := data[EntryConf]; ok {
		conf, err := ParseConf(file)
		if err != nil {
			return "", nil, invalid(EntryConf, err)
		}
		declared, err := parseFSID(conf.FSID)
		if err != nil {
			return "", nil, invalid(EntryConf, err)
		}
		if fsid != "" && declared != "" && fsid != declared {
			return "", nil, &InputError{Entry: EntryFSID, Reason: ErrEntriesConflict,
				Text: fmt.Sprintf("fsid is %s, but ceph.conf says %s; remove the wrong one", fsid, declared)}
		}
		entry, monHost = EntryConf, conf.MonHost
		if declared != "" {
			fsid = declared
		}
	}
	monitors, err := ParseMonHost(ctx, monHost, resolve)
	if err != nil {
		return "", nil, invalid(entry, err)
	}
	return fsid, monitors, nil
}

// ParseDeclaredMons reads what a ceph.conf alone says: the fsid, "" when it has none, and the
// mons. Errors are InputErrors.
func ParseDeclaredMons(ctx context.Context, conf []byte, resolve Resolver) (fsid string, monitors []Address, err error) {
	data := map[string][]byte{EntryConf: conf, EntryKeyring: []byte("unread")}
	if err := checkEntries(data); err != nil {
		return "", nil, err
	}
	return parseMons(ctx, data, resolve)
}

// ParseDeclaredUser reads what a keyring alone says; user names one of its users, "" chooses
// as PickUser does. Errors are InputErrors.
func ParseDeclaredUser(keyring []byte, user string) (Credentials, error) {
	data := map[string][]byte{EntryConf: []byte("unread"), EntryKeyring: keyring}
	if user != "" {
		data[EntryUserID] = []byte(user)
	}
	if err := checkEntries(data); err != nil {
		return Credentials{}, err
	}
	return parseUser(data)
}
