package ceph

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// setting is one "name = value" line of a ceph.conf or keyring.
type setting struct {
	line    int
	section string
	// name has "_" for every run of blanks and underscores, as Ceph compares names.
	name  string
	value string
}

// section is a "[name]" line.
type section struct {
	line int
	name string
}

// ini is a file of the form that Ceph shares between ceph.conf and keyrings.
type ini struct {
	sections []section
	settings []setting
}

// parseINI reads what Ceph reads, and files that Ceph refuses for their encoding only: with
// a byte order mark, or without a last newline. Errors give the line, never its text,
// which could be a key.
func parseINI(data []byte) (ini, error) {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) ||
		bytes.IndexByte(data, 0) >= 0 {
		return ini{}, errors.New("not a text file in UTF-8; save it as UTF-8")
	}
	text := string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if strings.HasPrefix(strings.TrimSpace(text), "{") || strings.HasPrefix(strings.TrimSpace(text), "[{") {
		return ini{}, errors.New("JSON; give the file as Ceph writes it, with [sections] and \"name = value\" lines")
	}
	var file ini
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		number := i + 1
		line := strings.TrimSpace(lines[i])
		for isContinued(line) && i+1 < len(lines) {
			i++
			line = strings.TrimSuffix(line, `\`) + strings.TrimSpace(lines[i])
		}
		if line == "" || isComment(line) {
			continue
		}
		if err := file.add(number, line); err != nil {
			return ini{}, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return file, nil
}

func (f *ini) add(number int, line string) error {
	if inner, ok := strings.CutPrefix(line, "["); ok {
		name, rest, closed := strings.Cut(inner, "]")
		if rest = strings.TrimSpace(rest); !closed || rest != "" && !isComment(rest) {
			return errors.New(`a section is written "[global]", alone on its line`)
		}
		f.sections = append(f.sections, section{line: number, name: strings.TrimSpace(name)})
		return nil
	}
	name, value, found := strings.Cut(line, "=")
	words := strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '\t' || r == '_' })
	if !found || len(words) == 0 {
		return errors.New(`expected "[section]", "name = value" or a comment that starts with "#"`)
	}
	s := setting{line: number, name: strings.Join(words, "_"), value: unquote(strings.TrimSpace(value))}
	if len(f.sections) > 0 {
		s.section = f.sections[len(f.sections)-1].name
	}
	f.settings = append(f.settings, s)
	return nil
}

func isComment(line string) bool { return line[0] == '#' || line[0] == ';' }

// isContinued finds an odd number of backslashes at the end of a line.
func isContinued(line string) bool {
	trimmed := strings.TrimRight(line, `\`)
	return (len(line)-len(trimmed))%2 == 1 && !(trimmed != "" && isComment(trimmed))
}

// unquote takes quotes, escapes and a comment at the end of the line off a value. A
// semicolon starts a comment after a blank only: between addresses it separates.
func unquote(raw string) string {
	var value strings.Builder
	end := byte(0)
	if raw != "" && (raw[0] == '"' || raw[0] == '\'') {
		end, raw = raw[0], raw[1:]
	}
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '\\' && i+1 < len(raw) {
			i++
			value.WriteByte(raw[i])
			continue
		}
		if end != 0 && c == end {
			return value.String()
		}
		blankBefore := i == 0 || raw[i-1] == ' ' || raw[i-1] == '\t'
		if end == 0 && (c == '#' || c == ';' && blankBefore) {
			break
		}
		value.WriteByte(c)
	}
	return strings.TrimSpace(value.String())
}
