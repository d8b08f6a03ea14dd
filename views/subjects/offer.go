package subjects

import (
	"cmp"
	"slices"
	"strings"

	"sandglass/actions"
	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// The headings of a page answer, in this order, what an engineer asks at night.
const (
	headWhat = "What is broken"
	headWhy  = "Why"
	headDo   = "What you can safely do"
	headThen = "Then"
	headActs = "Actions"

	headAlerts = "Alerts that name it"
	headRead   = "What was read"
)

// section begins a part of a page; where there is little room the parts follow each other without headings.
func (w *writer) section(title string) {
	if w.headed {
		w.Head(title)
	}
}

// part is a section that is left out where nothing is written in it.
func (w *writer) part(title string, write func()) {
	if w.headed {
		w.Under(title, write)
	} else {
		write()
	}
}

// offers writes which verbs this console has for the subjects, and why not where it has them not; the diagnosis says which of them
// are unsafe now. Where this console cannot act at all, nothing is written.
func (w *writer) offers(subjects []backend.Key, d *runbook.Diagnosis) {
	if w.f.Acting.Abilities == nil {
		return
	}
	type group struct {
		source string
		kind   backend.Kind
	}
	count, seen, n := map[group]int{}, map[actions.Verb]bool{}, 0
	var denied []actions.Ability
	for _, k := range subjects {
		count[group{k.Source, k.Kind}]++
	}
	for _, k := range subjects {
		at := group{k.Source, k.Kind}
		many := count[at]
		if many == 0 {
			continue // the first of its group spoke for all
		}
		count[at] = 0
		for _, x := range w.f.Acting.AbilitiesFor(k) {
			if seen[x.Spec.Verb] {
				continue
			}
			seen[x.Spec.Verb] = true
			if !x.Denied.IsEmpty() {
				denied = append(denied, x)
				continue
			}
			refused := Unfit(x.Spec.Verb, subjects, w.f.Snapshot)
			if !refused.IsEmpty() && (x.Spec.Verb == actions.Resume || x.Spec.Verb == actions.Repair) {
				continue // the list of verbs says why
			}
			n++
			if refused.IsEmpty() {
				refused = NotNow(x.Spec.Verb, d, many)
			}
			w.offer(label(n, "act"), &x, many, refused)
		}
	}
	for i, r := range actions.RefusedTogether(denied) { // verbs that share a reason are one line
		w.Field(label(i+1, "not now"), dim(r.Names()+": "+w.f.Pasted(r.Why.String())))
	}
}

// Unfit is why a verb fits none of the subjects, as far as their state says it; empty: it may fit one.
func Unfit(v actions.Verb, keys []backend.Key, c *views.Snapshot) backend.Safe {
	switch {
	case v == actions.Reset:
		return noneFailed(keys, c)
	case v == actions.Prove && len(keys) > 1:
		return backend.Text("it compares with one sandbox: choose one")
	}
	why := unfit{}
	for i, k := range keys {
		var own unfit
		switch e := c.State.Entity(k).(type) {
		case *backend.Sandbox:
			if own = refusedBy(v, e, c); own == (unfit{}) {
				own = misfit(v, e)
			}
		case *backend.Tmpdir:
			own = unfitTmpdir(v, e)
		}
		switch {
		case own == unfit{}:
			return backend.Safe{}
		case i == 0:
			why = own
		case own != why:
			why = unfit{many: "it fits none of them"}
		}
	}
	if len(keys) > 1 {
		return cmp.Or(why.all, backend.Text(why.many))
	}
	return cmp.Or(why.all, backend.Text(why.one))
}

// unfit is why a verb does not fit one sandbox, and several; or what its action says of all of them.
type unfit struct {
	one, many backend.Literal
	all       backend.Safe
}

// refusedBy is why the action of a verb refuses a sandbox by what was read of it.
func refusedBy(v actions.Verb, b *backend.Sandbox, c *views.Snapshot) unfit {
	return unfit{all: c.State.Unfit(string(v), b)}
}

// misfit is why a verb does not fit a sandbox in the state that was read last; empty: it may fit.
func misfit(v actions.Verb, b *backend.Sandbox) unfit {
	runs := b.Class == backend.SandboxRunning
	switch {
	case !b.IsSandbox:
		return unfit{one: "it is not a sandbox: a label or selector decides", many: "they are not sandboxes: a label or selector decides"}
	case v == actions.Start && runs:
		return unfit{one: "it runs already", many: "they run already"}
	case v == actions.Start && b.Class == backend.SandboxPaused:
		return unfit{one: "it is paused: resume it", many: "they are paused: resume them"}
	case !slices.Contains([]actions.Verb{actions.Probe, actions.Repair, actions.Pause, actions.Resume, actions.Stop, actions.Restart, actions.Shell}, v):
	case b.Class == backend.SandboxExited || b.Class == backend.SandboxDead || b.Class == backend.SandboxCreated:
		return unfit{one: "it does not run", many: "they do not run"}
	case v == actions.Resume && runs:
		return unfit{one: "it runs already", many: "they run already"}
	case v == actions.Pause && b.Class == backend.SandboxPaused:
		return unfit{one: "it is paused already", many: "they are paused already"}
	case v == actions.Repair && runs && !noWorkDir(b):
		return unfit{one: "no missing working directory was seen; probe it", many: "no missing working directory was seen; probe them"}
	}
	return unfit{}
}

// unfitTmpdir is why a verb does not fit a scratch directory that is where agents use it.
func unfitTmpdir(v actions.Verb, d *backend.Tmpdir) unfit {
	held, known := d.Holders.Get()
	switch {
	case v == actions.Clean && known && len(held) > 0:
		return unfit{one: "a process uses it", many: "processes use them"}
	case v == actions.Undo || v == actions.Purge:
		return unfit{one: "it is not quarantined", many: "they are not quarantined"}
	}
	return unfit{}
}

// noneFailed is why a reset has nothing to do; empty: some workspace may be failed.
func noneFailed(keys []backend.Key, c *views.Snapshot) backend.Safe {
	evicted := len(keys) > 0
	for _, k := range keys {
		w := c.State.Workspace(k)
		if w == nil || w.Class == backend.ClassFailed {
			return backend.Safe{}
		}
		evicted = evicted && w.Class == backend.ClassEvicted
	}
	switch {
	case len(keys) == 0:
		return backend.Safe{}
	case evicted && len(keys) == 1:
		return backend.Text("evicted, not failed: it comes back at its next use")
	case evicted:
		return backend.Text("evicted, not failed: they come back at their next use")
	case len(keys) == 1:
		return backend.Text("it is not failed: there is nothing to reset")
	}
	return backend.Text("none is failed: there is nothing to reset")
}

func (w *writer) offer(label string, x *actions.Ability, many int, refused backend.Safe) {
	key := cmp.Or(w.f.Keys.OfVerb(w.f.In, string(x.Spec.Verb)), " ")
	text := backend.Clean(x.Spec.Effect, 300).String()
	if many > 1 {
		text = counted(many, x.Spec.Of) + ": " + text
	}
	switch {
	case !refused.IsEmpty():
		w.Field(label, dim(key+" "+string(x.Spec.Verb)+"  "), kit.Span{Tone: theme.Warn, Text: "not now: " + refused.String()})
	default:
		w.Field(label, kit.Span{Tone: theme.Accent, Text: key}, kit.Span{Tone: theme.Strong, Text: " " + string(x.Spec.Verb)}, normal("  "+text))
	}
}

// subjectsOf are the keys of an alert's subjects.
func subjectsOf(a *alerts.Alert) []backend.Key {
	out := make([]backend.Key, len(a.Subjects))
	for i := range a.Subjects {
		out[i] = a.Subjects[i].Key
	}
	return out
}

// reading says which page of the runbook is about it; how is what else there is to look at.
func (w *writer) reading(incident, how string) {
	if w.f.Printed {
		return // the page itself follows
	}
	spans := []kit.Span{{Tone: theme.Accent, Text: "R"}, normal(" " + pageName(incident))}
	if page, ok := runbook.Incident(incident); ok {
		spans = append(spans, dim(", "+strings.ToLower(page.Title.String())))
	}
	if how != "" {
		spans = append(spans, dim("; "), normal(how))
	}
	w.Field("next", spans...)
}

// urgent writes what an engineer looks for first on the page of a thing: the alerts that name it, and what to do before all else.
// The facts behind them follow, headed where something stands before them; nil: none are left. It returns what doable goes on with.
func (w *writer) urgent(key backend.Key, facts func()) (of backend.Key, page Page, ok bool) {
	before := w.Len()
	named := w.naming(key)
	page, ok = PageOf(key, w.f)
	d := w.f.Diagnoses[page.Question]
	if ok && page.Trouble && d != nil && !w.f.Printed && key.Kind != backend.KindSource {
		w.Under(headDo, func() { w.firstSteps(d) })
	}
	if named && ok && page.Rule != "" && w.page == nil { // a document that holds its page says more of it below
		w.Head(headWhy)
		w.reason(d)
	}
	switch {
	case facts == nil:
	case w.Len() > before:
		w.Under(headRead, facts)
	default:
		facts()
	}
	return key, page, ok
}

// doable writes what can be done to one thing, and what to read first.
func (w *writer) doable(key backend.Key, page Page, ok bool) {
	if key.Kind == backend.KindSource && w.f.Printed {
		return // its page is about every source
	}
	if w.f.Printed {
		w.quotes(views.Question{Subject: key})
		w.pageHere()
		return
	}
	ok = ok && key.Kind != backend.KindSource // its page is about every source
	doctor := w.f.Acting.Examines && (key.Kind == backend.KindSource || key.Kind == backend.KindSandbox)
	if w.f.Acting.Abilities == nil && !doctor && !ok {
		return
	}
	w.Head(headActs)
	before := w.Len()
	w.offers([]backend.Key{key}, w.f.Diagnoses[page.Question])
	if doctor {
		w.Field("look", kit.Span{Tone: theme.Accent, Text: ":"}, kit.Span{Tone: theme.Strong, Text: "doctor"}, normal("  tries every read route of "+key.Source+", and writes a redacted sample"))
	}
	if w.Len() == before && w.f.Acting.Abilities != nil {
		w.Field("act", dim("nothing: Sandglass has no verb for "+key.Kind.Spec().Plural+" of this source"))
	}
	if ok {
		w.reading(page.Incident, "")
	}
}
