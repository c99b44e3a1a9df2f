package monitors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// sameJSON compares without white space.
func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return bytes.Equal(a, b)
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
}

// errNoEntries says that text is not a config.json.
var errNoEntries = errors.New("not a list of Ceph clusters as ceph-csi reads it")

// replaceMonitors writes new mons into entries of a config.json that is somebody else's, and
// leaves every other byte as it is. wanted is asked for each entry: nil leaves it alone. Mons
// that are the same in another order stay.
func replaceMonitors(content []byte, wanted func(clusterID string, before []string) []string) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	if open, err := decoder.Token(); err != nil || open != json.Delim('[') {
		return nil, errNoEntries
	}
	var out []byte
	copied := 0
	for decoder.More() {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return nil, fmt.Errorf("%w: %w", errNoEntries, err)
		}
		start := int(decoder.InputOffset()) - len(raw)
		var e entry
		if err := json.Unmarshal(raw, &e); err != nil {
			continue // ceph-csi would refuse the whole file; that is not ours to mend
		}
		mons := wanted(e.ClusterID, e.Monitors)
		from, to, found := monitorsIn(raw)
		if mons == nil || !found || sameSet(mons, e.Monitors) {
			continue
		}
		text, err := json.Marshal(mons)
		if err != nil {
			return nil, fmt.Errorf("encoding mons: %w", err)
		}
		out = append(append(out, content[copied:start+from]...), text...)
		copied = start + to
	}
	if closing, err := decoder.Token(); err != nil || closing != json.Delim(']') {
		return nil, errNoEntries
	}
	return append(out, content[copied:]...), nil
}

// monitorsIn finds the value of "monitors" in an entry; of several, the one that counts.
func monitorsIn(raw []byte) (from, to int, found bool) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.Token(); err != nil {
		return 0, 0, false
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return 0, 0, false
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return 0, 0, false
		}
		if text, ok := name.(string); ok && strings.EqualFold(text, "monitors") {
			to = int(decoder.InputOffset())
			from, found = to-len(value), true
		}
	}
	return from, to, found
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}
