package subjects

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views"
)

// leastEcho is the length, in bytes, from which on a text that stands twice is a nuisance.
const leastEcho = 8

// tell notes a text that the document holds from here on.
func (w *writer) tell(s backend.Safe) {
	if t := strings.TrimSuffix(BareError(s.String()), "…"); t != "" && !slices.Contains(w.told, t) {
		w.told = append(w.told, t)
	}
}

// tellError is tell for what a provider met, which facts quote.
func (w *writer) tellError(s backend.Safe) {
	w.tell(s)
	if t := strings.TrimSuffix(BareError(s.String()), "…"); len(t) >= leastEcho && !slices.Contains(w.errors, t) {
		w.errors = append(w.errors, t)
	}
}

// Echoes reports whether a statement of an alert only repeats its cause.
func Echoes(cause, text backend.Safe) bool {
	w := writer{}
	w.tell(cause)
	return strings.HasPrefix(text.String(), "lastError: ") && w.news(text.String()) != text.String()
}

// words are the words of a text without the signs around them.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" ,;:()'\"", r) })
}

// news is what a text says beyond the errors that the document holds: all of it, its words that they lack, or nothing.
func (w *writer) news(s string) string {
	bare := strings.TrimSuffix(BareError(s), "…")
	for _, t := range w.told {
		known, all := words(t), words(bare)
		lacking := slices.DeleteFunc(slices.Clone(all), func(x string) bool { return slices.Contains(known, x) || outcomeWords[x] })
		if len(known) > 1 && 3*len(lacking) <= len(all) {
			return strings.Join(lacking, " ")
		}
	}
	return s
}

// saysMore reports whether a text has words that none of the others has.
func saysMore(text string, others ...string) bool {
	known := plainWords(strings.Join(others, " "))
	return slices.ContainsFunc(plainWords(text), func(x string) bool { return !slices.Contains(known, x) })
}

// plainWords are the words of a text as a comparison needs them: in lower case, without the end of a sentence and articles.
func plainWords(s string) []string {
	list := words(strings.ToLower(s))
	for i, x := range list {
		list[i] = strings.TrimRight(x, ".")
	}
	return slices.DeleteFunc(list, func(x string) bool { return x == "" || x == "the" || x == "its" })
}

// stamp is a moment as a fact of several days writes it.
var stamp = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// concise is the conclusion of a diagnosis beside its alert: its first sentence, and of the rest what neither that nor the alert
// says. Of a rest "name: kind: fact" the parts that are known go.
func concise(conclusion, known string, now time.Time) string {
	conclusion = stamp.ReplaceAllStringFunc(conclusion, func(s string) string {
		if t, err := time.Parse(time.RFC3339, s); err == nil {
			return Clock(t, now)
		}
		return s
	})
	first, rest, more := strings.Cut(conclusion, ". ")
	if !more {
		return conclusion
	}
	first += "."
	for known += " " + first; ; {
		part, behind, is := strings.Cut(rest, ": ")
		switch {
		case !saysMore(rest, known):
			return first
		case !is || saysMore(part, known):
			head, width := utf8.DecodeRuneInString(rest)
			return first + " " + string(unicode.ToUpper(head)) + rest[width:]
		}
		rest = behind
	}
}

// outcomeWords begin what a rule says of a subject before its error.
var outcomeWords = map[string]bool{"failed": true, "evicted": true, "lastError": true, "newest": true, "WorkspaceFailedError": true, "WorkspaceEvictedError": true}

// once is a fact of a diagnosis in which an error that the document already holds is named, not repeated.
func (w *writer) once(fact string) string {
	for _, e := range w.errors {
		for _, name := range []string{"WorkspaceFailedError: ", "WorkspaceEvictedError: ", ""} {
			fact = strings.ReplaceAll(fact, " fires: "+name+e, " fires: the cause above")
			fact = strings.ReplaceAll(fact, ": "+name+e, ": the error above")
		}
		if rest, begins := strings.CutPrefix(fact, e); begins && rest != "" {
			fact = "the error above" + rest
		}
		fact = strings.ReplaceAll(fact, "the error above(", "the error above (")
	}
	for _, e := range w.quoted {
		if strings.Contains(fact, strings.TrimSuffix(BareError(e.String()), "…")) {
			w.tellError(e)
		}
	}
	return fact
}

// mostQuoted bounds the errors that a document looks for in its facts, and quotedRunes is how much of one facts quote.
const (
	mostQuoted  = 50
	quotedRunes = 200
)

// quotes finds the errors that the facts of a page can quote: those of its subject, or of the subjects of its alert. One that
// differs little from what the document holds is held too.
func (w *writer) quotes(q views.Question) {
	add := func(k backend.Key) {
		x := w.f.State.Workspace(k)
		if x == nil || x.LastError.IsEmpty() || len(w.quoted) >= mostQuoted {
			return
		}
		e := backend.Clean(x.LastError.String(), quotedRunes)
		if w.news(e.String()) != e.String() {
			w.tellError(e)
		}
		w.quoted = append(w.quoted, e)
	}
	add(q.Subject)
	if a := w.f.Alert(q.Subject); a != nil || q.Alert != "" {
		for _, x := range w.f.Board.Alerts {
			if x.ID == q.Alert || x == a {
				for i := range x.Subjects {
					add(x.Subjects[i].Key)
				}
			}
		}
	}
	for x := range w.f.State.Workspaces.Of(backend.KindWorkspace, q.Subject.Source, q.Subject.ID) {
		if q.Subject.Kind == backend.KindSession {
			add(x.Key)
		}
	}
}

// warnings says why a reset or a destroy is not safe now.
func (w *writer) warnings(d *runbook.Diagnosis) {
	for _, x := range []struct {
		label string
		why   backend.Safe
	}{{"no reset", d.NoReset}, {"no destroy", d.NoDestroy}} {
		if !x.why.IsEmpty() {
			w.Field(x.label, warn(x.why.String()))
		}
	}
}
