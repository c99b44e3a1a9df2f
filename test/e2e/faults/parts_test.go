package faults

import (
	"fmt"
	"os"
)

// part counts the specs of which a process tries every nth: those of SOAK_PART=2/4 are the second, the sixth and so on.
// A soak has several processes, each with a cluster of its own, as most of the time is waited. Without SOAK_PART it is all.
type part struct{ specs int }

// next says whether the next spec is this process'.
func (p *part) next() bool {
	text := os.Getenv("SOAK_PART")
	if text == "" {
		return true
	}
	var which, parts int
	if _, err := fmt.Sscanf(text, "%d/%d", &which, &parts); err != nil || which < 1 || which > parts {
		panic(fmt.Sprintf("SOAK_PART=%s is none, such as 2/4", text))
	}
	p.specs++
	return p.specs%parts == which%parts
}
