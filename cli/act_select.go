package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/filter"
	"sandglass/views/subjects"
)

// selection is what a command line names.
type selection struct {
	ids    []string
	match  bool // ids are patterns
	filter string
	source string
	all    bool
}

// chosen are the subjects that a selection means.
type chosen struct {
	source  string
	keys    []backend.Key
	missing []backend.ID // ids that nothing has
	near    []string     // exact ids that missing ones can mean
}

// mostSelected bounds the ids of one command line; a plan that anybody can read has fewer.
const mostSelected = 10_000

// selection reads the selectors of a command line.
func (p *Program) selection(stdin io.Reader, a *acting, args []string) (selection, error) {
	want := selection{match: a.match, filter: a.filter, source: a.source, all: a.all && len(args) == 0 && a.filter == ""}
	for _, arg := range args {
		if arg != "-" {
			want.ids = append(want.ids, arg)
			continue
		}
		lines := bufio.NewScanner(io.LimitReader(stdin, mostSelected*(backend.MaxIDBytes+1)))
		lines.Buffer(nil, backend.MaxIDBytes+2)
		for lines.Scan() {
			if id := strings.TrimSuffix(lines.Text(), "\r"); id != "" {
				want.ids = append(want.ids, id)
			}
		}
		if err := lines.Err(); err != nil {
			return want, usage("the ids on the standard input cannot be read: %v", err)
		}
		if len(want.ids) == 0 {
			return want, &failure{code: ExitRefused, what: "nothing was done: the standard input names nothing"}
		}
	}
	switch n := len(want.ids); {
	case n == 0 && a.filter == "" && !want.all:
		return want, usage("%s needs what to act on: ids as check and get print them, - for the standard input, or --filter EXPRESSION", strings.Join(a.words, " "))
	case n > mostSelected:
		return want, usage("%d ids are too many; at most %d can be named", n, mostSelected)
	case n > 0 && a.filter != "" && !a.match:
		return want, usage("an id already names one subject: use --filter alone, or to narrow --match")
	}
	for _, id := range want.ids {
		if _, err := backend.NewID(id); err != nil {
			return want, usage("%v", err)
		}
		if _, err := path.Match(id, ""); a.match && err != nil {
			return want, usage("the pattern %q cannot be understood: %v", id, err)
		}
	}
	return want, nil
}

// place is where a verb can be done, and to what.
type place struct {
	source string
	of     backend.Kind
}

// choose finds what the selection means among the subjects of the verb.
func (x *actingStation) choose(ctx context.Context, verb actions.Verb, want selection) (chosen, error) {
	places := x.places(verb, want.source)
	rows, err := x.rows(places, want)
	if verb == actions.Purge || verb == actions.Undo {
		rows, err = x.waitingRows(ctx, want.source)
	}
	if err != nil {
		return chosen{}, err
	}
	var got chosen
	switch {
	case want.all, len(want.ids) == 0:
		for _, k := range rows.keys {
			if places[place{k.Source, k.Kind}] {
				got.keys = append(got.keys, k)
			}
		}
	case want.match:
		got.keys = rows.like(want.ids)
	default:
		if got, err = rows.named(want.ids); err != nil {
			return chosen{}, err
		}
	}
	if len(got.keys) == 0 {
		return chosen{}, x.nothing(verb, want, got)
	}
	return x.onOneSource(got)
}

// onOneSource refuses what a plan cannot hold; nothing at all is on no source.
func (x *actingStation) onOneSource(got chosen) (chosen, error) {
	if len(got.keys) == 0 {
		return got, nil
	}
	if got.source = got.keys[0].Source; slices.ContainsFunc(got.keys, func(k backend.Key) bool { return k.Source != got.source }) {
		return chosen{}, several(got.keys)
	}
	return got, nil
}

// places are where a verb is known, each with whether it is available there.
func (x *actingStation) places(verb actions.Verb, source string) map[place]bool {
	places := map[place]bool{}
	for _, a := range x.operator.All() {
		if a.Spec.Verb == verb && (source == "" || source == a.Source) {
			places[place{a.Source, a.Spec.Of}] = places[place{a.Source, a.Spec.Of}] || a.Denied.IsEmpty()
		}
	}
	return places
}

// rows are the subjects of some places, with what people call them.
type rows struct {
	keys   []backend.Key
	names  [][]string // of each key
	byName map[string][]backend.Key
}

// rows reads the tables in the order in which get prints them. A filter leaves out what does not match.
func (x *actingStation) rows(places map[place]bool, want selection) (*rows, error) {
	state, board := x.Alerts.Latest()
	ctx := views.NewSnapshot(x.p.Now(), state, board)
	out := &rows{byName: map[string][]backend.Key{}}
	for _, l := range subjects.Listings() {
		if !hasKind(places, l.Of) {
			continue
		}
		var fields []string
		for _, h := range l.Heads {
			fields = append(fields, h.Name)
		}
		f, err := filter.Parse(want.filter, fields...)
		if err != nil {
			return nil, usage("%v", err)
		}
		for r := range l.Each(ctx) {
			k := r.Key()
			if _, here := places[place{k.Source, k.Kind}]; !here || !f.Match(r) {
				continue
			}
			out.add(k, namesOf(ctx, k))
		}
	}
	return out, nil
}

func (r *rows) add(k backend.Key, names []string) {
	r.keys, r.names = append(r.keys, k), append(r.names, names)
	for _, n := range names {
		r.byName[n] = append(r.byName[n], k)
	}
}

func hasKind(places map[place]bool, kind backend.Kind) bool {
	for at := range places {
		if at.of == kind {
			return true
		}
	}
	return false
}

// namesOf are the texts that mean a subject: its raw id as JSON has it and as text has it, what people call it.
func namesOf(s *views.Snapshot, k backend.Key) []string {
	names := []string{k.Path().Raw(), k.Path().Safe().String(), subjects.NameOf(k, s).String()}
	if e := s.State.Entity(k); e != nil && backend.Alias(e) != "" {
		names = append(names, backend.Alias(e))
	}
	return distinct(names)
}

// like are the subjects of which a name matches one of the patterns.
func (r *rows) like(patterns []string) []backend.Key {
	var out []backend.Key
	for i, k := range r.keys {
		if slices.ContainsFunc(r.names[i], func(name string) bool {
			return slices.ContainsFunc(patterns, func(p string) bool {
				ok, err := path.Match(p, name)
				return err == nil && ok
			})
		}) {
			out = append(out, k)
		}
	}
	return out
}

// named are the subjects of exactly these names. A name of several subjects is refused.
func (r *rows) named(ids []string) (chosen, error) {
	var got chosen
	var twice []string
	whole := true // the ids that are ambiguous are whole ones
	for _, id := range ids {
		switch keys := r.byName[id]; len(keys) {
		case 0:
			got.missing, got.near = append(got.missing, backend.MustID(id)), append(got.near, r.near(id)...)
		case 1:
			got.keys = append(got.keys, keys[0])
		default:
			for _, k := range keys {
				whole = whole && k.Path().Raw() == id
				twice = append(twice, fmt.Sprintf("  %s: the %s %s of %s", backend.Clean(id, 200), k.Kind, k.Path().Safe(), backend.Clean(k.Source, 80)))
			}
		}
	}
	if len(twice) > 0 {
		next := "name the source with --source, or give the whole id"
		if whole {
			next = "name the source with --source"
		}
		return got, &failure{code: ExitRefused, what: "nothing was done: an id is ambiguous:", lines: twice, next: next}
	}
	return got, nil
}

// mostNear bounds the ids that are offered in the place of one that no source lists.
const mostNear = 5

// near are the exact ids of the subjects that part of an id, or a misspelt one, can mean, each with what people call it.
func (r *rows) near(id string) []string {
	var lines, all []string
	line := func(i int) {
		exact := r.keys[i].Path().Safe().String()
		for _, n := range r.names[i] {
			if n != exact && n != r.keys[i].Path().Raw() {
				exact += "  (" + backend.Clean(n, 80).String() + ")"
				break
			}
		}
		if len(lines) < mostNear && !slices.Contains(lines, "  "+exact) {
			lines = append(lines, "  "+exact)
		}
	}
	for i := range r.keys {
		if all = append(all, r.names[i]...); holds(r.names[i], id) {
			line(i)
		}
	}
	if len(lines) > 0 {
		return lines
	}
	near := backend.NearestOf(id, all, mostNear)
	for i := range r.keys {
		if slices.ContainsFunc(r.names[i], func(n string) bool { return slices.Contains(near, n) }) {
			line(i)
		}
	}
	return lines
}

// nothing says why there is nothing to act on.
func (x *actingStation) nothing(verb actions.Verb, want selection, got chosen) error {
	f := &failure{code: ExitRefused, what: "nothing was done: there is nothing to act on"}
	switch {
	case want.match:
		f.what = "nothing was done: no id matches"
	case want.filter != "":
		f.what = "nothing was done: no row matches the filter"
	case len(got.missing) > 0:
		f.code, f.what = ExitUsage, "nothing was done: no source lists"
		for i, id := range got.missing {
			if i == 20 {
				f.lines = append(f.lines, fmt.Sprintf("  and %d more", len(got.missing)-i))
				break
			}
			f.lines = append(f.lines, "  "+id.Safe().String())
		}
		f.next = "copy the id from sandglass get, or name it by a pattern with --match"
		if len(got.near) > 0 {
			f.lines = append(f.lines, "a verb takes a whole id or name; did you mean")
			f.lines = append(f.lines, distinct(got.near)[:min(len(distinct(got.near)), mostNear)]...)
		}
	}
	f.lines = append(f.lines, x.lacks(verb, want.source)...)
	state, _ := x.Alerts.Latest()
	for _, h := range state.Sources {
		if h.Status == fleet.StatusDown || h.Status == fleet.StatusStarting {
			for at := range x.places(verb, want.source) {
				if at.source == h.Key.Source {
					f.lines = append(f.lines, fmt.Sprintf("the source %s is %s: %s", h.Key.Source, h.Status, h.Error))
					f.code = ExitRefused // it may list the id
					break
				}
			}
		}
	}
	return f
}

// several refuses what lies on more than one source.
func several(keys []backend.Key) error {
	n := map[string]int{}
	var order []string
	for _, k := range keys {
		if n[k.Source]++; n[k.Source] == 1 {
			order = append(order, k.Source)
		}
	}
	f := &failure{code: ExitRefused, what: "nothing was done: a plan acts on one source, and this is on several:",
		next: "plan one after the other, with --source"}
	for _, s := range order {
		f.lines = append(f.lines, fmt.Sprintf("  %s: %d", s, n[s]))
	}
	return f
}
