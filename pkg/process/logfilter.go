package process

import (
	"slices"
	"strings"
)

// WithoutBodies keeps what the API server is sent, and answers, out of the log: client-go logs both at
// -v=8, Secrets with their keys among them.
type WithoutBodies struct{}

func (WithoutBodies) Filter(args []any) []any { return args }

func (WithoutBodies) FilterF(format string, args []any) (string, []any) { return format, args }

func (WithoutBodies) FilterS(message string, keysAndValues []any) (string, []any) {
	if !strings.HasSuffix(message, " Body") {
		return message, keysAndValues
	}
	shown := slices.Clone(keysAndValues)
	for i := 0; i+1 < len(shown); i += 2 {
		if shown[i] == "body" {
			shown[i+1] = "(not shown)"
		}
	}
	return message, shown
}
