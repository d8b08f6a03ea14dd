package plan

import (
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// many is a run over n targets of which half were acted on.
func many(n int) actions.Progress {
	p := &actions.Plan{Verb: actions.Reset, Title: "reset", Of: backend.KindWorkspace, Environment: "prod-eu", Digest: "0123456789abcdef", Made: time.Unix(1000, 0),
		Gesture: actions.GestureCount, Source: "helix-eu"}
	out := actions.Progress{Plan: p, Phase: actions.PhaseActing, Wave: 3, Waves: 3, Began: time.Unix(1000, 0)}
	for i := range n {
		t := actions.Target{Label: backend.Textf("session-%05d/notes", i), Owner: backend.Textf("session-%05d", i)}
		p.Targets = append(p.Targets, t)
		l := actions.Line{Target: t, Wave: 3}
		if i < n/2 {
			l.Result, l.Text, l.At, l.Issued = actions.ResultAccepted, backend.Text("204 No Content: no success was reported yet"), time.Unix(1001, 0), time.Unix(1001, 0)
		}
		out.Lines = append(out.Lines, l)
		p.Excluded = append(p.Excluded, actions.Exclusion{Label: backend.Textf("closed-%05d", i), Why: backend.Text("it is open, not failed")})
	}
	return out
}

func BenchmarkRunOfTenThousand(b *testing.B) {
	t := theme.New(theme.NoColours, theme.ASCII)
	v := Progress{Progress: many(10_000), Now: time.Unix(1100, 0), Pager: &kit.Pager{}}
	for b.Loop() {
		v.Draw(120, 40, t)
	}
}

func BenchmarkPlanOfTenThousand(b *testing.B) {
	t := theme.New(theme.NoColours, theme.ASCII)
	d := Dialog{Plan: many(10_000).Plan, Ready: true, Now: time.Unix(1010, 0), Pager: &kit.Pager{}}
	for b.Loop() {
		d.Draw(120, 40, t)
	}
}
