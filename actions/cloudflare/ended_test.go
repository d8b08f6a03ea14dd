package cloudflare

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
	demo "sandglass/demo/cloudflare"
)

// TestDestroyIsNotProvedByItsAnswer: 204 comes also where nothing was destroyed, and what the operator routes said before proves nothing.
func TestDestroyIsNotProvedByItsAnswer(t *testing.T) {
	swallow := func(out http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete {
			out.WriteHeader(http.StatusNoContent)
		}
		return r.Method == http.MethodDelete
	}
	for _, c := range []struct {
		name, ops string
		swallowed bool
		stopped   bool // the object said so before
		text      string
		notes     string
	}{{"no routes", "", false, false, "which it does also when nothing was destroyed", ""}, {"routes", "/ops", false, false, "the operator routes ", ""},
		{"swallowed", "/ops", true, false, "which it does also when nothing was destroyed", ""},
		{"swallowed, and said to be stopped before", "/ops", true, true, "which it does also when nothing was destroyed", "the operator routes said stopped before it already"}} {
		w := newWorld(t, demo.BridgeOptions{Ops: c.ops})
		runs := runsYes
		w.change(func(b *demo.Box) {
			if c.stopped {
				b.State, runs = "stopped", runsUnknown
			}
		})
		if c.swallowed {
			w.brief, w.answer = true, swallow
		}
		done, _, err := w.do(actions.Destroy, factRuns, runs)
		if notes := backend.Join(done.Notes, " ").String(); err != nil || done.Proved || !strings.Contains(done.Text.String(), c.text) || !strings.Contains(notes, c.notes) {
			t.Errorf("%s: %+v %v", c.name, done, err)
		}
	}
	w := newWorld(t, demo.BridgeOptions{Ops: "/ops"})
	w.change(func(*demo.Box) {})
	if done, _, err := w.do(actions.Stop); err != nil || done.Proved || !strings.Contains(done.Text.String(), "its object is stopped") {
		t.Errorf("stop: %+v %v", done, err)
	}
}

// TestAPlanIsOfOneContainer: its target is told from the next container of its id, and nothing is sent to what the operator routes give
// another one just before.
func TestAPlanIsOfOneContainer(t *testing.T) {
	t.Parallel()
	started := time.Date(2026, 1, 1, 11, 0, 0, 0, time.UTC)
	of := func(container string, at time.Time) string {
		b := &backend.Sandbox{Class: backend.SandboxRunning, Reported: backend.Text("running")}
		b.Container, b.Born = backend.MustID(container), at
		return fmt.Sprint(looked(t, actions.Destroy, b, &fleet.SourceHealth{}).Identity)
	}
	first, again := of("c0", started), of("c0", started)
	if first != again || first == of("c5", started) || first == of("c0", started.Add(time.Second)) {
		t.Error("the container of a target does not tell it from another one")
	}
	for _, v := range []actions.Verb{actions.Probe, actions.Repair, actions.Stop, actions.Destroy} {
		for _, runs := range []string{runsYes, runsUnknown} {
			w := newWorld(t, demo.BridgeOptions{Ops: "/ops"})
			w.change(func(*demo.Box) {})
			w.answer = func(out http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/ops/sandboxes/"+boxID {
					return false
				}
				_, _ = io.WriteString(out, `{"id":"`+boxID+`","instance":"c5","state":"healthy"}`)
				return true
			}
			_, _, err := w.do(v, actions.FactContainer, "c0", factRuns, runs)
			if !errors.As(err, new(*actions.ChangedError)) || !strings.Contains(err.Error(), "its container is another one") || w.asks("/v1/sandbox") > 0 || w.asks("/stop") > 0 {
				t.Errorf("%s, runs %s: %v, %d requests", v, runs, err, w.asks("/v1/sandbox"))
			}
		}
	}
}

// TestAnEndIsProvedByAllThatListTheContainer: by readings after the request, in which neither the account nor the operator routes say that
// the container of the plan runs, under whatever key they have it.
func TestAnEndIsProvedByAllThatListTheContainer(t *testing.T) {
	t.Parallel()
	issued := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	type row struct {
		id, container, reported, routes string
		class                           backend.SandboxClass
		started, read                   time.Duration // after the request
	}
	const running, stopped = backend.SandboxRunning, backend.SandboxExited
	for name, c := range map[string]struct {
		rows []row
		want actions.Result
		why  string
	}{
		"running on":                   {[]row{{boxID, "c0", "running", "", running, -time.Hour, 10 * time.Second}}, actions.ResultAccepted, "the account lists it as running since 11:00:00Z"},
		"running on, the routes stale": {[]row{{boxID, "c0", "running", "stopped", running, -time.Hour, 10 * time.Second}}, actions.ResultAccepted, "since 11:00:00Z"},
		"running on for long":          {[]row{{boxID, "c0", "running", "stopped", running, -time.Hour, 2 * time.Minute}}, actions.ResultFailed, "not destroyed: 2m0s later the account lists it as running since 11:00:00Z"},
		"an older reading":             {[]row{{boxID, "c0", "stopped", "", stopped, -time.Hour, -time.Second}}, actions.ResultAccepted, "not read since"},
		"stopped":                      {[]row{{boxID, "c0", "stopped", "", stopped, -time.Hour, time.Second}}, actions.ResultVerified, "the account lists its container as stopped"},
		"stopped, the routes healthy":  {[]row{{boxID, "c0", "stopped", "healthy", stopped, -time.Hour, time.Second}}, actions.ResultAccepted, "the operator routes say healthy"},
		"under its own id":             {[]row{{"c0", "c0", "running", "", running, -time.Hour, 2 * time.Minute}}, actions.ResultFailed, "lists it as running"},
		"joined to another":            {[]row{{boxID, "c5", "running", "", running, time.Second, 2 * time.Second}, {"c0", "c0", "running", "", running, -time.Hour, 2 * time.Second}}, actions.ResultAccepted, "lists it as running"},
		"another one for it":           {[]row{{boxID, "c5", "running", "", running, time.Second, 2 * time.Second}}, actions.ResultVerified, "its container is listed no more"},
		"started again":                {[]row{{boxID, "c0", "running", "", running, time.Second, 2 * time.Second}}, actions.ResultVerified, "another one was started for it at 12:00:01Z"},
		"listed no more":               {nil, actions.ResultVerified, "lists it no longer"},
	} {
		r := backend.Reading{Source: "cf", At: issued.Add(2 * time.Minute), Scopes: []backend.Scope{{Kind: backend.KindSandbox, Complete: true}}}
		for _, x := range c.rows {
			b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID(x.id)}, ReadAt: issued.Add(x.read)},
				Class: x.class, Reported: backend.Clean(x.reported, 40), StartedAt: backend.Known(issued.Add(x.started))}
			b.Application, b.Container = backend.Text("sandboxes"), backend.MustID(x.container)
			if x.routes != "" {
				b.Labels = []backend.Field{{Name: backend.Text(backend.RoutesSayLabel), Value: backend.Clean(x.routes, 40)}}
			}
			r.Sandboxes = append(r.Sandboxes, b)
		}
		now := backend.Instant{Wall: issued.Add(2 * time.Minute)}
		st := fleet.NewFolder(time.Minute).Fold([]backend.Answer{{Source: "cf", Config: &backend.SourceConfig{Kind: "cloudflare", Interval: 10 * time.Minute}}, {Source: "cf", Reading: &r, Ended: now}}, now)
		v := ended{actions.Destroy}.Verify(actions.Target{Key: key(), Identity: []actions.Fact{{Name: actions.FactContainer, Value: "c0"}}}, issued, st)
		if v.Result != c.want || !strings.Contains(v.Why.String(), c.why) {
			t.Errorf("%s: %s, %s", name, v.Result, v.Why)
		}
	}
}

// TestADestroyThatDidNothingFails: lists that show the container as before, reading after reading, are readings; a container that was only
// asked to end may take longer. What no list that was read since shows, is not told.
func TestADestroyThatDidNothingFails(t *testing.T) {
	t.Parallel()
	issued := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		verb actions.Verb
		read time.Duration // of the list that the last reading of all holds
		want actions.Result
		why  string
	}{
		"destroyed":      {actions.Destroy, 110 * time.Second, actions.ResultFailed, "not destroyed: 1m50s later the account lists it as running since 11:00:00Z"},
		"asked to end":   {actions.Stop, 110 * time.Second, actions.ResultUnverified, "accepted, and 1m50s later the account lists it as running since 11:00:00Z"},
		"soon after":     {actions.Destroy, 10 * time.Second, actions.ResultAccepted, "the account lists it as running since 11:00:00Z"},
		"a list of then": {actions.Destroy, -10 * time.Second, actions.ResultAccepted, "it was not read since"},
	} {
		f := fleet.NewFolder(time.Minute)
		var st *fleet.State
		for _, at := range []time.Duration{-10 * time.Second, 110 * time.Second} {
			b := &backend.Sandbox{Meta: backend.Meta{Key: key(), ReadAt: issued.Add(min(at, c.read))}, Class: backend.SandboxRunning, Reported: backend.Text("running"),
				StartedAt: backend.Known(issued.Add(-time.Hour))}
			b.Application, b.Container = backend.Text("sandboxes"), backend.MustID("c0")
			now := backend.Instant{Wall: issued.Add(at)}
			r := backend.Reading{Source: "cf", At: now.Wall, Scopes: []backend.Scope{{Kind: backend.KindSandbox, Complete: true}}, Sandboxes: []*backend.Sandbox{b}}
			st = f.Fold([]backend.Answer{{Source: "cf", Config: &backend.SourceConfig{Kind: "cloudflare", Interval: 10 * time.Minute}}, {Source: "cf", Reading: &r, Ended: now}}, now)
		}
		v := ended{c.verb}.Verify(actions.Target{Key: key(), Identity: []actions.Fact{{Name: actions.FactContainer, Value: "c0"}}}, issued, st)
		if v.Result != c.want || !strings.Contains(v.Why.String(), c.why) {
			t.Errorf("%s: %s, %s", name, v.Result, v.Why)
		}
	}
}
