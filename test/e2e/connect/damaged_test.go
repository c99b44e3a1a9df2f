package connect

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const damagedSecrets = 100

// damage changes a few bytes of a file, or many.
func damage(random *rand.Rand, content []byte) []byte {
	out := slices.Clone(content)
	for range 1 + random.IntN(4) {
		from := random.IntN(len(out) + 1)
		to := from + random.IntN(len(out)-from+1)
		switch random.IntN(5) {
		case 0: // cut off
			out = out[:from]
		case 1: // a hole
			out = slices.Concat(out[:from], out[to:])
		case 2: // twice
			out = slices.Concat(out[:to], out[from:])
		case 3: // noise
			noise := make([]byte, 1+random.IntN(20))
			for i := range noise {
				noise[i] = byte(random.IntN(256))
			}
			out = slices.Concat(out[:from], noise, out[from:])
		case 4: // one bit
			if from < len(out) {
				out[from] ^= 1 << random.IntN(8)
			}
		}
	}
	return out
}

func nobodyKnows(context.Context, string) ([]netip.Addr, error) { return nil, ceph.ErrUnresolved }

func damaged() {
	It("each get their sentence, and nothing stops", func(ctx SpecContext) {
		before := deployed(ctx)
		declareAgain()
		random := rand.New(rand.NewPCG(20, 26))
		for n := 0; n < damagedSecrets; {
			data := maps.Clone(env.Credentials())
			entry := []string{"ceph.conf", "keyring"}[random.IntN(2)]
			data[entry] = damage(random, data[entry])
			_, err := ceph.ParseSource(ctx, data, nobodyKnows)
			if err == nil || errors.Is(err, ceph.ErrUnresolved) || bytes.Equal(data[entry], env.Credentials()[entry]) {
				continue // harmless, or a matter of DNS
			}
			n++
			env.Declare(ctx, data)
			complains(ctx, driver.RBD, "CredentialsInvalid", "ceph-credentials: "+err.Error())
		}
		complains(ctx, driver.CephFS, "CredentialsInvalid", env.Condition(ctx, Default, driver.RBD, connectionDegraded).Message)
		for _, d := range driver.All {
			Expect(env.Operator(d).Exited()).To(Succeed())
		}
		Expect(deployed(ctx)).To(Equal(before))
	})
}
