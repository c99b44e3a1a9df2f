package ceph

import "context"

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
