package backend

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Cleaner makes Safe text and masks secrets in it: the exact values of our own credentials (also URL-encoded, base64
// and JSON-escaped), and what looks like an agent's: `KEY=value` environment prefixes with a secret-like name,
// well-known token shapes, Authorization headers and credentials in URLs. A Cleaner is immutable; With adds secrets.
type Cleaner struct {
	own *strings.Replacer
	all []string
}

const masked = "‹masked›"

// minSecret is the shortest configured secret that can be replaced without tearing ordinary text apart.
const minSecret = 6

// NewCleaner makes a Cleaner for the given configured secrets; those shorter than 6 bytes cannot be masked safely and
// are ignored.
func NewCleaner(secrets ...string) *Cleaner {
	return (&Cleaner{}).With(secrets...)
}

// With returns a Cleaner that masks these secrets too.
func (c *Cleaner) With(secrets ...string) *Cleaner {
	all := slices.Clone(c.all)
	for _, s := range secrets {
		if len(s) >= minSecret && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	var pairs []string
	for _, s := range all {
		quoted := QuoteJSON(s)
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), quoted[1 : len(quoted)-1],
			base64.StdEncoding.EncodeToString([]byte(s)), base64.URLEncoding.EncodeToString([]byte(s)),
			base64.RawStdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s))} {
			pairs = append(pairs, form, masked)
		}
		for _, form := range within64(s) {
			pairs = append(pairs, form, masked)
		}
	}
	return &Cleaner{own: strings.NewReplacer(pairs...), all: all}
}

// within64 are the characters that a secret has within the base64 of a longer text, such as "user:" before it: by where
// it begins there.
func within64(s string) []string {
	var out []string
	for before, shared := range []int{0, 2, 3} { // characters that the text before it has a part in
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			form := enc.EncodeToString(append(make([]byte, before), s...))
			if (before+len(s))%3 != 0 {
				form = form[:len(form)-1]
			}
			out = append(out, form[shared:])
		}
	}
	return out
}

// Mask replaces secrets; the result is not yet safe to draw. Use Clean for that; Mask alone serves JSON output.
func (c *Cleaner) Mask(raw string) string {
	if c.own != nil && len(c.all) > 0 {
		raw = c.own.Replace(raw)
	}
	if plain, hidden := withoutIgnorable(raw); len(hidden) > 0 {
		if clean := maskShapes(plain); clean != plain { // a character that is not drawn kept a name apart
			return withIgnorable(clean, plain, hidden)
		}
	}
	return maskShapes(raw)
}

// hiddenText is what terminals do not draw, and where it stood.
type hiddenText struct {
	at   int // in the text without it
	text string
}

// withoutIgnorable leaves out what terminals do not draw, as it can stand in the middle of a name.
func withoutIgnorable(s string) (plain string, hidden []hiddenText) {
	if !strings.Contains(s, `\u`) && !strings.ContainsFunc(s, ignorable) {
		return s, nil
	}
	var b strings.Builder
	for at := 0; at < len(s); {
		r, size := utf8.DecodeRuneInString(s[at:])
		if r == '\\' {
			if e := escapedRune.FindString(s[at:]); e != "" {
				size = len(e)
				n, err := strconv.ParseUint(e[len(e)-4:], 16, 32)
				if r = 0; err == nil {
					r = rune(n)
				}
			}
		}
		if ignorable(r) && r != utf8.RuneError {
			hidden = append(hidden, hiddenText{b.Len(), s[at : at+size]})
		} else {
			b.WriteString(s[at : at+size])
		}
		at += size
	}
	return b.String(), hidden
}

// withIgnorable puts what is not drawn back into what was not masked, so that it is marked there as everywhere.
func withIgnorable(clean, plain string, hidden []hiddenText) string {
	parts := strings.Split(clean, masked)
	var b strings.Builder
	at := 0 // in plain; a part that is found too early shows the same characters
	for i, part := range parts {
		if i > 0 {
			b.WriteString(masked)
		}
		found := strings.Index(plain[at:], part)
		if found < 0 {
			b.WriteString(part)
			continue
		}
		from := at + found
		if at = from + len(part); i == len(parts)-1 {
			from, at = len(plain)-len(part), len(plain)+1
		}
		written := 0
		for _, h := range hidden {
			if h.at >= from && h.at < at {
				b.WriteString(part[written:h.at-from] + h.text)
				written = h.at - from
			}
		}
		b.WriteString(part[written:])
		at = min(at, len(plain))
	}
	return b.String()
}

// escapedRune is a character as JSON writes it, in a string within a string too.
var escapedRune = regexp.MustCompile(`^\\+u[0-9a-fA-F]{4}`)

func ignorable(r rune) bool { return r > 0x7f && r != '\u00a0' && Unsafe(r) }

// Clean masks secrets and makes drawable text of at most limit characters.
func (c *Cleaner) Clean(raw string, limit int) Safe {
	if len(raw) > 8*limit+4096 {
		raw = raw[:8*limit+4096] // the rest is cut anyway, and masking it would cost time
	}
	return Clean(c.Mask(raw), limit)
}

// CleanNamed is Clean for the value of a name, such as a label. The value is masked in full where the name is one of a secret.
func (c *Cleaner) CleanNamed(name, value string, limit int) Safe {
	if probe := name[:min(len(name), 8*limit)] + "=abcdefgh"; value != "" && c.Mask(probe) != probe {
		return Clean(masked, limit)
	}
	return c.Clean(value, limit)
}
