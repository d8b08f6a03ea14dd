package alerts

import (
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

func scope(t testing.TB, only, except string) Scope {
	t.Helper()
	list := func(s string) []string {
		if s == "" {
			return nil
		}
		return strings.Split(s, "|")
	}
	s, _, err := ParseScope(list(only), list(except))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScopeSaysWhoIsIn(t *testing.T) {
	acme := map[string]string{LabelSource: "helix-eu", LabelTenant: "acme", LabelProvider: "docker"}
	nobody := map[string]string{LabelSource: "helix-eu"}
	for _, c := range []struct {
		only, except string
		labels       map[string]string
		lenient, in  bool
	}{
		{"", "", acme, false, true},
		{`tenant="acme"`, "", acme, false, true},
		{`tenant="acme"`, "", nobody, false, false},
		{`tenant="acme"`, "", nobody, true, true},
		{`tenant="hooli"`, "", acme, true, false},
		{`tenant="hooli"|provider=~"do.*"`, "", acme, false, true},
		{`tenant="acme", source="helix-us"`, "", acme, false, false},
		{"", `tenant="acme"`, acme, false, false},
		{"", `tenant!="hooli"`, nobody, false, true}, // a label that is not there never matches
		{`source=~"helix-.*"`, `provider="docker"`, acme, false, false},
	} {
		if in := scope(t, c.only, c.except).has(c.labels, c.lenient); in != c.in {
			t.Errorf("only %s except %s of %v: %v", c.only, c.except, c.labels, in)
		}
	}
	if s := scope(t, `tenant="acme"|tenant="hooli"`, `source=x`).String(); s != `only tenant="acme" or tenant="hooli", except source="x"` {
		t.Error(s)
	}
}

func TestRuleJudgesOnlyItsScope(t *testing.T) {
	l := newLamp(t, Meta{Scope: scope(t, `session="a"`, "")})
	l.minutes("on off on").want("firing - firing", "firing resolved firing")
	l = newLamp(t, Meta{Scope: scope(t, "", `session="a"`)})
	l.minutes("on off on maybe dark").want("- - - - -", "")
}

func TestAlertEndsWhenItsSubjectLeavesTheScope(t *testing.T) {
	l := newLamp(t, Meta{})
	l.minutes("on on")
	l.engine = NewEngine([]Rule{&lampRule{Meta{Name: "lamp", Severity: SeverityWarning, Scope: scope(t, "", `source="s"`)}}}, "test")
	l.minutes("on").want("firing firing -", "firing resolved")
}

// countRule is a fleet rule that notes sessions and reports their source.
type countRule struct{ lampRule }

func (r *countRule) Judge(env *Env, e backend.Entity, _ Note) Verdict {
	return Verdict{Outcome: False, Note: NoteOf(new(bool))}
}

func (r *countRule) JudgeFleet(env *Env, known Known) []Found {
	cause, fp := env.Cause(backend.Text("count"))
	v := Verdict{Outcome: False}
	for range known.All {
		v = Verdict{Outcome: True, Cause: cause, Fingerprint: fp}
	}
	return []Found{{backend.Key{Kind: backend.KindSource, Source: "s", ID: backend.MustID("s")}, v}}
}

func TestFleetRuleCountsOnlyItsScope(t *testing.T) {
	for tenant, alerts := range map[string]int{"acme": 1, "hooli": 0} {
		l := newLamp(t, Meta{})
		r := &countRule{lampRule{Meta{Name: "count", Severity: SeverityWarning, Scope: scope(t, `tenant="acme"`, "")}}}
		st := l.state("on")
		x := *st.Sessions.Get(st.Delta.Changed[0])
		x.Tenant = backend.Clean(tenant, 20)
		st.Sessions = fleet.NewTable(&x)
		b, _ := NewEngine([]Rule{r}, "test").Next(nil, st)
		if len(b.Alerts) != alerts {
			t.Errorf("sessions of %s: %d alerts, want %d", tenant, len(b.Alerts), alerts)
		}
	}
}

// A session that a log names is the one of the alert's own source, and no other.
func TestAboutASessionThatALogNames(t *testing.T) {
	key := func(kind backend.Kind, source, id string) backend.Key {
		return backend.Key{Kind: kind, Source: source, ID: backend.MustID(id)}
	}
	a := &Alert{Source: "helix", Subjects: []Subject{{Key: key(backend.KindSession, "log", "s1")}}}
	for k, want := range map[backend.Key]bool{
		key(backend.KindSession, "helix", "s1"): true, key(backend.KindSession, "log", "s1"): true, key(backend.KindSession, "other", "s1"): false,
		key(backend.KindSession, "helix", "s2"): false, key(backend.KindSandbox, "helix", "s1"): false,
	} {
		if got := a.About(0, k); got != want {
			t.Errorf("%v: %t", k, got)
		}
	}
}
