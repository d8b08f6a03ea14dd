package cause

import (
	"bytes"
	"strings"
)

// The signs between values, and between a value and its label.
const (
	itemSign  = '\x1e'
	labelSign = '\x1f'
	nameSign  = '\x1d' // before the label of a bare name
)

// value adds a value with what varies in it starred; one that is nothing else is left out. An empty label is the last word.
func (r *Reader) value(label, text, quote string) {
	r.noise()
	if r.values >= maxValues {
		return
	}
	start := len(r.Values)
	if label == "" {
		label = r.label()
	}
	r.Values = r.open(r.Values, label)
	from := len(r.Values)
	switch quote {
	case "", "`", `"`:
	default:
		quote = "'"
	}
	r.Values = append(r.Values, quote...)
	body := len(r.Values)
	r.Values = appendStarred(r.Values, text)
	if plainStars(r.Values[body:]) {
		r.Values = r.Values[:start]
		return
	}
	r.Values = append(r.Values, quote...)
	r.Values = clip(r.Values, from)
	r.counts(start)
}

// rawValue adds a number that tells.
func (r *Reader) rawValue(label, text string) {
	if r.values >= maxValues {
		return
	}
	start := len(r.Values)
	r.Values = append(r.open(r.Values, label), text...)
	r.counts(start)
}

// counts keeps the value that begins at start, unless it was there before: attempts that are alike say the same.
func (r *Reader) counts(start int) {
	item := bytes.TrimLeft(r.Values[start:], string(itemSign))
	for was := range bytes.SplitSeq(r.Values[:start], []byte{itemSign}) {
		if bytes.Equal(was, item) {
			r.Values = r.Values[:start]
			return
		}
	}
	r.values++
}

// bareName adds a name without quotes, once. Bare names, such as the words of another language, take no place of other values. Those that look
// like identifiers count, so that the last one kept is the same word of a sentence.
func (r *Reader) bareName(tok string) {
	if r.bares++; r.bares > maxBares {
		return
	}
	start := len(r.Values)
	if start > 0 {
		r.Values = append(r.Values, itemSign)
	}
	label := r.labelled()
	r.Values = append(append(append(r.Values, nameSign), r.Words[label.from:label.to]...), labelSign)
	from := len(r.Values)
	r.Values = clip(appendStarred(r.Values, tok), from)
	name := r.Values[from:]
	known := plainStars(name)
	for was := range bytes.SplitSeq(r.Values[:start], []byte{itemSign}) {
		known = known || len(was) > 0 && was[0] == nameSign && bytes.Equal(was[bytes.IndexByte(was, labelSign)+1:], name)
	}
	if known {
		r.Values = r.Values[:start]
	}
}

// valueOf adds the value of a key: a number tells only under a key of which it does.
func (r *Reader) valueOf(key, text, quote string) {
	lower := strings.ToLower(key)
	switch _, digits := shapeOf(text); {
	case IsNumeric(text) || IsHex(text) && digits:
		if tells[lower] && isShort(text) {
			r.rawValue(lower, text)
		}
	case isRandom(text) || isBase64(text) || IsUUID(text):
	default:
		r.value(key, text, quote)
	}
}

func (r *Reader) open(b []byte, label string) []byte {
	if len(b) > 0 {
		b = append(b, itemSign)
	}
	return append(append(b, label...), labelSign)
}

func clip(b []byte, from int) []byte {
	if len(b)-from <= maxValue {
		return b
	}
	return append([]byte(strings.ToValidUTF8(string(b[:from+maxValue]), "")), "…"...)
}

func plainStars(b []byte) bool {
	for _, c := range b {
		if c != '*' && c != '-' && c != '.' && c != '_' && c != ':' && c != '/' && c != ' ' && c != ',' {
			return false
		}
	}
	return true
}

// appendStarred appends a name, a path or an address with * for what looks like an identifier or a number. Of an address
// the query is left out; the tag of an image stays.
func appendStarred(b []byte, s string) []byte {
	start, at := len(b), 0
	if i := strings.Index(s, "://"); i >= 0 {
		if end := strings.IndexAny(s[i:], "?#"); end > 0 {
			s = s[:i+end]
		}
	}
	tag := len(s)
	if i := strings.LastIndexByte(s, ':'); i > 0 && strings.Contains(s[:i], "/") && !strings.HasPrefix(s[i:], "://") && len(s)-i <= 16 && !IsHex(s[i+1:]) {
		tag = i
	}
	for at < len(s) {
		c := s[at]
		if at >= tag || !isLetter(c) && !isDigit(c) {
			switch {
			case c < 0x20:
			case c == '-' && len(b) > start && b[len(b)-1] == '*' && at+1 < len(s) && s[at+1] == '-':
			default:
				b = append(b, c)
			}
			at++
			continue
		}
		end := at + 1
		for end < tag && (isLetter(s[end]) || isDigit(s[end])) {
			end++
		}
		switch part := s[at:end]; {
		case isCodeNumber(part), inRegion(b[start:], part):
			b = append(b, part...)
		case varies(part), end-at >= 6 && scratch(b[start:], part):
			b = append(b, '*')
			if n := len(b); n-start >= 3 && b[n-3] == '*' && (b[n-2] == '-' || b[n-2] == '_') {
				b = b[:n-2]
			}
		default:
			b = append(b, part...)
		}
		at = end
	}
	return b
}

// inRegion reports whether a part is the number of a region, as in eu-west-1 and europe-west4. before is the name before the part.
func inRegion(before []byte, part string) bool {
	digit := strings.IndexAny(part, "123456789")
	if digit < 0 || len(part)-digit > 2 {
		return false
	}
	if digit > 0 {
		return compass[part[:digit]]
	}
	name, dash := bytes.CutSuffix(before, []byte{'-'})
	return dash && compass[string(name[bytes.LastIndexByte(name, '-')+1:])]
}

// scratch reports whether a part is what mktemp and mkdtemp put at the end of a name: below /tmp, after the prefix of the framework, or by its
// form. before is what stands before the part.
func scratch(before []byte, part string) bool {
	if isScratch(part) || bytes.HasSuffix(before, []byte("helix-ws-")) {
		return true
	}
	i := bytes.LastIndex(before, []byte("/tmp/"))
	if i < 0 || wordOf(part) != unlisted {
		return false
	}
	name := before[i+len("/tmp/"):]
	return len(name) > 0 && bytes.IndexByte(name, '/') < 0 && (name[len(name)-1] == '-' || name[len(name)-1] == '.')
}

// varies reports whether a part of a name looks like an identifier or a number. A version such as v1 does not.
func varies(part string) bool {
	_, digits := shapeOf(part)
	switch {
	case !digits:
		return isRandom(part) && wordOf(part) == unlisted
	case len(part) <= 3 && (part[0] == 'v' || wordOf(part) != unlisted):
		return false
	}
	return IsHex(part) || wordOf(part) == unlisted
}

// wholeLabel is the label of a whole text.
const wholeLabel = "error text"

// WholeText is a text as its only value, in the form that Values reads.
func WholeText(text string) string {
	text = strings.Map(func(c rune) rune {
		if c < 0x20 {
			return ' '
		}
		return c
	}, text)
	return string(clip([]byte(wholeLabel+string(labelSign)+text), len(wholeLabel)+1))
}

// Value is one value with the word or key before it.
type Value struct {
	Label, Text string
	Bare        bool // a name without quotes, or a word that is not listed
}

// Values reads the values of a text in their order.
func Values(s string) []Value {
	if s == "" {
		return nil
	}
	out := make([]Value, 0, 1+strings.Count(s, string(itemSign)))
	for item := range strings.SplitSeq(s, string(itemSign)) {
		label, text, _ := strings.Cut(item, string(labelSign))
		label, bare := strings.CutPrefix(label, string(nameSign))
		out = append(out, Value{label, text, bare})
	}
	return out
}
