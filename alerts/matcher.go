package alerts

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
// simple punctuation needs no quotes. Unlike there a label that an alert does not have never matches, whatever the
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
	i := strings.IndexFunc(s, func(r rune) bool { return r != '_' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') })
	if i < 0 {
		i = len(s)
	}
	if i == 0 {
		return m, "", fmt.Errorf("a label, an operator and a value are expected at %q", shorten(s))
	}
	m.Label, s = s[:i], strings.TrimSpace(s[i:])
	if !slices.Contains(MatcherLabels(), m.Label) {
		return m, "", fmt.Errorf("no alert has a label %s; there are %s", m.Label, strings.Join(MatcherLabels(), ", "))
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
		quoted, err := strconv.QuotedPrefix(s)
		if err != nil {
			return m, "", fmt.Errorf("the quotes of the value of %s do not close, or a backslash in them is wrong; \\\\ is one backslash", m.Label)
		}
		if m.Value, err = strconv.Unquote(quoted); err != nil {
			return m, "", fmt.Errorf("the value of %s: %w", m.Label, err)
		}
		rest = s[len(quoted):]
	} else {
		end := strings.IndexAny(s, ", \t\n{}\"'`=~!")
		if end < 0 {
			end = len(s)
		}
		m.Value, rest = s[:end], s[end:]
	}
	if m.Value == "" {
		return m, "", fmt.Errorf("%s has no value: a label that is empty is absent, and absent labels never match", m.Label)
	}
	return m, rest, m.compile()
}

func (m *Matcher) compile() error {
	if m.Op != "=~" && m.Op != "!~" {
		return nil
	}
	re, err := regexp.Compile("^(?s:" + m.Value + ")$")
	if err != nil {
		return fmt.Errorf("the value of %s is no regular expression: %w", m.Label, err)
	}
	m.re = re
	return nil
}

// String writes the matcher as ParseMatchers reads it.
func (m Matcher) String() string { return m.Label + m.Op + strconv.Quote(m.Value) }

// String writes the matchers as ParseMatchers reads them.
func (ms Matchers) String() string {
	parts := make([]string, len(ms))
	for i, m := range ms {
		parts[i] = m.String()
	}
	return strings.Join(parts, ", ")
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
