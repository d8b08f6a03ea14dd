package alerts

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The labels of an alert that matchers may name. Those of its subjects exist only where all its subjects share one.
const (
	LabelAlert       = "alert" // the alert's id
	LabelRule        = "rule"
	LabelSource      = "source"
	LabelSeverity    = "severity"
	LabelEnvironment = "environment"
	LabelCause       = "cause"
	LabelFingerprint = "cause_fingerprint"
	LabelProvider    = "provider"
	LabelTenant      = "tenant"
	LabelSession     = "session"
)

// MatcherLabels lists what a matcher may name.
func MatcherLabels() []string {
	return []string{LabelAlert, LabelRule, LabelSource, LabelSeverity, LabelEnvironment, LabelCause, LabelFingerprint, LabelProvider, LabelTenant, LabelSession}
}

// Matcher compares one label. Regular expressions are anchored at both ends.
type Matcher struct {
	Label string
	Op    string // =, !=, =~ or !~
	Value string
	re    *regexp.Regexp
}

// Matchers are conditions that all must hold.
type Matchers []Matcher

// maxMatchers bounds the text and number of matchers of one silence.
const (
	maxMatchersText = 2000
	maxMatchers     = 20
)

// ParseMatchers reads matchers in Alertmanager's syntax (https://prometheus.io/docs/alerting/latest/alertmanager/#matcher):
// rule="x", source=~"helix-.*", severity!="info", with or without braces around them; a value of letters, digits and
// simple punctuation needs no quotes, and in quotes a backslash before a character that it does not change stands for
// itself, as in cause=~"exit code \d+". Unlike there a label that an alert does not have never matches, whatever the
// operator, and a name that no alert ever has is an error.
func ParseMatchers(text string) (Matchers, error) {
	if len(text) > maxMatchersText {
		return nil, fmt.Errorf("the matchers are longer than %d bytes", maxMatchersText)
	}
	s := strings.TrimSpace(text)
	if in, ok := strings.CutPrefix(s, "{"); ok {
		if s, ok = strings.CutSuffix(in, "}"); !ok {
			return nil, errors.New("the matchers begin with { and do not end with }")
		}
	}
	var out Matchers
	for s = strings.TrimSpace(s); s != ""; {
		m, rest, err := parseMatcher(s)
		if err != nil {
			return nil, err
		}
		if out = append(out, m); len(out) > maxMatchers {
			return nil, fmt.Errorf("more than %d matchers", maxMatchers)
		}
		if rest = strings.TrimSpace(rest); rest == "" {
			break
		}
		after, ok := strings.CutPrefix(rest, ",")
		if !ok {
			return nil, fmt.Errorf("after %s a comma is missing, before %q", m, shorten(rest))
		}
		s = strings.TrimSpace(after)
	}
	if len(out) == 0 {
		return nil, errors.New(`no matcher: name what to match, such as rule="failed-too-long"`)
	}
	return out, nil
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 30 {
		return string(r[:30]) + "…"
	}
	return s
}

func parseMatcher(s string) (m Matcher, rest string, err error) {
	if m.Label, s, err = parseLabel(s); err != nil {
		return m, "", err
	}
	if !slices.Contains(MatcherLabels(), m.Label) {
		return m, "", fmt.Errorf("no alert has a label %s; there are %s", shorten(m.Label), strings.Join(MatcherLabels(), ", "))
	}
	for _, op := range []string{"=~", "!~", "!=", "="} {
		if after, ok := strings.CutPrefix(s, op); ok {
			m.Op, s = op, strings.TrimSpace(after)
			break
		}
	}
	if m.Op == "" {
		return m, "", fmt.Errorf("after %s one of =, !=, =~ and !~ is expected", m.Label)
	}
	if strings.HasPrefix(s, `"`) {
		var closed bool
		if m.Value, rest, closed = unquote(s); !closed {
			return m, "", fmt.Errorf("the quotes of the value of %s do not close", m.Label)
		}
	} else {
		end := strings.IndexAny(s, ", \t\n{}\"'`=~!")
		if end < 0 {
			end = len(s)
		}
		if m.Value, rest = s[:end], s[end:]; m.Value == "" && rest != "" && rest[0] != ',' {
			return m, "", fmt.Errorf("after %s%s a value is expected, in double quotes unless it is one word, not %q", m.Label, m.Op, shorten(rest))
		}
	}
	if m.Value == "" {
		return m, "", fmt.Errorf("%s has no value: a label that is empty is absent, and absent labels never match", m.Label)
	}
	if !utf8.ValidString(m.Value) || strings.ContainsFunc(m.Value, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
		return m, "", fmt.Errorf("the value of %s holds what cannot be printed; no label does", m.Label)
	}
	return m, rest, m.compile()
}

// parseLabel reads a label's name, in quotes or not.
func parseLabel(s string) (name, rest string, err error) {
	if strings.HasPrefix(s, `"`) {
		var closed bool
		if name, rest, closed = unquote(s); !closed {
			return "", "", fmt.Errorf("the quotes of a label do not close, at %q", shorten(s))
		}
		return name, strings.TrimSpace(rest), nil
	}
	i := strings.IndexFunc(s, func(r rune) bool { return r != '_' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') })
	if i < 0 {
		i = len(s)
	}
	if i == 0 {
		return "", "", fmt.Errorf("a label, an operator and a value are expected at %q", shorten(s))
	}
	return s[:i], strings.TrimSpace(s[i:]), nil
}

// unquote reads a text that begins with a quote, up to the one that closes it. Only \n, \" and \\ change what they stand
// for.
func unquote(s string) (text, rest string, closed bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:], true
		case c == '\\' && i+1 < len(s):
			switch i++; s[i] {
			case 'n':
				b.WriteByte('\n')
			case '"', '\\':
				b.WriteByte(s[i])
			default:
				b.WriteByte('\\')
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// quote writes a text as unquote reads it.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func (m *Matcher) compile() error {
	if m.Op != "=~" && m.Op != "!~" {
		return nil
	}
	re, err := regexp.Compile("^(?s:" + m.Value + ")$")
	if err != nil {
		return fmt.Errorf("the value of %s is not a regular expression: %w", m.Label, err)
	}
	m.re = re
	return nil
}

// String writes the matcher as ParseMatchers reads it.
func (m Matcher) String() string { return m.Label + m.Op + quote(m.Value) }

// String writes the matchers as ParseMatchers reads them.
func (ms Matchers) String() string {
	parts := make([]string, len(ms))
	for i, m := range ms {
		parts[i] = m.String()
	}
	return strings.Join(parts, ", ")
}

// Outdated reports whether a matcher names a cause as a former version of this program compared it: no alert has such a
// fingerprint any more.
func (ms Matchers) Outdated() bool {
	return slices.ContainsFunc(ms, func(m Matcher) bool {
		version, _, found := strings.Cut(m.Value, ":")
		return m.Label == LabelFingerprint && m.Op == "=" && found && version != causeVersion
	})
}

// Selects reports whether a value is one that the matcher names, also where it names what does not match.
func (m Matcher) Selects(value string) bool {
	if m.re != nil {
		return m.re.MatchString(value)
	}
	return m.Value == value
}

// Match reports whether all matchers match.
func (ms Matchers) Match(labels map[string]string) bool {
	for _, m := range ms {
		v := labels[m.Label]
		switch {
		case v == "",
			m.Op == "=" && v != m.Value, m.Op == "!=" && v == m.Value,
			m.Op == "=~" && !m.re.MatchString(v), m.Op == "!~" && m.re.MatchString(v):
			return false
		}
	}
	return len(ms) > 0
}
