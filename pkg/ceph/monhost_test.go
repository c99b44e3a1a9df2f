package ceph

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var errNoSuchHost = errors.New("no such host")

// hosts resolves the names of a map, written as "1.2.3.4 fd00::1".
func hosts(names map[string]string) Resolver {
	return func(_ context.Context, host string) ([]netip.Addr, error) {
		text, ok := names[host]
		if !ok {
			return nil, errNoSuchHost
		}
		var ips []netip.Addr
		for _, ip := range strings.Fields(text) {
			ips = append(ips, netip.MustParseAddr(ip))
		}
		return ips, nil
	}
}

func TestParseMonHost(t *testing.T) {
	resolve := hosts(map[string]string{"a": "10.0.0.1", "mon-b.example": "10.0.0.2", "two": "10.0.0.9 10.0.0.8", "none": ""})
	tests := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"Plain":             {"a mon with default ports speaks either protocol", "10.0.0.1", "v2:10.0.0.1:3300,v1:10.0.0.1:6789"},
		"PortV1":            {"6789 is v1 by convention", "10.0.0.1:6789", "v1:10.0.0.1:6789"},
		"PortV2":            {"3300 is v2 by convention", "10.0.0.1:3300", "v2:10.0.0.1:3300"},
		"PortOther":         {"any other port tells nothing", "10.0.0.1:7000", "10.0.0.1:7000"},
		"TypeV1":            {"a type wins over the port's convention", "v1:10.0.0.1:3300", "v1:10.0.0.1:3300"},
		"TypeV2":            {"", "v2:10.0.0.1:7000", "v2:10.0.0.1:7000"},
		"TypeAny":           {"", "any:10.0.0.1:7000", "10.0.0.1:7000"},
		"TypeNoPort":        {"a type has a default port", "v1:10.0.0.1,v2:10.0.0.2", "v1:10.0.0.1:6789,v2:10.0.0.2:3300"},
		"Nonce":             {"nonces mean nothing for mons", "10.0.0.1:6789/0,v2:10.0.0.1:3300/0", "v1:10.0.0.1:6789,v2:10.0.0.1:3300"},
		"Name":              {"", "a", "v2:10.0.0.1:3300,v1:10.0.0.1:6789"},
		"NamePort":          {"", "mon-b.example:6789", "v1:10.0.0.2:6789"},
		"NameType":          {"librados refuses it, the meaning is clear", "v1:a:6789", "v1:10.0.0.1:6789"},
		"NameManyAddresses": {"sorted: the answers of name servers rotate", "two:6789", "v1:10.0.0.8:6789,v1:10.0.0.9:6789"},
		"NameAndItsIP":      {"", "a:6789,10.0.0.1:6789", "v1:10.0.0.1:6789"},
		"Comma":             {"", "10.0.0.1:6789,10.0.0.2:6789", "v1:10.0.0.1:6789,v1:10.0.0.2:6789"},
		"CommaSpace":        {"", "10.0.0.1:6789, 10.0.0.2:6789", "v1:10.0.0.1:6789,v1:10.0.0.2:6789"},
		"Space":             {"", "10.0.0.1:6789 10.0.0.2:6789", "v1:10.0.0.1:6789,v1:10.0.0.2:6789"},
		"Semicolon":         {"", "10.0.0.1:6789;10.0.0.2:6789", "v1:10.0.0.1:6789,v1:10.0.0.2:6789"},
		"TrailingComma":     {"", "10.0.0.1:6789,", "v1:10.0.0.1:6789"},
		"LeadingComma":      {"librados refuses it", ",10.0.0.1:6789", "v1:10.0.0.1:6789"},
		"TabAndNewline":     {"librados refuses them", "10.0.0.1:6789\t10.0.0.2:6789\r\n10.0.0.3:6789", "v1:10.0.0.1:6789,v1:10.0.0.2:6789,v1:10.0.0.3:6789"},
		"Vector":            {"one address per mon, the one that encrypts", "[v2:10.0.0.1:3300/0,v1:10.0.0.1:6789/0]", "v2:10.0.0.1:3300"},
		"VectorV1First":     {"", "[v1:10.0.0.1:6789,v2:10.0.0.1:3300]", "v2:10.0.0.1:3300"},
		"VectorV1Only":      {"", "[v1:10.0.0.1:6789]", "v1:10.0.0.1:6789"},
		"VectorBlank":       {"librados refuses a blank in it", "[v2:10.0.0.1:3300, v1:10.0.0.1:6789] [v1:10.0.0.2:6789]", "v2:10.0.0.1:3300,v1:10.0.0.2:6789"},
		"VectorTwice":       {"librados aborts the process", "[v2:10.0.0.1:3300,v1:10.0.0.1:6789],[v2:10.0.0.1:3300,v1:10.0.0.1:6789]", "v2:10.0.0.1:3300"},
		"VectorAndItsV1":    {"", "v1:10.0.0.1:6789,[v2:10.0.0.1:3300,v1:10.0.0.1:6789]", "v1:10.0.0.1:6789,v2:10.0.0.1:3300"},
		"AnyAndTyped":       {"the protocol is told by another entry", "10.0.0.1:7000,v1:10.0.0.1:7000", "v1:10.0.0.1:7000"},
		"IPv6":              {"", "[::1]:6789", "v1:[::1]:6789"},
		"IPv6NoPort":        {"", "[fd00::1]", "v2:[fd00::1]:3300,v1:[fd00::1]:6789"},
		"IPv6NoBrackets":    {"", "fd00::1", "v2:[fd00::1]:3300,v1:[fd00::1]:6789"},
		"IPv6Spelling":      {"the same address in two spellings is one", "[FD00:0::1]:6789,[fd00::1]:6789", "v1:[fd00::1]:6789"},
		"IPv6Vector":        {"", "[v2:[::1]:3300,v1:[::1]:6789]", "v2:[::1]:3300"},
		"IPv6Type":          {"", "v2:[fd00::1]:3300/0", "v2:[fd00::1]:3300"},
		"IPv4InIPv6":        {"", "[::ffff:10.0.0.1]:6789", "v1:10.0.0.1:6789"},
		"OneNameUnresolved": {"librados fails as a whole", "gone,10.0.0.1:6789,none", "v1:10.0.0.1:6789"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseMonHost(t.Context(), test.text, resolve)
			if err != nil {
				t.Fatalf("%s: %v", test.reason, err)
			}
			if diff := cmp.Diff(test.want, MonHost(got)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", test.reason, diff)
			}
		})
	}
}

func TestParseMonHostErrors(t *testing.T) {
	tests := map[string]struct {
		text string
		want string
		is   error
	}{
		"Empty":          {text: " , ", want: "no mon address"},
		"Unresolved":     {text: "gone", want: "gone: no such host", is: ErrUnresolved},
		"UnresolvedMany": {text: "gone lost", want: "lost: no such host", is: ErrUnresolved},
		"BracketOpen":    {text: "[v2:10.0.0.1:3300", want: "unbalanced brackets"},
		"BracketClose":   {text: "10.0.0.1]", want: "unbalanced brackets"},
		"Port":           {text: "10.0.0.1:port", want: `"10.0.0.1:port" is malformed`},
		"PortTooBig":     {text: "10.0.0.1:67890", want: "malformed"},
		"UnknownType":    {text: "v3:10.0.0.1:6789", want: "malformed"},
		"Nonce":          {text: "10.0.0.1:6789/x", want: "malformed"},
		"URL":            {text: "http://10.0.0.1", want: "malformed"},
		"EmptyVector":    {text: "[]", want: "empty vector"},
		"NestedVector":   {text: "[[v1:10.0.0.1:6789]]", want: "vector within a vector"},
		"BracketedName":  {text: "[a]:6789", want: "malformed"},
		"Zone":           {text: "fe80::1%eth0", want: "has a zone"},
		"ZoneInBrackets": {text: "[fe80::1%eth0]:6789", want: "has a zone"},
		"TooMany":        {text: manyAddresses(MaxAddresses + 1), want: "129 mon addresses, more than 128"},
		"TooManyNames":   {text: strings.Repeat("gone ", MaxAddresses+1), want: "129 mon addresses, more than 128"},
		"Key":            {text: "QVFBM1ozVm9hQUFBQUJBQUFBQUFBQUFBQUFBQT09", want: "not shown"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseMonHost(t.Context(), test.text, hosts(nil))
			if err == nil {
				t.Fatalf("got %v, want an error", got)
			}
			if !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got %q (%v), want it to say %q", err, test.is, test.want)
			}
		})
	}
}

// manyAddresses is the mon_host of a file that is none of a Ceph cluster.
func manyAddresses(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("v1:10.0.%d.%d:6789", i/250, i%250))
	}
	return strings.Join(out, ",")
}

func TestParseMonHostTakesManyMons(t *testing.T) {
	got, err := ParseMonHost(t.Context(), manyAddresses(MaxAddresses), hosts(nil))
	if err != nil || len(got) != MaxAddresses {
		t.Errorf("got %d addresses, %v", len(got), err)
	}
}
