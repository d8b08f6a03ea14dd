package fleet

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestTheNewestWordOnVersions: a probe or a line of an agent tells that they do not fit, until something newer tells otherwise.
func TestTheNewestWordOnVersions(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	probe := func(after time.Duration, kind backend.FailureKind) backend.Verdict {
		return backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown, Kind: kind, At: at.Add(after), What: backend.Text("answered 503")}
	}
	line := func(after time.Duration, kind backend.ReportKind) backend.Report {
		return backend.Report{Kind: kind, Source: "alog", Session: backend.MustID("sandbox-a"), Sandbox: backend.MustID("a"), At: at.Add(after)}
	}
	pool := func(policy, rollout backend.Literal) []backend.Pool {
		return []backend.Pool{{ID: backend.MustID("1"), Name: backend.Text("agents"), Policy: backend.Text(policy), Rollout: backend.Text(rollout)},
			{ID: backend.MustID("2"), Name: backend.Text("other"), Policy: backend.Text("default"), Rollout: backend.Text("r1")}}
	}
	for name, c := range map[string]struct {
		probe   backend.Verdict
		lines   []backend.Report
		pools   []backend.Pool
		started time.Time
		said    string
		rollout string
		calm    string
	}{
		"a probe in a rollout":          {probe: probe(0, backend.FailProtocol), pools: pool("default", "r9"), said: "answered 503", rollout: "rollout r9 of agents"},
		"a probe without one":           {probe: probe(0, backend.FailProtocol), pools: pool("default", ""), said: "answered 503", calm: "agents"},
		"a Durable Object has none":     {probe: probe(0, backend.FailProtocol), pools: pool("durable_object", ""), said: "answered 503"},
		"nothing lists it":              {probe: probe(0, backend.FailProtocol), said: "answered 503"},
		"another answer":                {probe: probe(0, backend.FailThrottled), pools: pool("default", "r9")},
		"a line":                        {lines: []backend.Report{line(0, backend.ReportProtocol)}, pools: pool("default", "r9"), said: "agent's log", rollout: "rollout r9 of agents"},
		"a line before another answer":  {probe: probe(time.Second, ""), lines: []backend.Report{line(0, backend.ReportProtocol)}},
		"a command that ran since":      {probe: probe(0, backend.FailProtocol), lines: []backend.Report{line(time.Second, backend.ReportCommandGood)}},
		"a command that ran before":     {probe: probe(time.Second, backend.FailProtocol), lines: []backend.Report{line(0, backend.ReportCommandGood)}, said: "answered 503"},
		"a start since the line":        {lines: []backend.Report{line(0, backend.ReportProtocol)}, started: at.Add(time.Second)},
		"a start since the probe found": {probe: probe(0, backend.FailProtocol), started: at.Add(time.Minute)},
	} {
		b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("a")}}, Provider: backend.Text("cloudflare"),
			Class: backend.SandboxRunning, StartedAt: backend.Known(at.Add(-time.Hour))}
		b.BridgeID, b.Application = b.Key.ID, backend.Text("agents")
		if !c.started.IsZero() {
			b.StartedAt = backend.Known(c.started)
		}
		if !c.probe.At.IsZero() {
			b = b.WithObserved([]backend.Verdict{c.probe})
		}
		s := &State{Sources: []*SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "cf", ID: backend.MustID("cf")}, Pools: c.pools},
			{Key: backend.Key{Kind: backend.KindSource, Source: "alog", ID: backend.MustID("alog")}, About: []string{"cf"}, Reports: c.lines}}}
		m, is := s.Misfit(b)
		if is != (c.said != "") || !strings.Contains(m.Said.String(), c.said) || m.Rollout.String() != c.rollout || m.Calm.String() != c.calm {
			t.Errorf("%s: %t %q, rollout %q, calm %q", name, is, m.Said, m.Rollout, m.Calm)
		}
	}
}

// TestVersionsThatAProbeMeetsAreAChange: told once of a source, however many probes of a step meet them, and not again while they stay.
func TestVersionsThatAProbeMeetsAreAChange(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	o := &observations{known: map[backend.Key]*observed{}}
	add := func(id, source string, after time.Duration, kind backend.FailureKind, kept bool) {
		k := backend.Key{Kind: backend.KindSandbox, Source: source, ID: backend.MustID(id)}
		o.add(k, backend.Clean(id, 20), []backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown, Kind: kind, At: at.Add(after)}}, kept)
	}
	add("b", "cf", time.Second, backend.FailProtocol, false)
	add("a", "cf", 2*time.Second, backend.FailProtocol, false)
	add("c", "other", 0, backend.FailProtocol, false)
	add("d", "third", 0, backend.FailProtocol, true)
	add("e", "third", 0, backend.FailThrottled, false)
	all := o.events()
	if len(all) != 2 || all[0].Source != "cf" || all[1].Source != "other" {
		t.Fatalf("%+v", all)
	}
	if e := all[0]; e.Kind != backend.EventChange || e.Name != backend.ChangeProtocol || !e.SourceAt.Equal(at.Add(time.Second)) || len(e.About) != 2 || !strings.Contains(e.Text.String(), "a probe of 2 sandboxes") {
		t.Errorf("of two: %+v", e)
	}
	if !strings.Contains(all[1].Text.String(), "a probe of c was told") {
		t.Errorf("of one: %s", all[1].Text)
	}
	add("a", "cf", time.Minute, backend.FailProtocol, false)
	if again := o.events(); len(again) != 0 {
		t.Errorf("the same again: %+v", again)
	}
}
