package plan

import (
	"fmt"
	"slices"
	"time"

	"charm.land/bubbles/v2/progress"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Progress is the state of the view of a run.
type Progress struct {
	actions.Progress
	// Suspect is the sandbox that prove is compared with; nil: there is none, or it is gone.
	Suspect *backend.Sandbox
	Now     time.Time
	Pager   *kit.Pager
	Note    string
	Reach   backend.Reach // of the commands that it names
}

// Draw draws the run in at most w×h cells: a bar, a line for each target, and what can be done.
func (v *Progress) Draw(w, h int, t *theme.Theme) kit.Block {
	w = min(w, width)
	inner := w - 4
	head, foot := v.head(inner, t), v.footer(inner, t)
	room := max(h-2-len(head)-len(foot), 1)
	lines := v.lines(inner, t)
	visible, above, below := v.Pager.Window(lines, room)
	if above+below > 0 && room > 2 {
		visible, above, below = v.Pager.Window(lines, room-1)
		visible = append(slices.Clone(visible), scrollHint(inner, above, below, t))
	}
	all := slices.Concat(head, visible, foot)
	if extra := len(all) + 2 - h; extra > 0 && extra < len(all)-1 { // a very small window keeps the bar and the keys
		all = append(all[:1:1], all[1+extra:]...)
	}
	what, where := Subject(v.Plan)
	return kit.Frame(t, w, titleLine(what, where, w, "plan "+v.Plan.Digest[:8]), all)
}

func (v *Progress) head(w int, t *theme.Theme) []string {
	count := fmt.Sprintf("%d of %d", v.Acted(), len(v.Lines))
	if v.Waves > 1 {
		count += fmt.Sprintf(" · batch %d of %d", max(v.Wave, 1), v.Waves)
	}
	count += " · " + backend.Age(v.end().Sub(v.Began))
	cells := max(w-kit.Width(count)-2, 0)
	l := kit.NewLine(t, w)
	done := 0
	if len(v.Lines) > 0 {
		done = v.settled() * cells / len(v.Lines)
	}
	full := theme.Good
	if v.Count(actions.ResultFailed, actions.ResultFailedAgain, actions.ResultUnknown) > 0 {
		full = theme.Warn
	}
	bar := progress.New(progress.WithWidth(cells), progress.WithoutPercentage(), progress.WithFillCharacters(t.Bar(true), t.Bar(false)))
	bar.FullColor, bar.EmptyColor = t.Style(full).GetForeground(), t.Style(theme.Dim).GetForeground()
	l.Styled(bar.ViewAs(float64(done)/float64(max(cells, 1))), cells)
	l.Gap(2).Put(theme.Strong, count)
	tone := theme.Normal
	text := string(v.Phase)
	switch v.Phase {
	case actions.PhaseStopped:
		tone = theme.Warn
	case actions.PhaseWaiting:
		tone = theme.Accent
	case actions.PhaseDone:
		text = v.Summary().String()
		if v.Overall() != actions.ResultVerified {
			tone = theme.Warn
		}
	case actions.PhaseActing, actions.PhaseVerifying:
	}
	if !v.Why.IsEmpty() {
		text += ": " + v.Why.String()
	}
	out := []string{l.String()}
	for _, s := range kit.Wrap(text, w) {
		out = append(out, kit.NewLine(t, w).Put(tone, s).String())
	}
	if c := v.concludes(); !c.IsEmpty() {
		for _, s := range kit.Wrap(c.String(), w) {
			out = append(out, kit.NewLine(t, w).Put(theme.Strong, s).String())
		}
	}
	return append(out, kit.NewLine(t, w).String())
}

// concludes is what a run of prove says about the platform and the suspect; empty: nothing, or nothing yet.
func (v *Progress) concludes() backend.Safe {
	if v.Plan.Verb != actions.Prove || !v.Over() || len(v.Lines) == 0 {
		return backend.Safe{}
	}
	return actions.Compared(&v.Lines[0], v.Suspect, v.Now)
}

func (v *Progress) end() time.Time {
	if v.Over() {
		return v.Ended
	}
	return v.Now
}

// settled counts the targets whose result is final.
func (v *Progress) settled() int {
	return len(v.Lines) - v.Count(actions.ResultNone, actions.ResultIssued, actions.ResultAccepted, actions.ResultUnknown)
}

func (v *Progress) lines(w int, t *theme.Theme) []string {
	name, word := 6, 6
	for i := range v.Lines {
		name = max(name, kit.Width(v.Lines[i].Target.Label.String()))
		word = max(word, kit.Width(resultWord(&v.Lines[i])))
	}
	name = min(name, max(w*2/5, 12))
	var out []string
	for i := range v.Lines {
		l := &v.Lines[i]
		mark, tone := resultMark(l.Result)
		age := ""
		if !l.At.IsZero() {
			age = backend.Age(v.Now.Sub(l.At))
		}
		line := kit.NewLine(t, w).Put(tone, t.Mark(mark)).Gap(1).Cell(theme.Normal, l.Target.Label.String(), name, false).Gap(2).
			Cell(tone, resultWord(l), word, false).Gap(2)
		text := l.Text.String()
		room := line.Left() - 6
		fits := kit.Width(text) <= room
		if fits {
			line.Put(theme.Dim, text)
		}
		out = append(out, line.End(theme.Dim, age).String())
		if !fits { // a cause is never cut off: it gets lines of its own
			for _, more := range kit.Wrap(text, w-4) {
				out = append(out, kit.NewLine(t, w).Gap(4).Put(theme.Dim, more).String())
			}
		}
		out = append(out, v.steps(l, w, t)...)
		for _, n := range l.Done.Notes {
			for _, part := range kit.Wrap(backend.WithFlags(n, v.Reach).String(), w-4) {
				out = append(out, kit.NewLine(t, w).Gap(4).Put(theme.Dim, part).String())
			}
		}
	}
	return out
}

func resultWord(l *actions.Line) string {
	if l.Result == actions.ResultNone {
		return "waits"
	}
	return string(l.Result)
}

func resultMark(r actions.Result) (theme.Mark, theme.Tone) {
	switch r {
	case actions.ResultVerified:
		return theme.MarkGood, theme.Good
	case actions.ResultFailed, actions.ResultFailedAgain, actions.ResultRefused:
		return theme.MarkBad, theme.Bad
	case actions.ResultUnknown, actions.ResultUnverified:
		return theme.MarkUnknown, theme.Warn
	case actions.ResultIssued, actions.ResultAccepted:
		return theme.MarkBusy, theme.Normal
	case actions.ResultSkipped, actions.ResultEnded, actions.ResultNone:
	}
	return theme.MarkIdle, theme.Dim
}

func (v *Progress) footer(w int, t *theme.Theme) []string {
	out := []string{kit.Rule(t, w)}
	put := func(tone theme.Tone, text string) {
		for _, l := range kit.Wrap(text, w) {
			out = append(out, kit.NewLine(t, w).Put(tone, l).String())
		}
	}
	if v.Over() && v.Phase != actions.PhaseDone {
		put(theme.Normal, v.Summary().String())
	}
	if !v.Problem.IsEmpty() {
		put(theme.Critical, v.Problem.String())
	}
	if v.Note != "" {
		put(theme.Warn, v.Note)
	}
	tone, texts := theme.Dim, []string{"esc stops before the next target · v hides this, and it goes on", "esc stops it · v hides it", "esc stops"}
	switch {
	case v.Over():
		texts = []string{backend.CommandsWith("esc leaves; v shows it again; all of it is in the journal: sandglass audit show", v.Reach), "esc leaves; v shows it again", "esc leaves"}
	case !v.Own:
		by := v.Plan.Who.Name().String()
		texts = []string{by + " carries it out, and it goes on · esc leaves", by + " carries it out · esc leaves", "esc leaves"}
	case v.CanContinue:
		tone, texts = theme.Normal, []string{"c starts the next batch · esc stops here · v hides this, and it goes on", "c starts the next · esc stops here", "c starts · esc"}
	}
	return append(out, kit.NewLine(t, w).Put(tone, longestFitting(texts, w+1, 0)).String())
}
