package alerts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// changed observes a State that reports changes; ages count back from now.
func (l *lamp) changed(word string, events ...backend.Event) *lamp {
	st := l.state(word)
	for _, e := range events {
		e.Kind = backend.EventChange
		st.Events = append(st.Events, e)
	}
	l.board, _ = l.engine.Next(l.board, st)
	l.now = l.now.Add(time.Minute)
	return l
}

func restart(source string, at time.Time, text string) backend.Event {
	return backend.Event{At: at, Source: source, Name: "restarted", Text: backend.Clean(text, 100)}
}

func texts(es []Evidence) string {
	var out []string
	for _, e := range es {
		out = append(out, e.Text.String())
	}
	return strings.Join(out, "; ")
}

func TestChangesNearTheOnsetAreNamed(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 20, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		events []backend.Event
		want   string
	}{
		"none":                  {nil, ""},
		"just before":           {[]backend.Event{restart("s", start.Add(-40*time.Second), "agent-eu restarted (14 of 14)")}, "began 40s after: agent-eu restarted (14 of 14)"},
		"at the same time":      {[]backend.Event{restart("s", start, "agent-eu restarted")}, "began together with: agent-eu restarted"},
		"long before":           {[]backend.Event{restart("s", start.Add(-16*time.Minute), "agent-eu restarted")}, ""},
		"a little late":         {[]backend.Event{restart("s", start.Add(30*time.Second), "agent-eu restarted")}, "30s after it began: agent-eu restarted"},
		"several alike":         {[]backend.Event{restart("s", start.Add(-time.Minute), "x"), restart("s", start.Add(-2*time.Minute), "x"), restart("s", start.Add(-3*time.Minute), "x")}, "began 1m after: x (3 times)"},
		"several of a kind":     {[]backend.Event{restart("s", start.Add(-2*time.Minute), "agent-1 restarted"), restart("s", start.Add(-time.Minute), "agent-2 restarted")}, "began 1m after: agent-2 restarted, and 1 more of the kind"},
		"reported by another":   {[]backend.Event{restart("t", start.Add(-time.Minute), "rollout")}, "began 1m after: rollout"},
		"reported twice is one": {[]backend.Event{restart("s", start.Add(-time.Minute), "x"), restart("s", start.Add(-time.Minute), "x")}, "began 1m after: x"},
	} {
		l := newLamp(t, Meta{}).minutes(strings.Repeat("off ", 20)).changed("on", c.events...)
		a := l.board.Alerts[0]
		if got := strings.TrimPrefix(strings.TrimPrefix(texts(a.Evidence), "the lamp is on"), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		for _, e := range a.Evidence {
			if e.Source == "" || e.At.IsZero() {
				t.Errorf("%s: %q does not say where it comes from, or when", name, e.Text)
			}
		}
	}
}

func TestAChangeElsewhereIsNotNamed(t *testing.T) {
	for about, want := range map[string]string{"": "the lamp is on; began 1m after: rollout", "s": "the lamp is on; began 1m after: rollout", "other": "the lamp is on"} {
		l := newLamp(t, Meta{}).minutes(strings.Repeat("off ", 20))
		st := l.state("on")
		reporter := &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "t", ID: backend.MustID("t")}, Status: fleet.StatusOK, LastOK: l.now}
		if about != "" {
			reporter.About = []string{about}
		}
		st.Sources = append(st.Sources, reporter)
		rollout := restart("t", l.now.Add(-time.Minute), "rollout")
		rollout.Kind = backend.EventChange
		st.Events = []backend.Event{rollout}
		l.board, _ = l.engine.Next(l.board, st)
		if got := texts(l.board.Alerts[0].Evidence); got != want {
			t.Errorf("reported by a source about %q: %q, want %q", about, got, want)
		}
	}
}

func TestAChangeThatIsReportedLateIsNamedOnceAndStays(t *testing.T) {
	l := newLamp(t, Meta{}).minutes(strings.Repeat("off ", 20) + "on on")
	began := l.now.Add(-2 * time.Minute)
	l.changed("on", restart("s", began.Add(-time.Minute), "rollout"))
	want := "the lamp is on; began 1m after: rollout"
	for range 3 {
		if got := texts(l.board.Alerts[0].Evidence); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
		l.now = l.now.Add(-time.Minute)
		l.restarted(t, time.Minute, nil)
		l.minutes(strings.Repeat("on dark ", 30))
	}
	if n := len(l.board.memory.markers); n != 0 {
		t.Errorf("%d changes are kept for hours", n)
	}
}

func TestNamedChangesAreFew(t *testing.T) {
	l := newLamp(t, Meta{}).minutes(strings.Repeat("off ", 20))
	var events []backend.Event
	for i := range 500 {
		e := restart("s", l.now.Add(-time.Duration(i)*time.Second), fmt.Sprint("change ", i))
		e.Name = fmt.Sprint("kind ", i%7)
		events = append(events, e)
	}
	l.changed("on", events...)
	if n := len(l.board.Alerts[0].Evidence); n != 1+markersNamed || len(l.board.memory.markers) != markersKept {
		t.Errorf("%d statements, %d changes kept", n, len(l.board.memory.markers))
	}
}

// trendRule is a lamp with a trend.
type trendRule struct{ lampRule }

func (r *trendRule) Judge(env *Env, e backend.Entity, n Note) Verdict {
	v := r.lampRule.Judge(env, e, n)
	v.Trend, v.TrendSpan = []float64{1, 2, 4, 8, 16, 32, 64, 128}, 8*time.Minute
	return v
}

func TestAnAlertSaysWhereItGoes(t *testing.T) {
	l := newLamp(t, Meta{})
	l.engine = NewEngine([]Rule{&trendRule{lampRule{Meta{Name: "lamp", Severity: SeverityWarning}}}}, "test")
	l.minutes("on")
	if d := l.board.Alerts[0].Direction; d.Heading != HeadingWorse || d.Text().String() != "worse: doubles every 1m" {
		t.Errorf("%+v", d)
	}
}

// TestNothingBeganAfterAChangeThatMayHaveComeLater: an onset is known between two times, and the change lies between them.
func TestNothingBeganAfterAChangeThatMayHaveComeLater(t *testing.T) {
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ev := &evaluation{next: &memory{markers: []marker{{At: at.Add(-30 * time.Second), Text: backend.Text("rollout")}}}, env: Env{}, st: &fleet.State{}}
	for _, c := range []struct {
		earliest time.Duration
		says     string
	}{{20 * time.Minute, "within the time in which it may have begun, at 11:59:30Z: rollout"}, {40 * time.Second, "began 30s after: rollout"}, {10 * time.Second, "began 30s after: rollout"}} {
		if got := texts(ev.changesNear("s", "", nil, at, Bounds{Earliest: at.Add(-c.earliest), Latest: at})); got != c.says {
			t.Errorf("between %s and now: %q, want %q", c.earliest, got, c.says)
		}
	}
	if got := texts(ev.changesNear("s", "", nil, at, Bounds{Latest: at})); !strings.Contains(got, "may have begun") {
		t.Errorf("an onset without an earliest time: %q", got)
	}
}

// A start of one container explains nothing about other containers.
func TestAChangeOfOneSandboxIsNotNamedForOthers(t *testing.T) {
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	key := func(kind backend.Kind, id string) backend.Key {
		return backend.Key{Kind: kind, Source: "s", ID: backend.MustID(id)}
	}
	start := backend.Event{At: at.Add(-20 * time.Second), Kind: backend.EventChange, Source: "s", Subject: key(backend.KindSandbox, "oomer"), Name: "start", Text: backend.Text("container oomer started")}
	ev := &evaluation{next: &memory{}, old: &memory{}, env: Env{Now: at}, st: &fleet.State{Events: []backend.Event{start}}}
	ev.noteChanges()
	const said = "began 20s after: container oomer started"
	for _, c := range []struct {
		want  string
		about []Subject
	}{
		{"", []Subject{{Key: key(backend.KindSandbox, "sick")}}},
		{said, []Subject{{Key: key(backend.KindSandbox, "sick")}, {Key: key(backend.KindSandbox, "oomer")}}},
		{said, []Subject{{Key: key(backend.KindWorkspace, "box")}}},
		{said, nil},
	} {
		if got := texts(ev.changesNear("s", "", c.about, at, Bounds{Earliest: at.Add(-time.Second), Latest: at})); got != c.want {
			t.Errorf("about %v: %q, want %q", c.about, got, c.want)
		}
	}
}

// What people do about an alert is no cause of it, and neither is a look at a sandbox or a repair before it began anew.
func TestOwnActionsAfterTheOnsetAreNotNamed(t *testing.T) {
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ev := &evaluation{env: Env{}, st: &fleet.State{}, next: &memory{markers: []marker{
		{At: at.Add(-20 * time.Second), Name: "pause", Text: backend.Text("pause accepted"), Ours: true}, {At: at.Add(-time.Second), Name: "repair", Text: backend.Text("repair verified"), Ours: true},
		{At: at.Add(30 * time.Second), Name: "repair", Text: backend.Text("repair of 1 begun"), Ours: true}, {At: at.Add(40 * time.Second), Name: "start", Text: backend.Text("rollout")}}}}
	if got, want := texts(ev.changesNear("s", "", nil, at, Bounds{Earliest: at.Add(-time.Second), Latest: at})), "began 20s after: pause accepted; 40s after it began: rollout"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := texts(ev.changesNear("s", "", nil, at, Bounds{Latest: at})); strings.Contains(got, "repair") {
		t.Errorf("an onset whose earliest time is not known: %q", got)
	}
	tl := &timeline{}
	for _, verb := range []string{"probe", "prove", "repair"} {
		tl.notice(backend.Event{Kind: backend.EventAction, Name: verb})
	}
	if got := tl.done(); len(got) != 1 || got[0].Name != "repair" {
		t.Errorf("handed to the engine: %+v", got)
	}
}
