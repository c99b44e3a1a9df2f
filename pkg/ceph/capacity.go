package ceph

import (
	"encoding/json"
	"fmt"
)

// Capacity is how full a pool is, as Ceph reckons it: without copies.
type Capacity struct {
	PoolID int64
	Pool   string
	// Stored is what clients have written, Available what they can still write, in bytes: by the pool's quota of
	// bytes, if that is less. A quota of objects is not reckoned with.
	Stored, Available uint64
}

// Used is the part of the pool that is full, from 0 to 1.
func (c Capacity) Used() float64 {
	whole := float64(c.Stored) + float64(c.Available)
	if whole == 0 {
		return 0
	}
	return float64(c.Stored) / whole
}

// ParseCapacities reads the JSON of `ceph df detail`, whose max_avail takes no account of quotas. Pools of
// which no OSD has told anything yet are missing.
func ParseCapacities(data []byte) ([]Capacity, error) {
	var reply struct {
		Pools []struct {
			ID    int64  `json:"id"`
			Name  string `json:"name"`
			Stats struct {
				Stored    uint64 `json:"stored"`
				Available uint64 `json:"max_avail"`
				Quota     uint64 `json:"quota_bytes"`
			} `json:"stats"`
		} `json:"pools"`
	}
	if err := json.Unmarshal(data, &reply); err != nil {
		return nil, fmt.Errorf("reading how full the pools are: %w", err)
	}
	var out []Capacity
	for _, p := range reply.Pools {
		available := p.Stats.Available
		if p.Stats.Quota > 0 {
			available = min(available, p.Stats.Quota-min(p.Stats.Quota, p.Stats.Stored))
		}
		out = append(out, Capacity{PoolID: p.ID, Pool: p.Name, Stored: p.Stats.Stored, Available: available})
	}
	return out, nil
}
