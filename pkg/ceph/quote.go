package ceph

import (
	"strconv"
	"strings"
	"unicode"
)

const (
	maxQuoted = 120
	// A cephx key has 40 characters; half of one is already too much to show.
	keyLikeRun = 20
)

// quote prints what an administrator wrote, for an error message, unless it could be a key
// that was pasted into the wrong place.
func quote(text string) string {
	if looksSecret(text) {
		return "(not shown, it looks like a key)"
	}
	if len(text) > maxQuoted {
		text = text[:maxQuoted] + "…"
	}
	return strconv.Quote(text)
}

// looksSecret finds a long run of base64 that has the start of a cephx key in it, or digits, upper and
// lower case letters.
func looksSecret(text string) bool {
	isBase64 := func(r rune) bool {
		return isDigit(r) || isUpper(r) || isLower(r) || strings.ContainsRune("+/=", r)
	}
	runs := strings.FieldsFunc(text, func(r rune) bool { return !isBase64(r) })
	for _, run := range runs {
		if len(run) < keyLikeRun {
			continue
		}
		mixed := strings.ContainsFunc(run, isDigit) && strings.ContainsFunc(run, isUpper) && strings.ContainsFunc(run, isLower)
		start := run[:len(run)-keyLikeRun+len("AQ")]
		if mixed || strings.Contains(start, "AQ") || strings.Contains(start, "Ag") {
			return true
		}
	}
	return false
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }
func isUpper(r rune) bool { return r >= 'A' && r <= 'Z' }
func isLower(r rune) bool { return r >= 'a' && r <= 'z' }

// OneLine keeps a table a table and a terminal as it is, whatever somebody wrote into Ceph or a server answers: it takes out
// all control characters, those that begin sequences of a terminal among them.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}
