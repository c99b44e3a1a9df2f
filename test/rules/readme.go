package rules

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// code is what a Markdown text has in code spans and code blocks, and the targets of its links.
type code struct{ spans, links []string }

var (
	span  = regexp.MustCompile("`([^`]+)`")
	link  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	block = regexp.MustCompile(`^( {4,}|\t)`)

	notInAnchor = regexp.MustCompile(`[^\w -]`)
)

// readCode reads Markdown. Blocks are indented; each of their lines counts as one span.
func readCode(markdown string) code {
	var out code
	for line := range strings.Lines(markdown) {
		if block.MatchString(line) {
			out.spans = append(out.spans, strings.TrimSpace(line))
			continue
		}
		for _, m := range span.FindAllStringSubmatch(line, -1) {
			out.spans = append(out.spans, m[1])
		}
		for _, m := range link.FindAllStringSubmatch(line, -1) {
			out.links = append(out.links, m[1])
		}
	}
	return out
}

// find returns the first group of every match of a pattern in the spans.
func (c code) find(pattern string) []string {
	var out []string
	for _, s := range c.spans {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(s, -1) {
			out = append(out, m[1])
		}
	}
	return out
}

// anchors are what links can lead to in a Markdown text: its headings, as they are spelt in addresses.
func anchors(markdown string) []string {
	var out []string
	for line := range strings.Lines(markdown) {
		if heading := strings.TrimLeft(line, "#"); heading != line {
			text := strings.ToLower(strings.TrimSpace(heading))
			out = append(out, strings.ReplaceAll(notInAnchor.ReplaceAllString(text, ""), " ", "-"))
		}
	}
	return out
}

// table returns the rows below the header that starts with the given cells, without markup.
func table(markdown string, header ...string) [][]string {
	var rows [][]string
	inside := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			inside = false
			continue
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(strings.ReplaceAll(cell, "`", "")))
		}
		switch {
		case inside && !strings.HasPrefix(cells[0], "---"):
			rows = append(rows, cells)
		case len(cells) >= len(header) && strings.Join(cells[:len(header)], "|") == strings.Join(header, "|"):
			inside = true
		}
	}
	return rows
}

// texts are the string literals of a file, but for its imports.
func texts(f file) []string {
	var out []string
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if _, isImport := n.(*ast.ImportSpec); isImport {
			return false
		}
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				out = append(out, text)
			}
		}
		return true
	})
	return out
}
