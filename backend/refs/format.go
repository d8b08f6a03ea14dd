package refs

import (
	"regexp"
	"strings"

	"sandglass/backend"
	"sandglass/backend/wire"
)

const (
	masked   = "‹masked›"
	maxDepth = 6       // of drawn JSON
	drawn    = 8 << 10 // bytes after which drawing stops; what is shown is cut far below
)

// private are names whose values are not drawn: environment maps and credentials, and addresses, because preview and
// stream URLs carry their token in themselves.
var private = regexp.MustCompile(`(?i)env|secret|token|passw|credential|auth|cookie|header|signature|private|api_?-?key|access_?-?key|ur[il]`)

// lifetime are names of numbers that say how long something is good: they are no secret, also where an address or token is named.
var lifetime = regexp.MustCompile(`(?i)ttl|timeout|expir|lifetime|max_?age`)

// formatter prints saved values without secrets. Saved state holds environments and tokens in plain text.
type formatter struct{ clean *backend.Cleaner }

// text draws a value of its own.
func (d formatter) text(n wire.Node, limit int) backend.Safe { return d.member("", n, limit) }

// member draws the value of a named member.
func (d formatter) member(name string, n wire.Node, limit int) backend.Safe {
	if text, ok := n.Text(); ok {
		if inner, err := unfold(n); err == nil && inner.Kind() != '"' {
			n = inner
		} else {
			return d.clean.Clean(hide(private.MatchString(name), text), limit)
		}
	}
	var b strings.Builder
	d.write(&b, n, private.MatchString(name), 0)
	return d.clean.Clean(b.String(), limit)
}

// hide masks a text: all of it, or what follows the scheme of an address.
func hide(all bool, text string) string {
	if all && text != "" {
		return masked
	}
	if i := strings.Index(text, "://"); i >= 0 {
		return text[:i+3] + masked
	}
	return text
}

func (d formatter) write(b *strings.Builder, n wire.Node, secret bool, depth int) {
	switch kind := n.Kind(); {
	case b.Len() > drawn || depth > maxDepth:
		b.WriteString("…")
	case kind == '{':
		b.WriteByte('{')
		sep := ""
		for name, v := range n.Members() {
			if b.WriteString(sep); b.Len() > drawn {
				break
			}
			b.WriteString(backend.QuoteJSON(string(name)) + ":")
			d.write(b, v, secret || private.Match(name) && !(v.Kind() == '0' && lifetime.Match(name)), depth+1)
			sep = ","
		}
		b.WriteByte('}')
	case kind == '[':
		b.WriteByte('[')
		sep := ""
		for v := range n.Elements() {
			if b.WriteString(sep); b.Len() > drawn {
				break
			}
			d.write(b, v, secret, depth+1)
			sep = ","
		}
		b.WriteByte(']')
	case kind == '"':
		if inner, err := unfold(n); err == nil && inner.Kind() != '"' {
			d.write(b, inner, secret, depth+1)
			return
		}
		text, _ := n.Text()
		b.WriteString(backend.QuoteJSON(hide(secret, text[:min(len(text), drawn)])))
	case kind == '0' && secret && depth > 0:
		b.WriteString(backend.QuoteJSON(masked))
	case kind == '0' && secret:
		b.WriteString(masked)
	default:
		b.Write(n.Raw())
	}
}
