package main

import (
	"slices"
	"strings"
)

// withoutBodies keeps what the API server is sent, and answers, out of the log: client-go logs both at
// -v=8, Secrets with their keys among them.
type withoutBodies struct{}

func (withoutBodies) Filter(args []any) []any { return args }

func (withoutBodies) FilterF(format string, args []any) (string, []any) { return format, args }

func (withoutBodies) FilterS(message string, keysAndValues []any) (string, []any) {
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
