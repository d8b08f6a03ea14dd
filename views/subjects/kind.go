package subjects

import (
	"regexp"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
)

// kinds is the table of the kinds, in the order in which `get` lists them. A new kind adds its line here.
var kinds = [...]kind{
	alertKind{base{views.KindAlert}}, workspaceKind{base{backend.KindWorkspace}}, sandboxKind{base{backend.KindSandbox}},
	sessionKind{base{backend.KindSession}}, executionKind{base{backend.KindExecution}}, jobKind{base{backend.KindJob}},
	tmpdirKind{base{backend.KindTmpdir}}, refKind{base{backend.KindRef}},
	placeKind{base{views.KindSharedStorage}}, evictionKind{base{views.KindEviction}}, rejectionKind{base{views.KindRejection}}, eventKind{base{views.KindEvent}}, sourceKind{base{backend.KindSource}}, hostKind{base{backend.KindHost}},
}

// kind is what one kind of subject looks like. A kind embeds base and replaces what is particular to it.
type kind interface {
	is() backend.Kind
	// listing is what `get`, filters and CSV show; a Listing without columns: the kind is not listed.
	listing() Listing
	// name is what people call a subject: a name or a path, otherwise its id.
	name(k backend.Key, s *views.Snapshot) backend.Safe
	// title is the heading over a subject's details; empty: the kind and the name.
	title(k backend.Key, f *views.Frame) string
	// details writes everything that is known about a subject; false: it is not there.
	details(w *writer, k backend.Key) bool
	// row is one line about a subject on the page of another.
	row(w *writer, e backend.Entity) []kit.Span
	// page chooses a page of the runbook for a subject that no alert names, and says why; empty: there is none. trouble says that
	// the subject itself shows it.
	page(k backend.Key, f *views.Frame) (incident, why string, trouble bool)
	// related calls add with what belongs to a subject, as far as evidence about it should hold that too.
	related(k backend.Key, s *views.Snapshot, add func(backend.Key))
	// summary is the state of a subject in sentences; quote marks what is foreign text.
	summary(e backend.Entity, s *views.Snapshot, quote func(backend.Safe) string) []string
	// remark is what a platform writes about a subject in its own words, which may hold ids of requests; what is its name,
	// such as "the last error of".
	remark(e backend.Entity) (what string, text backend.Safe)
	// day is the line of the day's history that shows how many subjects are in trouble; empty: there is none.
	day() fleet.LineName
}

func kindOf(k backend.Kind) kind {
	for _, x := range kinds {
		if x.is() == k {
			return x
		}
	}
	return base{k}
}

// base is a kind of which nothing particular is known.
type base struct{ kind backend.Kind }

func (b base) is() backend.Kind                                 { return b.kind }
func (base) listing() Listing                                   { return Listing{} }
func (base) name(k backend.Key, _ *views.Snapshot) backend.Safe { return k.Safe() }
func (base) title(backend.Key, *views.Frame) string             { return "" }
func (base) details(*writer, backend.Key) bool                  { return false }
func (base) row(_ *writer, e backend.Entity) []kit.Span {
	return []kit.Span{normal(e.EntityMeta().Key.Safe().String())}
}
func (base) page(backend.Key, *views.Frame) (incident, why string, trouble bool) {
	return "", "", false
}
func (base) related(backend.Key, *views.Snapshot, func(backend.Key))                     {}
func (base) remark(backend.Entity) (what string, text backend.Safe)                      { return "", backend.Safe{} }
func (base) day() fleet.LineName                                                         { return "" }
func (base) summary(backend.Entity, *views.Snapshot, func(backend.Safe) string) []string { return nil }

// Listings are all kinds that `get` can print, in its order.
func Listings() []Listing {
	var all []Listing
	for _, x := range kinds {
		if l := x.listing(); len(l.Heads) > 0 {
			l.Of = x.is()
			all = append(all, l)
		}
	}
	return all
}

// NameOf is what people call a subject: a sandbox's name, a directory's path, otherwise the id, of a long hexadecimal one the
// beginning. Empty for no subject.
func NameOf(k backend.Key, s *views.Snapshot) backend.Safe {
	if k.Kind == "" {
		return backend.Safe{}
	}
	name := kindOf(k.Kind).name(k, s)
	if hexadecimal.MatchString(name.String()) {
		return plain(name.String()[:shortID])
	}
	return name
}

// hexadecimal is an id that an engine generated.
var hexadecimal = regexp.MustCompile(`^[0-9a-f]{32,}$`)

// shortID is how much of a long hexadecimal id is shown, as container engines do.
const shortID = 12

// Title is the heading over a subject's details.
func Title(k backend.Key, f *views.Frame) string {
	if s := kindOf(k.Kind).title(k, f); s != "" {
		return s
	}
	return noun(k.Kind) + " " + NameOf(k, f.Snapshot).String()
}

// NounOf is the word for one subject of a kind.
func NounOf(k backend.Kind) string { return noun(k) }

// noun is the word for one subject of a kind.
func noun(k backend.Kind) string {
	if s := k.Spec(); s.Name != "" {
		return s.Name
	}
	return string(k)
}

// counted writes a number of subjects of a kind: "3 scratch directories".
// Counted counts subjects, by their kind where they have one.
func Counted(keys []backend.Key) string {
	for _, k := range keys {
		if k.Kind != keys[0].Kind {
			return number(len(keys), "subject")
		}
	}
	if len(keys) == 0 {
		return number(0, "subject")
	}
	return counted(len(keys), keys[0].Kind)
}

func counted(n int, k backend.Kind) string {
	if s := k.Spec(); s.Name != "" {
		return kit.Count(n, s.Name, s.Plural)
	}
	return number(n, string(k))
}

// Related calls add with what belongs to a subject, as far as evidence about it should hold that too: its session, that
// session's workspaces, sandboxes and references, the scratch directories that these mount.
func Related(k backend.Key, s *views.Snapshot, add func(backend.Key)) {
	kindOf(k.Kind).related(k, s, add)
}

// Summary is the state of a subject in sentences; quote marks what is foreign text.
func Summary(k backend.Key, s *views.Snapshot, quote func(backend.Safe) string) []string {
	if e := s.State.Entity(k); e != nil {
		return kindOf(k.Kind).summary(e, s, quote)
	}
	return nil
}

// Remark is what a platform writes about a subject in its own words; what is its name, such as "the last error of". Empty:
// nothing.
func Remark(e backend.Entity) (what string, text backend.Safe) {
	return kindOf(e.EntityMeta().Key.Kind).remark(e)
}
