package ceph

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// redacted is what every way of printing a Key yields.
const redacted = "<redacted>"

// Key is a cephx secret key. It never prints itself: logs, errors, events and
// JSON show "<redacted>", also when it is buried in another struct.
type Key struct {
	// A pointer, because fmt prints the content of unexported string fields.
	secret *string
}

// NewKey wraps a cephx secret key as it stands in a keyring (base64).
func NewKey(secret string) Key { return Key{secret: &secret} }

// Reveal returns the secret itself, to be handed to Ceph or written into a Secret.
func (k Key) Reveal() string {
	if k.secret == nil {
		return ""
	}
	return *k.secret
}

// String hides the secret from fmt.
func (k Key) String() string { return redacted }

// GoString hides the secret from %#v.
func (k Key) GoString() string { return redacted }

// Format hides the secret from every verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// MarshalText hides the secret from JSON and YAML.
func (k Key) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// A cephx key is, in base64: type (u16), time of making (u32 seconds, u32 nanoseconds),
// length of the secret (u16), the secret. Everything is little endian.
const keyHeader = 2 + 4 + 4 + 2

// KeyType is the cipher of a cephx key, as Ceph names it.
type KeyType string

// Types of keys. Every release knows AES; AES256 is known to Ceph since StrongReleases, ceph-csi 3.16.3 and
// 3.17.1, and Linux 7.0.
const (
	AES    KeyType = "aes"
	AES256 KeyType = "aes256k"
)

// StrongReleases are the first of Ceph 20 and 19 that know keys of type AES256; 21 and later all do.
const StrongReleases = "20.2.4 or 19.2.6"

// secrets are the type and the length of the secret of each number of a type.
var secrets = map[uint16]struct {
	kind   KeyType
	length int
}{1: {AES, 16}, 2: {AES256, 32}}

// Type is the type of a key; empty when it is none.
func (k Key) Type() KeyType {
	raw, err := base64.StdEncoding.DecodeString(k.Reveal())
	if err != nil || len(raw) < keyHeader {
		return ""
	}
	return secrets[binary.LittleEndian.Uint16(raw)].kind
}

// ParseKey checks a cephx key, because librados prints keys that it cannot decode. Blanks
// and newlines around it are dropped. Errors never quote it.
func ParseKey(text string) (Key, error) {
	const mend = "`ceph auth get-key client.<user>` prints it"
	text = strings.TrimSpace(text)
	if text == "" {
		return Key{}, errors.New("the key is empty; " + mend)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return Key{}, fmt.Errorf("the key is not valid base64 (%d characters, a key has 40 and ends with \"==\", one of type aes256k 60 and \"=\"); %s",
			len(text), mend)
	}
	if len(raw) < keyHeader {
		return Key{}, fmt.Errorf("the key is cut off (%d characters, a key has 40 or 60); %s", len(text), mend)
	}
	want, known := secrets[binary.LittleEndian.Uint16(raw)]
	told := int(binary.LittleEndian.Uint16(raw[keyHeader-2:]))
	if !known || told != want.length || len(raw) != keyHeader+want.length {
		return Key{}, errors.New("the key is base64, but not a cephx key; " + mend)
	}
	return NewKey(text), nil
}
