package text

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views/kit"
)

// WritePlan prints the plan for people: advice, targets with what each loses, what is left out and why, warnings,
// refusals, and how to go on.
func WritePlan(w io.Writer, d *Plan) error {
	var b strings.Builder
	d.head(&b)
	for i := range d.Targets {
		d.Targets[i].write(&b)
	}
	d.writeExcluded(&b)
	for _, s := range d.Warnings {
		fmt.Fprintf(&b, "\nwarning: %s\n", s)
	}
	d.writeRefusals(&b)
	d.foot(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// shownExcluded is how many ids the text form lists for each reason to leave something alone.
const shownExcluded = 20

// writeExcluded lists what is left alone, by reason.
func (d *Plan) writeExcluded(b *strings.Builder) {
	all := d.Excluded
	for _, id := range d.NotListed {
		all = append(slices.Clip(all), PlanExclusion{id, id.Safe(), backend.Text("no source lists it")})
	}
	if len(all) == 0 {
		return
	}
	by := map[backend.Safe][]PlanExclusion{}
	var reasons []backend.Safe
	for _, x := range all {
		if by[x.Why] == nil {
			reasons = append(reasons, x.Why)
		}
		by[x.Why] = append(by[x.Why], x)
	}
	fmt.Fprintf(b, "\nleft alone: %s\n", kit.Number(len(all)))
	for _, why := range reasons {
		fmt.Fprintf(b, "  %s\n", why)
		for i, x := range by[why] {
			if i == shownExcluded {
				fmt.Fprintf(b, "      and %s more; -o json lists all\n", kit.Number(len(by[why])-i))
				break
			}
			fmt.Fprintf(b, "      %s\n", named(x.ID, x.Label))
		}
	}
}

// named is what people know a subject by, with its id where that is another one: of a hash the beginning, as engines print
// it. The path alone means a directory.
func named(id backend.ID, label backend.Safe) string {
	s := briefHashes(id.Safe().String())
	switch {
	case label.IsEmpty() || label == id.Safe():
		return s
	case strings.HasSuffix(id.Safe().String(), ":"+label.String()):
		return label.String()
	}
	return label.String() + "  (" + s + ")"
}

// hash is an id that an engine generated; its beginning tells it from others.
var hash = regexp.MustCompile(`\b([0-9a-f]{12})[0-9a-f]{52}\b`)

// briefHashes shows of each hash what engines show; -o json has it whole.
func briefHashes(s string) string { return hash.ReplaceAllString(s, "$1") }

func (d *Plan) head(b *strings.Builder) {
	for _, s := range d.Advice {
		fmt.Fprintf(b, "%s\n", s)
	}
	where := d.Environment.String()
	if d.Production {
		where += ", production"
	}
	fmt.Fprintf(b, "%s %s on %s (%s)\n", backend.Clean(d.title, 100), backend.Counted(len(d.Targets), d.Kind.Spec().Name, d.Kind.Spec().Plural), d.Source, where)
	fmt.Fprintf(b, "  effect: %s\n", d.Effect)
	if !d.Cost.IsEmpty() {
		fmt.Fprintf(b, "  cost: %s\n", d.Cost)
	}
	if d.Undo != nil {
		fmt.Fprintf(b, "  undo: %s\n", *d.Undo)
	} else {
		b.WriteString("  undo: it cannot be undone\n")
	}
	if d.Reason != nil {
		fmt.Fprintf(b, "  reason: %s\n", *d.Reason)
	}
	if d.Bytes != nil {
		fmt.Fprintf(b, "  size: %s\n", backend.Bytes(*d.Bytes))
	}
	if len(d.Targets) > 0 {
		b.WriteString("\n")
	}
}

func (t *PlanTarget) write(b *strings.Builder) {
	b.WriteString("  " + named(t.ID, t.Label))
	if t.Owner != nil {
		fmt.Fprintf(b, ", %s", *t.Owner)
	}
	if t.Bytes != nil {
		fmt.Fprintf(b, ", %s", backend.Bytes(*t.Bytes))
	}
	b.WriteByte('\n')
	var facts []string
	for _, f := range t.Identity {
		if f.Value != t.ID.Safe() && !f.Value.IsEmpty() && !t.noted(f.Value) {
			facts = append(facts, fmt.Sprintf("%s %s", f.Name, briefHashes(f.Value.String())))
		}
	}
	if len(facts) > 0 {
		fmt.Fprintf(b, "      as read: %s\n", strings.Join(facts, ", "))
	}
	for _, s := range t.Loses {
		fmt.Fprintf(b, "      loses: %s\n", s)
	}
	for _, s := range t.Notes {
		fmt.Fprintf(b, "      note: %s\n", s)
	}
}

// noted reports whether a note says the same as a fact.
func (t *PlanTarget) noted(fact backend.Safe) bool {
	return slices.ContainsFunc(t.Notes, func(n backend.Safe) bool {
		said, is := strings.CutPrefix(n.String(), "runs ")
		return is && strings.HasPrefix(fact.String(), said+", sum ")
	})
}

// sameWayOut reports whether what is next is the same for both refusals, so that it needs to be said once.
func (r *PlanRefusal) sameWayOut(o *PlanRefusal) bool {
	return !r.SetAside && r.Next != nil && o.Next != nil && *r.Next == *o.Next && r.Word != nil && o.Word != nil && *r.Word == *o.Word
}

func (d *Plan) writeRefusals(b *strings.Builder) {
	for i, r := range d.Refusals {
		word := "refused"
		if r.SetAside {
			word = "overridden"
		}
		fmt.Fprintf(b, "\n%s: %s\n", word, r.Why)
		if r.SetAside || i+1 < len(d.Refusals) && d.Refusals[i+1].sameWayOut(&r) {
			continue
		}
		if r.Next != nil {
			fmt.Fprintf(b, "  next: %s\n", *r.Next)
		}
		if r.Word != nil {
			fmt.Fprintf(b, "  on the command line: --override %s\n", Quoted(*r.Word))
		}
	}
}

func (d *Plan) foot(b *strings.Builder) {
	switch {
	case d.Refused:
		b.WriteString("\nNothing was done, and this plan cannot be carried out.\n")
	case d.Digest == nil:
		b.WriteString("\nNothing was done: this is a dry run.\n")
	case d.Unnamed != "":
		fmt.Fprintf(b, "\nNothing was done yet. The journal must say who acts, and %s.\n"+
			"Run the same command again with --by and your name, or set SANDGLASS_USER: it then prints the command line that carries the plan out.\nplan %s\n", d.Unnamed, *d.Digest)
	default:
		fmt.Fprintf(b, "\nNothing was done yet. The plan can be confirmed until %s, once. To carry it out:\n  %s\nplan %s\n",
			d.Expires.UTC().Format("15:04:05 UTC"), CommandLine(d.Next), *d.Digest)
	}
}

// WriteRun prints what became of a plan.
func WriteRun(w io.Writer, d *Plan) error {
	var b strings.Builder
	r := d.Run
	fmt.Fprintf(&b, "%s %s on %s", backend.Clean(d.title, 100), plural(len(r.Lines), string(d.Kind)), d.Source)
	if d.Digest != nil {
		fmt.Fprintf(&b, ", plan %s", *d.Digest)
	}
	fmt.Fprintf(&b, ": %s\n", r.Summary)
	for i := range r.Lines {
		l := &r.Lines[i]
		result := "not begun"
		if l.Result != nil {
			result = string(*l.Result)
		}
		if d.DryRun && result == string(actions.ResultAccepted) {
			result = "would be done"
		}
		fmt.Fprintf(&b, "  %s: %s", l.Label, result)
		if s := l.Text.String(); s != "" && s != result {
			fmt.Fprintf(&b, ", %s", s)
		}
		b.WriteByte('\n')
		writeSteps(&b, l.Steps, r.Beside, d.Time.Time)
		for _, n := range l.Notes {
			fmt.Fprintf(&b, "      note: %s\n", n)
		}
	}
	if r.Concludes != nil {
		fmt.Fprintf(&b, "%s\n", *r.Concludes)
	}
	if r.Stopped != nil {
		fmt.Fprintf(&b, "stopped: %s\n", *r.Stopped)
	}
	if r.Problem != nil {
		fmt.Fprintf(&b, "problem: %s\n", *r.Problem)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeSteps prints the steps of an effect as a table, beside what was observed of a suspect sandbox; nil: there is none.
func writeSteps(b *strings.Builder, steps []PlanStep, suspect *PlanSuspect, now time.Time) {
	if len(steps) == 0 {
		return
	}
	rows := [][]string{{"STEP", "RESULT", "TOOK"}}
	if suspect != nil {
		rows[0] = append(rows[0], strings.ToUpper(suspect.Name.String()))
	}
	for _, s := range steps {
		row := []string{s.Name.String(), string(s.Result), "–"}
		if s.Took != nil {
			row[2] = kit.Latency(time.Duration(*s.Took * float64(time.Second)))
		}
		if suspect != nil {
			row = append(row, suspect.on(s.Plane, now).String())
		}
		if s.Said != nil {
			row = append(row, s.Said.String())
		}
		rows = append(rows, row)
	}
	width := make([]int, len(rows[0])+1)
	for _, row := range rows {
		for i, c := range row {
			width[i] = max(width[i], kit.Width(c))
		}
	}
	for _, row := range rows {
		line := "     "
		for i, c := range row {
			line += " " + c + strings.Repeat(" ", width[i]-kit.Width(c)+1)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// on is what was observed of the suspect on a plane; a step without one has no counterpart.
func (s *PlanSuspect) on(plane *backend.Plane, now time.Time) backend.Safe {
	if plane == nil {
		return backend.Text("–")
	}
	return actions.Beside(s.Observed.Or(backend.Observation{}), s.Reported, *plane, now)
}

// CommandLine is an argument vector as a POSIX shell reads it.
func CommandLine(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = Quoted(a)
	}
	return strings.Join(words, " ")
}

// Quoted is one word of a POSIX shell. What cannot be drawn is not fit for copying from a screen either, and is drawn
// safely.
func Quoted(s string) string { return backend.ShellWord(s).String() }
