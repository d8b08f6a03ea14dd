// Package plan draws what is about to be done and what is being done: the dialog of a plan, the progress of a run, the
// list of verbs. They are pure functions of what they are given.
package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Dialog is the state of a plan's dialog.
type Dialog struct {
	Plan  *actions.Plan
	Typed string
	Key   string // the verb's key, for a light confirmation
	Ready bool   // keys count: the dialog has been on the screen for long enough
	// Pressed says that the first press of a light confirmation counts: one more confirms.
	Pressed bool
	// Diff says what is different from the plan before, after it expired.
	Diff []backend.Safe
	// Note is one line about the last key; Wrong says that it is about a mistake. Busy: it is on its way.
	Note        string
	Wrong, Busy bool
	Spin        string // drawn while Busy
	Now         time.Time
	Pager       *kit.Pager
	Choice      int           // under the cursor, where the plan has choices
	Reach       backend.Reach // of the commands that it names
}

// width is how wide dialogs are where there is room, widest how wide one gets whose targets need it.
const (
	width  = 100
	widest = 140
)

// Draw draws the dialog in at most w×h cells and returns the position of the cursor.
func (d *Dialog) Draw(w, h int, t *theme.Theme) (block kit.Block, x, y int) {
	w = min(w, max(width, min(layOut(d.Plan.Targets, widest).natural()+4, widest)))
	inner := w - 4
	foot, typed := d.footer(inner, t)
	advice, body, cautions := d.advice(inner, t), d.body(inner, t), d.cautions(inner, t)
	if len(advice)+len(body)+len(cautions)+len(foot)+2 <= h {
		foot = slices.Concat(foot[:1], cautions, foot[1:]) // in sight, right above what is typed
	} else if len(cautions) > 0 {
		body = slices.Concat(cautions, []string{kit.NewLine(t, inner).String()}, body) // first, and the targets can be reached
	}
	body = slices.Concat(advice, body)
	room := max(h-2-len(foot), 1)
	hint := len(body) > room && room > 2
	if hint {
		room--
	}
	visible, above, below := d.Pager.Window(body, room)
	if n := len(d.Plan.Choices); n > 0 { // they are the last lines
		d.Pager.Show(len(body) - n + d.Choice)
		visible, above, below = d.Pager.Window(body, room)
	}
	if hint {
		visible = append(slices.Clone(visible), scrollHint(inner, above, below, t))
	}
	lines := append(slices.Clone(visible), foot...)
	if extra := len(lines) + 2 - h; extra > 0 && extra < len(lines) {
		lines = lines[extra:] // a very small window keeps what is typed
	}
	return kit.Frame(t, w, d.title(w), lines), 2 + typed, len(lines)
}

func scrollHint(w, above, below int, t *theme.Theme) string {
	text := fmt.Sprintf("%d more below: down and pgdn show them", below)
	if below == 0 {
		text = fmt.Sprintf("%d more above", above)
	}
	return kit.NewLine(t, w).End(theme.Dim, text).String()
}

func (d *Dialog) title(w int) string {
	p := d.Plan
	what, where := Subject(p)
	plan, valid := "plan "+p.Digest[:8], "expired"
	if !d.Plan.Expired(d.Now) {
		valid = "expires in " + backend.Age(p.Expires().Sub(d.Now))
	}
	if p.DryRun {
		plan = "dry run, " + plan
	}
	return titleLine(what, where, w, plan+", "+valid, valid)
}

// titleLine sets a frame's title to the left and the first of rights that leaves it room to the right. It cuts a long
// subject before the environment, which matters as much.
func titleLine(what, where string, w int, rights ...string) string {
	right := rights[len(rights)-1]
	for _, r := range rights {
		if w-7-kit.Width(r) >= min(kit.Width(what+where), 24) {
			right = r
			break
		}
	}
	room := w - 7 - kit.Width(right)
	if kit.Width(what+where) > room {
		what = kit.Cut(what, max(room-kit.Width(where), min(room, 12)))
	}
	left := what + where
	if kit.Width(left) > room {
		left = kit.Cut(left, room)
	}
	return left + " " + strings.Repeat("─", max(w-8-kit.Width(left)-kit.Width(right), 0)) + " " + right
}

// Subject names a plan, "destroy 3 sandboxes", and where it happens, " in prod-eu".
func Subject(p *actions.Plan) (what, where string) {
	what = fmt.Sprintf("%s %s", p.Title, Count(len(p.Targets), p.Of))
	switch left := len(p.Excluded); {
	case len(p.Targets) > 1 && left > 0:
		what = fmt.Sprintf("%s %s of %s", p.Title, kit.Number(len(p.Targets)), Count(len(p.Targets)+left, p.Of))
	case len(p.Targets) == 1:
		what = p.Title + " " + p.Targets[0].Label.String()
	case len(p.Targets) == 0 && left <= 1:
		what = p.Title + " nothing"
	case len(p.Targets) == 0 && left > 1:
		what = fmt.Sprintf("%s none of %s", p.Title, Count(left, p.Of))
	}
	env := backend.Clean(p.Environment, 40).String()
	if p.Production {
		env += " (production)"
	}
	return what, " in " + env
}

// Count writes a number of subjects of a kind. A scratch directory is a directory here: titles are short.
func Count(n int, of backend.Kind) string {
	spec := of.Spec()
	return backend.Counted(n, strings.TrimPrefix(spec.Name, "scratch "), strings.TrimPrefix(spec.Plural, "scratch "))
}

// pasted is our own text with commands that can be pasted.
func (d *Dialog) pasted(text backend.Safe) string { return backend.WithFlags(text, d.Reach).String() }

// advice is what speaks against the plan, and what is damaged.
func (d *Dialog) advice(w int, t *theme.Theme) (lines []string) {
	put := lineAppender(&lines, w, t)
	for _, a := range d.Plan.Advice {
		if !d.besideInput(a) {
			put(theme.Warn, d.pasted(a))
		}
	}
	return lines
}

// besideInput reports whether a line of advice stands where the answer is typed: in sight, however far the targets are scrolled.
func (d *Dialog) besideInput(a backend.Safe) bool {
	return strings.HasPrefix(a.String(), "not now: ") && len(d.Plan.Targets) > 0
}

// body is the part that scrolls: the effect, the targets, the exclusions.
func (d *Dialog) body(w int, t *theme.Theme) []string {
	p := d.Plan
	var lines []string
	put := lineAppender(&lines, w, t)
	for _, x := range d.Diff {
		put(theme.Accent, "a new plan: "+x.String())
	}
	put(theme.Dim, backend.Clean(p.Effect, 400).String())
	if p.Cost != "" {
		put(theme.Dim, "cost: "+backend.Clean(p.Cost, 400).String())
	}
	if len(p.Targets) > 0 {
		lines = append(append(lines, ""), d.targets(w, t)...)
	}
	if len(p.Excluded) > 0 {
		lines = append(append(lines, ""), excluded(p.Excluded, len(p.Targets) == 0, w, t)...)
	}
	lines = append(lines, d.choices(w, t)...)
	for i, l := range lines {
		if l == "" {
			lines[i] = kit.NewLine(t, w).String()
		}
	}
	return lines
}

// choices are the lines to choose of, one each.
func (d *Dialog) choices(w int, t *theme.Theme) (lines []string) {
	if len(d.Plan.Choices) == 0 {
		return nil
	}
	lines = append(lines, "", kit.NewLine(t, w).Put(theme.Dim, "CHOOSE ONE").String())
	for i, c := range d.Plan.Choices {
		l := kit.NewLine(t, w)
		if i == d.Choice {
			l.OnCursor().Put(theme.Accent, "› ")
		} else {
			l.Gap(2)
		}
		lines = append(lines, l.Put(theme.Normal, kit.Cut(c.Text.String(), w-2)).String())
	}
	return lines
}

// mostNamed is how many of those that are left out for one reason are named.
const mostNamed = 6

// excluded groups excluded targets by their reason, in the order of the first of each. all: the plan has no other targets, so the
// exclusions are not dimmed.
func excluded(xs []actions.Exclusion, all bool, w int, t *theme.Theme) []string {
	var reasons []backend.Safe
	by := map[backend.Safe][]string{}
	for _, x := range xs {
		if _, ok := by[x.Why]; !ok {
			reasons = append(reasons, x.Why)
		}
		by[x.Why] = append(by[x.Why], x.Label.String())
	}
	out := []string{kit.NewLine(t, w).Put(theme.Dim, fmt.Sprintf("LEFT OUT  %d", len(xs))).String()}
	tone := theme.Dim
	if all {
		tone = theme.Normal
	}
	asked := false
	for _, x := range xs {
		asked = asked || x.Hidden
	}
	for _, r := range reasons {
		names := by[r]
		text := strings.Join(names[:min(len(names), mostNamed)], ", ")
		if n := len(names) - mostNamed; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
		for i, l := range kit.Wrap(text+": "+r.String(), w-2) {
			line := kit.NewLine(t, w)
			if i > 0 {
				line.Gap(2)
			}
			out = append(out, line.Put(tone, l).String())
		}
	}
	if asked {
		for _, l := range kit.Wrap("to include one that the filter hides, type: with NAME", w) {
			out = append(out, kit.NewLine(t, w).Put(theme.Normal, l).String())
		}
	}
	return out
}

// cautions are warnings, refusals with what sets them aside, and what was set aside.
func (d *Dialog) cautions(w int, t *theme.Theme) (lines []string) {
	p := d.Plan
	put := lineAppender(&lines, w, t)
	for _, x := range p.Warnings {
		put(theme.Warn, d.pasted(x))
	}
	open := p.Open()
	if len(p.Targets) == 0 && len(open) == 1 { // no refusal: what was left out says why
		put(theme.Strong, d.pasted(open[0].Why))
		if len(p.Excluded) == 0 {
			put(theme.Normal, d.pasted(open[0].Next))
		}
		open = nil
	}
	for i, r := range open {
		for j, l := range kit.Wrap("refused: "+d.pasted(r.Why), w) {
			line := kit.NewLine(t, w)
			if rest, first := strings.CutPrefix(l, "refused:"); first && j == 0 {
				line.Put(theme.Critical, "refused:")
				l = rest
			}
			lines = append(lines, line.Put(theme.Normal, l).String())
		}
		if same := i+1 < len(open) && open[i+1].Next == r.Next; !same && !r.Next.IsEmpty() {
			put(theme.Strong, d.pasted(r.Next))
		}
	}
	if p.Params.PurgeNow {
		put(theme.Warn, "they are removed at once: there is no grace and no undo")
	}
	for _, word := range p.Overrides {
		put(theme.Warn, "overridden: "+backend.Clean(word, 60).String())
	}
	return lines
}

// lineAppender appends wrapped lines of w cells.
func lineAppender(lines *[]string, w int, t *theme.Theme) func(theme.Tone, string) {
	return func(tone theme.Tone, text string) {
		for _, l := range kit.Wrap(text, w) {
			*lines = append(*lines, kit.NewLine(t, w).Put(tone, l).String())
		}
	}
}

// footer is the part that does not scroll: who acts, and the input. typed is the cursor's column on the last line.
func (d *Dialog) footer(w int, t *theme.Theme) (lines []string, typed int) {
	p := d.Plan
	put := lineAppender(&lines, w, t)
	lines = append(lines, kit.Rule(t, w))
	if p.Undo != "" && len(p.Targets) > 0 {
		put(theme.Dim, "undo: "+backend.Clean(p.Undo, 200).String())
	} else if p.Verb == actions.Reset && len(p.Targets) > 0 {
		put(theme.Dim, "undo: it cannot be undone")
	}
	if len(p.Targets) > 0 {
		put(theme.Dim, "you act "+Who(p)+"; source "+backend.Clean(p.Source, 60).String()+". Each target is read again first. The journal records it.")
	}
	if p.MayPurge() { // last: it has no undo
		put(theme.Dim, "to remove them at once, without undo, type: "+actions.WordPurgeNow)
	}
	tone := theme.Dim
	if d.Wrong {
		tone = theme.Warn
	}
	if d.Note != "" {
		put(tone, d.Note)
	}
	for _, a := range p.Advice {
		if d.besideInput(a) {
			put(theme.Warn, d.pasted(a))
		}
	}
	asks, input := d.prompt()
	if n, id, counted := strings.Cut(p.Wants(), " "); input && counted && p.Gesture == actions.GestureCount && len(p.Targets) > 0 && len(p.Open()) == 0 {
		put(theme.Dim, fmt.Sprintf("%s = %s, %s = this plan", n, strings.TrimPrefix(Count(len(p.Targets), p.Of), kit.Number(len(p.Targets))+" "), id))
	}
	shown := backend.Clean(d.Typed, 80).String()
	ask := longestFitting(asks, w, 0)
	if input {
		ask = longestFitting(asks, w, 2+max(kit.Width(shown), 12))
	}
	l := kit.NewLine(t, w).Put(theme.Normal, ask)
	if !input {
		return append(lines, l.String()), min(kit.Width(ask), w-1)
	}
	shown = kit.CutLeft(shown, max(w-kit.Width(ask)-3, 1)) // what was typed last is what counts
	l.Gap(2).Put(theme.Strong, shown)
	return append(lines, l.String()), min(kit.Width(ask)+2+kit.Width(shown), w-1)
}

// longestFitting is the first of the texts that leaves room for more cells within w, or else the last one.
func longestFitting(texts []string, w, more int) string {
	for _, s := range texts {
		if kit.Width(s)+more < w {
			return s
		}
	}
	return texts[len(texts)-1]
}

// prompt is the last line, from its longest wording to its shortest: what to type, and whether there is anything to type.
func (d *Dialog) prompt() (texts []string, input bool) {
	p := d.Plan
	words, hidden := p.Words(), len(p.Hidden()) > 0
	switch {
	case d.Busy:
		return []string{d.Spin}, false
	case len(p.Choices) > 0 && !p.Expired(d.Now):
		return []string{"up and down choose, enter makes the plan for it, esc leaves", "choose, then enter; or esc"}, false
	case (len(p.Targets) == 0 || len(p.Open()) > 0 && len(words) == 0) && !hidden:
		return []string{"esc leaves"}, false
	case p.Expired(d.Now):
		return []string{"the plan has expired; enter makes a new one, esc leaves", "expired; enter makes a new one"}, false
	case len(words) > 0:
		return []string{"type the words to go on, esc leaves:", "type the words:"}, true
	case !d.Ready:
		return []string{"read it"}, false
	case len(p.Targets) == 0 || len(p.Open()) > 0:
		return []string{"esc leaves; with NAME includes what is hidden:", "with NAME, or esc:"}, true
	case p.Gesture == actions.GestureTwice:
		times := "twice"
		if d.Pressed {
			times = "again"
		}
		return []string{"press " + d.Key + " " + times + " within 5 s to go ahead, esc leaves", "press " + d.Key + " " + times + ", or esc"}, false
	}
	return []string{"type  " + p.Wants() + "  and enter to go ahead, esc leaves:", "type  " + p.Wants() + "  then enter:", p.Wants() + " ?"}, true
}

// Enter reports whether enter does anything: not where nothing can be typed, nor where a key pressed twice confirms.
func (d *Dialog) Enter() bool {
	p := d.Plan
	words, hidden := len(p.Words()) > 0, len(p.Hidden()) > 0
	switch {
	case p.Expired(d.Now), words, hidden, len(p.Choices) > 0:
		return true
	case len(p.Targets) == 0, len(p.Open()) > 0:
		return false
	}
	return p.Gesture != actions.GestureTwice
}

// Who says who acts: "as mara on bastion-2".
func Who(p *actions.Plan) string {
	name := p.Who.User.String()
	if !p.Who.Claimed.IsEmpty() {
		name = p.Who.Claimed.String() + " (" + name + ")"
	}
	return "as " + name + " on " + p.Who.Host.String()
}
