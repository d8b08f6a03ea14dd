package ui

import (
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
)

// without takes the row with a key out of what a feed shows.
func without(feed Feed, gone backend.Key) {
	if h, past := feed.(*historyFeed); past {
		for e := range views.EventRows(h.events) {
			if e.Key == gone {
				h.events = slices.DeleteFunc(slices.Clone(h.events), func(x backend.Event) bool { return x.At.Equal(e.At) })
				break
			}
		}
		feed = h.fixedFeed
	}
	fixed := feed.(*fixedFeed)
	s, b := *fixed.state, alerts.Board{}
	if fixed.board != nil {
		b = *fixed.board
	}
	s.Number += 2 // no history leads from one to the other
	s.Workspaces, s.Sandboxes, s.Sessions = tableWithout(s.Workspaces, gone), tableWithout(s.Sandboxes, gone), tableWithout(s.Sessions, gone)
	s.Tmpdirs, s.Executions, s.Jobs = tableWithout(s.Tmpdirs, gone), tableWithout(s.Executions, gone), tableWithout(s.Jobs, gone)
	s.Sources = slices.DeleteFunc(slices.Clone(s.Sources), func(h *fleet.SourceHealth) bool {
		return h.Key == gone || gone.Kind == views.KindEviction && h.Key.Source == gone.Source
	})
	for x := range views.RejectionRows(&s) {
		if x.Key == gone {
			i := slices.IndexFunc(s.Sources, func(h *fleet.SourceHealth) bool { return h.Key.Source == gone.Source })
			h := *s.Sources[i]
			h.Rejections = slices.DeleteFunc(slices.Clone(h.Rejections), func(r *backend.Rejection) bool { return r == x.Rejection })
			s.Sources[i] = &h
			break
		}
	}
	b.Alerts = slices.DeleteFunc(slices.Clone(b.Alerts), func(a *alerts.Alert) bool { return views.AlertKey(a) == gone })
	fixed.state, fixed.board = &s, &b
}

func tableWithout[T any, P interface {
	*T
	backend.Entity
}](t fleet.Table[T, P], gone backend.Key) fleet.Table[T, P] {
	var kept []P
	for e := range t.All() {
		if e.EntityMeta().Key != gone {
			kept = append(kept, e)
		}
	}
	return fleet.NewTable[T, P](kept...)
}

// unknownFleet has one row of each kind of which only the key is known.
func unknownFleet() (*fleet.State, *alerts.Board) {
	meta := func(k backend.Kind) backend.Meta {
		return backend.Meta{Key: backend.Key{Kind: k, Source: "src", ID: backend.MustID("x")}}
	}
	return &fleet.State{Number: 1, Wall: noonUTC,
		Workspaces: fleet.NewTable(&backend.Workspace{Meta: meta(backend.KindWorkspace)}),
		Sandboxes:  fleet.NewTable(&backend.Sandbox{Meta: meta(backend.KindSandbox), IsSandbox: true}),
		Sessions:   fleet.NewTable(&backend.Session{Meta: meta(backend.KindSession)}),
		Executions: fleet.NewTable(&backend.Execution{Meta: meta(backend.KindExecution)}),
		Tmpdirs:    fleet.NewTable(&backend.Tmpdir{Meta: meta(backend.KindTmpdir)}),
		Sources: []*fleet.SourceHealth{{Key: meta(backend.KindSource).Key, Status: fleet.StatusOK, LastOK: noonUTC,
			Inputs: []backend.Input{backend.InputEvictions, backend.InputRejections}, Rejections: []*backend.Rejection{{}}}},
	}, &alerts.Board{Number: 1, At: noonUTC, Alerts: []*alerts.Alert{{ID: "a", Rule: "r", Source: "src", Severity: alerts.SeverityWarning, State: alerts.StateHeld, Since: noonUTC.Add(-time.Minute)}}}
}
