package cephdaemons

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// keyTypes are the types of cephx keys, with the length of their secrets.
var keyTypes = map[string]struct{ number, length uint16 }{
	"aes":     {1, 16},
	"aes256k": {2, 32},
}

// newKey makes a cephx secret: type, creation time, length and random bytes, in little endian.
func newKey(keyType string, now time.Time) string {
	kind := keyTypes[keyType]
	b := binary.LittleEndian.AppendUint16(nil, kind.number)
	b = binary.LittleEndian.AppendUint32(b, uint32(now.Unix()))
	b = binary.LittleEndian.AppendUint32(b, uint32(now.Nanosecond()))
	b = binary.LittleEndian.AppendUint16(b, kind.length)
	secret := make([]byte, kind.length)
	_, _ = rand.Read(secret) // crypto/rand never fails
	return base64.StdEncoding.EncodeToString(append(b, secret...))
}

// monMapCiphers are monmaptool's arguments for a cluster with keys of a type. A Ceph that knows two
// types makes a new cluster with AES-256 alone, and leaves one that it upgrades with both.
func (c *Ceph) monMapCiphers(ctx context.Context) ([]string, error) {
	help, err := c.run(ctx, "monmaptool", "--help")
	if err != nil {
		return nil, err
	}
	both := strings.Contains(string(help), "--auth-allowed-ciphers")
	switch {
	case !both && c.options.KeyType != "aes":
		return nil, fmt.Errorf("this Ceph has no keys of type %q", c.options.KeyType)
	case !both || c.options.KeyType != "aes":
		return nil, nil
	}
	return []string{"--auth-allowed-ciphers", "aes,aes256k", "--auth-service-cipher", "aes", "--auth-preferred-cipher", "aes"}, nil
}
