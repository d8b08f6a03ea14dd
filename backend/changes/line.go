package changes

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

const maxLineBytes = 16 << 10 // of one change; the rest of the line is dropped

// change is one line.
type change struct {
	raw  string
	at   time.Time // zero: the line gives none
	text string
}

// split takes a content apart: a JSON array of objects or texts, or lines.
func (o *Options) split(content []byte) []change {
	content = bytes.TrimSpace(bytes.TrimPrefix(content, []byte("\ufeff")))
	if len(content) > 0 && content[0] == '[' {
		if doc, err := wire.Parse(content); err == nil {
			var out []change
			for n := range doc.Root().Elements() {
				out = append(out, o.node(n))
			}
			return out
		}
	}
	var out []change
	for line := range bytes.Lines(content) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		out = append(out, o.line(line[:min(len(line), maxLineBytes)]))
	}
	return out
}

func (o *Options) line(line []byte) change {
	if line[0] == '{' {
		if doc, err := wire.Parse(line); err == nil {
			return o.node(doc.Root())
		}
	}
	c := change{raw: string(line), text: string(line)}
	if at, rest, ok := leadingTime(c.text); ok {
		c.at, c.text = at, rest
	}
	return c
}

// node reads one JSON value. An object without any known text is shown as it is.
func (o *Options) node(n wire.Node) change {
	c := change{raw: string(n.Raw())}
	if text, ok := n.Text(); ok {
		c.text = text
		if at, rest, ok := leadingTime(text); ok {
			c.at, c.text = at, rest
		}
		return c
	}
	for _, name := range o.Fields.Time {
		v := n.Get(name)
		text, isText := v.Text()
		if f, ok := v.Float(); ok {
			text, isText = strconv.FormatFloat(f, 'f', -1, 64), true
		}
		if isText {
			if at, _, ok := leadingTime(text); ok {
				c.at = at
				break
			}
		}
	}
	var parts []string
	for _, name := range o.Fields.Text {
		if text, ok := n.Get(name).Text(); ok && strings.TrimSpace(text) != "" {
			parts = append(parts, strings.TrimSpace(text))
		}
	}
	if c.text = strings.Join(parts, ": "); c.text == "" {
		c.text = c.raw
	}
	return c
}

// leadingTime reads a time at the start of a text, in brackets or not: RFC 3339, the same with a space or without a
// zone (then UTC), or an epoch number. rest is what follows.
func leadingTime(text string) (at time.Time, rest string, ok bool) {
	text = strings.TrimLeft(text, " [(")
	for _, layout := range [...]string{time.RFC3339Nano, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02 15:04"} {
		for _, words := range [...]int{1, 2} {
			head, tail := cut(text, words)
			if t, err := time.Parse(layout, strings.Trim(head, "[]():,")); err == nil {
				return t, tail, true
			}
		}
	}
	head, tail := cut(text, 1)
	// A smaller number is no time: a line may well begin with a number.
	if t, ok := backend.EpochTime(strings.Trim(head, "[]():,"), 1e9); ok {
		return t, tail, true
	}
	return time.Time{}, text, false
}

// cut splits off the first words.
func cut(text string, words int) (head, tail string) {
	at := 0
	for range words {
		i := strings.IndexAny(text[at:], " \t")
		if i < 0 {
			return text, ""
		}
		at += i + 1
	}
	return strings.TrimRight(text[:at], " \t"), strings.TrimLeft(text[at:], " \t-–—:|])")
}
