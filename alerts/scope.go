package alerts

import (
	"fmt"
	"slices"
	"strings"

	"sandglass/backend"
)

// Scope is the part of the fleet that a rule is configured to judge. The zero Scope is all of it.
type Scope struct {
	Only   []Matchers // none: everything; otherwise one of them must match
	Except []Matchers // none of them may match
}

// ScopeLabels lists what a scope's matchers may name.
func ScopeLabels() []string { return []string{LabelSource, LabelProvider, LabelTenant, LabelSession} }

// ParseScope reads matchers for a Scope. An error names the list and the place in it: only[1].
func ParseScope(only, except []string) (s Scope, key string, err error) {
	if s.Only, key, err = scopeList("only", only); err != nil {
		return Scope{}, key, err
	}
	if s.Except, key, err = scopeList("except", except); err != nil {
		return Scope{}, key, err
	}
	return s, "", nil
}

func scopeList(name string, texts []string) ([]Matchers, string, error) {
	var out []Matchers
	for i, text := range texts {
		key := fmt.Sprintf("%s[%d]", name, i)
		ms, err := ParseMatchers(text)
		if err != nil {
			return nil, key, err
		}
		for _, m := range ms {
			if !slices.Contains(ScopeLabels(), m.Label) {
				return nil, key, fmt.Errorf("a rule is not limited by %s; there are %s", m.Label, strings.Join(ScopeLabels(), ", "))
			}
		}
		out = append(out, ms)
	}
	return out, "", nil
}

// IsZero reports whether everything is judged.
func (s Scope) IsZero() bool { return len(s.Only)+len(s.Except) == 0 }

// String says what is judged, in the words of the configuration; empty: everything.
func (s Scope) String() string {
	var parts []string
	for _, x := range []struct {
		name string
		list []Matchers
	}{{"only", s.Only}, {"except", s.Except}} {
		var texts []string
		for _, ms := range x.list {
			texts = append(texts, ms.String())
		}
		if len(texts) > 0 {
			parts = append(parts, x.name+" "+strings.Join(texts, " or "))
		}
	}
	return strings.Join(parts, ", ")
}

// has reports whether labels are inside. lenient: what is not known of a subject does not put it outside, since its
// parts were judged one by one.
func (s Scope) has(labels map[string]string, lenient bool) bool {
	in := len(s.Only) == 0
	for _, ms := range s.Only {
		if lenient {
			ms = slices.DeleteFunc(slices.Clone(ms), func(m Matcher) bool { return labels[m.Label] == "" })
		}
		in = in || len(ms) == 0 || ms.Match(labels)
	}
	return in && !slices.ContainsFunc(s.Except, func(ms Matchers) bool { return ms.Match(labels) })
}

// outside reports whether a subject is none of the rule's, by what is known of it and what the rule says. lenient: see
// has.
func (re *ruleEvaluation) outside(k backend.Key, e backend.Entity, v *Verdict, lenient bool) bool {
	if re.meta.Scope.IsZero() {
		return false
	}
	labels := re.scopeLabels(k, e)
	for label, value := range map[string]string{LabelSource: v.Source, LabelProvider: v.Provider.String(), LabelTenant: v.Tenant.String(), LabelSession: v.Session.Raw()} {
		if value != "" {
			labels[label] = value
		}
	}
	return !re.meta.Scope.has(labels, lenient)
}

// scopeLabels are what is known of a subject whatever the rule says.
func (re *ruleEvaluation) scopeLabels(k backend.Key, e backend.Entity) map[string]string {
	labels := map[string]string{LabelSource: k.Source}
	session := backend.Key{Kind: backend.KindSession, Source: k.Source}
	switch x := e.(type) {
	case *backend.Workspace:
		session.ID, labels[LabelProvider] = k.Parent, x.Provider.String()
	case *backend.Session:
		session.ID = k.ID
	case *backend.Sandbox:
		session.ID, labels[LabelProvider] = x.Session, x.Provider.String()
		session.Source = re.st.HomeOf(k.Source, x.Session)
	}
	labels[LabelSession] = session.ID.Raw()
	if s := re.st.Session(session); s != nil {
		labels[LabelTenant] = s.Tenant.String()
	}
	return labels
}
