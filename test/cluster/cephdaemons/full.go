package cephdaemons

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ballast is more than the share of the device with which Fill calls it full.
const ballast = 4 << 20

// ratios are shares of devices from which on Ceph does less and less, in an order that is not to be turned round.
type ratios struct{ near, backfill, full string }

var (
	usual = ratios{"0.85", "0.9", "0.95"}
	least = ratios{"0.0001", "0.0001", "0.0001"}
)

// Load writes so much into a pool that Fill has something to be full of.
func (c *Ceph) Load(ctx context.Context, pool string) error {
	file := filepath.Join(c.options.Dir, "ballast")
	if err := os.WriteFile(file, make([]byte, ballast), 0o600); err != nil {
		return err
	}
	_, err := c.RADOS(ctx, "-p", pool, "put", "ballast", file)
	return err
}

// Fill has all pools be full after Load, and returns when they are: whatever writes into one waits until Empty. What
// the mons keep, such as users and the metadata of pools, can be changed.
func (c *Ceph) Fill(ctx context.Context) error { return c.setFull(ctx, least, true) }

// Empty ends Fill, and returns when no pool is full any more.
func (c *Ceph) Empty(ctx context.Context) error { return c.setFull(ctx, usual, false) }

func (c *Ceph) setFull(ctx context.Context, to ratios, full bool) error {
	for _, command := range [][]string{{"set-nearfull-ratio", to.near}, {"set-backfillfull-ratio", to.backfill}, {"set-full-ratio", to.full}} {
		if _, err := c.Command(ctx, "osd", command[0], command[1]); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		are, err := c.fullPools(ctx)
		if err == nil && !slices.Contains(are, !full) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("with a full ratio of %s, pools are full: %v: %w", to.full, are, errors.Join(ctx.Err(), err))
		case <-time.After(pollEvery):
		}
	}
}

// fullPools says of each pool whether it is full.
func (c *Ceph) fullPools(ctx context.Context) ([]bool, error) {
	out, err := c.Command(ctx, "osd", "pool", "ls", "detail", "--format", "json")
	if err != nil {
		return nil, err
	}
	var pools []struct {
		Flags string `json:"flags_names"`
	}
	if err := json.Unmarshal(out, &pools); err != nil {
		return nil, fmt.Errorf("answer of `ceph osd pool ls detail`: %w", err)
	}
	var are []bool
	for _, p := range pools {
		are = append(are, slices.Contains(strings.Split(p.Flags, ","), "full"))
	}
	return are, nil
}
