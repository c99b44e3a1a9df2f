package ceph

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// A cephx key is, in base64: type (u16), time of making (u32 seconds, u32 nanoseconds),
// length of the secret (u16), the secret. Everything is little endian.
const keyHeader = 2 + 4 + 4 + 2

// secretLength of each key type: AES-128, and AES-256 of Ceph 20.2.4 and later.
var secretLength = map[uint16]int{1: 16, 2: 32}

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
		return Key{}, fmt.Errorf("the key is not valid base64 (%d characters, a key has 40 and ends with \"==\"); %s",
			len(text), mend)
	}
	if len(raw) < keyHeader {
		return Key{}, fmt.Errorf("the key is cut off (%d characters, a key has 40); %s", len(text), mend)
	}
	want, known := secretLength[binary.LittleEndian.Uint16(raw)]
	told := int(binary.LittleEndian.Uint16(raw[keyHeader-2:]))
	if !known || told != want || len(raw) != keyHeader+want {
		return Key{}, errors.New("the key is base64, but not a cephx key; " + mend)
	}
	return NewKey(text), nil
}
