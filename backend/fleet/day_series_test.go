package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// parts writes a line's parts; a space is one of which nothing is known.
func parts(d Day, l Line, now time.Time, span time.Duration, n int) string {
	var out []string
	for _, v := range d.Parts(l, now, span, n) {
		if x, known := v.Get(); known {
			out = append(out, fmt.Sprint(x))
		} else {
			out = append(out, "_")
		}
	}
	return strings.Join(out, " ")
}

func counts(at time.Time, n float64) backend.Reading {
	return backend.Reading{Counts: []backend.Count{{Series: backend.Series{Source: "h", Name: backend.MetricEvictions}, At: at, N: n},
		{Series: backend.Series{Source: "h", Name: backend.MetricEvictions, Session: backend.MustID("s")}, At: at, N: n}}}
}

func TestADayOfMinutes(t *testing.T) {
	s := newStore(0)
	l := Line{Source: "h", Name: LineName(backend.MetricEvictions)}
	step(s, t0, counts(t0, 1))
	step(s, t0.Add(5*time.Second), counts(t0.Add(5*time.Second), 2))
	first := step(s, t0.Add(time.Minute), counts(t0.Add(time.Minute), 0))
	now := t0.Add(time.Minute)
	if got := parts(first.Day, l, now, 4*time.Minute, 4); got != "_ _ 6 0" {
		t.Errorf("sums of the sessions: %s", got)
	}
	later := step(s, t0.Add(3*time.Minute), counts(t0.Add(-2*time.Minute), 5)) // a log that was found late
	if got := parts(later.Day, l, t0.Add(3*time.Minute), 6*time.Minute, 6); got != "10 _ 6 0 _ _" {
		t.Errorf("a late count: %s", got)
	}
	later = step(s, t0.Add(3*time.Minute), counts(t0, 1))
	if got := parts(later.Day, l, t0.Add(3*time.Minute), 6*time.Minute, 3); got != "10 8 _" {
		t.Errorf("parts of two minutes: %s", got)
	}
	if got := parts(first.Day, l, now, 4*time.Minute, 4); got != "_ _ 6 0" {
		t.Errorf("an older State's day changed: %s", got)
	}
	if since := later.Day.Since(l); !since.Equal(t0.Add(-2 * time.Minute)) {
		t.Errorf("since %v", since)
	}
	ahead := step(s, t0.Add(4*time.Minute), counts(t0.Add(5*time.Hour), 7))
	if got := parts(ahead.Day, l, t0.Add(4*time.Minute), 2*time.Minute, 2); got != "_ 14" {
		t.Errorf("a clock that is ahead: %s", got)
	}
	end := step(s, t0.Add(DaySpan+2*time.Minute), counts(t0.Add(DaySpan+2*time.Minute), 1))
	if got := end.Day.Since(l); !got.Equal(t0.Add(4 * time.Minute)) {
		t.Errorf("what is older than a day stays: %v", got)
	}
	if got := step(s, t0.Add(3*DaySpan), backend.Reading{}).Day.Lines("h"); len(got) > 0 {
		t.Errorf("a line of which nothing was read for a day stays: %v", got)
	}
	if got := parts(end.Day, Line{Source: "h", Name: "nothing"}, t0, time.Hour, 3); got != "_ _ _" {
		t.Errorf("no such line: %s", got)
	}
}

func TestLevelsAreMaintained(t *testing.T) {
	s := newStore(0)
	at := t0
	health := &SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "h"}, Status: StatusOK, Interval: 5 * time.Second, Deadline: 5 * time.Second,
		Inputs: []backend.Input{backend.InputRegistry, backend.InputContainers, backend.InputTmpdirs}, P95: 40 * time.Millisecond}
	look := func(r backend.Reading) *State {
		at = at.Add(time.Minute)
		health.LastOK = at
		r.Source, r.At = "h", at
		sortReading(&r)
		s.apply(&r)
		return s.build(at, at.Sub(t0), []*SourceHealth{health})
	}
	word := func(name string, c backend.StateClass) *backend.Workspace {
		w := ws("s", name, string(c))
		w.Class = c
		return w
	}
	box := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "h", ID: backend.MustID("b")}}, IsSandbox: true, Class: backend.SandboxRunning}
	dir := &backend.Tmpdir{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindTmpdir, Source: "h", ID: backend.MustID("d")}}}
	list := func(ws ...*backend.Workspace) backend.Reading {
		return backend.Reading{Workspaces: ws, Scopes: []backend.Scope{whole(backend.KindWorkspace)}}
	}
	look(list(word("a", backend.ClassHealthy), word("b", backend.ClassFailed), word("c", backend.ClassEvicted)))
	look(list(word("a", backend.ClassFailed), word("b", backend.ClassFailed), word("c", backend.ClassEvicted)))
	look(list(word("a", backend.ClassHealthy), word("b", backend.ClassFailed)))
	look(list(word("a", backend.ClassHealthy), word("b", backend.ClassFailed))) // c is gone only now
	look(backend.Reading{Sandboxes: []*backend.Sandbox{box}, Tmpdirs: []*backend.Tmpdir{dir}})
	health.Status = StatusDown
	look(backend.Reading{})
	health.Status = StatusOK
	st := look(backend.Reading{Ended: []backend.Key{wsKey("s", "b"), box.Key}})
	for l, want := range map[LineName]string{LineBroken: "2 3 2 1 1 _ 0", LineSandboxes: "0 0 0 0 1 _ 0", LineTmpdirs: "0 0 0 0 1 _ 1", LineLatency: "0.04 0.04 0.04 0.04 0.04 _ 0.04"} {
		if got := parts(st.Day, Line{Source: "h", Name: l}, at, 7*time.Minute, 7); got != want {
			t.Errorf("%s: %s, want %s", l, got, want)
		}
	}
	if got := parts(st.Day, Line{Source: "h", Name: LineBroken}, at, 8*time.Minute, 2); got != "3 1" {
		t.Errorf("the highest of four minutes: %s", got)
	}
}

func TestTheDayIsBounded(t *testing.T) {
	s := newStore(0)
	var r backend.Reading
	for i := range maxLines + 50 {
		r.Counts = append(r.Counts, backend.Count{Series: backend.Series{Source: fmt.Sprintf("s%05d", i), Name: backend.MetricEvictions}, At: t0, N: 1})
	}
	if st := step(s, t0, r); len(st.Day.lines) != maxLines {
		t.Errorf("%d lines", len(st.Day.lines))
	}
	s = newStore(0)
	var st *State
	for i := range 3 * 1440 {
		at := t0.Add(time.Duration(i) * time.Minute)
		st = step(s, at, counts(at, 1))
	}
	if x := st.Day.lines[0]; len(x.closed) > 1441 || cap(x.closed) > 4*1441 {
		t.Errorf("%d minutes in room for %d", len(x.closed), cap(x.closed))
	}
}

// What providers are evicted from is charted for each, and together.
func TestADayOfProviders(t *testing.T) {
	s := newStore(0)
	count := func(m backend.Metric, provider string, n float64) backend.Count {
		return backend.Count{Series: backend.Series{Source: "m", Name: m, Provider: provider}, At: t0, N: n}
	}
	st := step(s, t0, backend.Reading{Counts: []backend.Count{count(backend.MetricEvictions, "e2b", 2), count(backend.MetricEvictions, "blaxel", 3),
		count(backend.MetricLogLines, "e2b", 9)}})
	line := Line{Source: "m", Name: LineName(backend.MetricEvictions)}
	for provider, want := range map[string]string{"": "5", "e2b": "2", "blaxel": "3", "other": "_"} {
		line.Provider = provider
		if got := parts(st.Day, line, t0, time.Minute, 1); got != want {
			t.Errorf("provider %q: %s, want %s", provider, got, want)
		}
	}
	if got := fmt.Sprint(st.Day.Providers("m"), len(st.Day.Lines("m"))); got != "[blaxel e2b] 2" {
		t.Errorf("providers and lines of the source as a whole: %s", got)
	}
}
