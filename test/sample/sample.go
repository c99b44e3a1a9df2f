// Package sample says how much of what could be tried is: `make test` tries a sample, which is another one each
// day, and `make soak` all.
package sample

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"
)

// Soaking tells `make soak` from `make test`.
func Soaking() bool { return os.Getenv("SOAK") != "" }

// Seed is SEED, or the date. Reports repeat it.
func Seed() uint64 {
	text := os.Getenv("SEED")
	if text == "" {
		text = time.Now().Format("20060102")
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("SEED=%s is not a number, as the report of a sample has it", text))
	}
	return n
}

// Random is the seed's, and another one for each stream.
func Random(stream int) *rand.Rand { return rand.New(rand.NewPCG(Seed(), uint64(stream))) }

// Of are some of all, or when soaking all.
func Of[T any](all []T, some int, random *rand.Rand) []T {
	if Soaking() {
		return all
	}
	out := slices.Clone(all)
	random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:min(some, len(out))]
}

// Stride is how many steps are taken at once of those that a soak takes one by one.
func Stride(steps int) int {
	if Soaking() {
		return 1
	}
	return steps
}
