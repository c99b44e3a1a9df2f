package ceph

import "fmt"

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
