package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/subjects"
)

// finding are the flags of commands about one subject.
type finding struct {
	source, kind string
	narrow       bool // the command has these flags
}

func (f *finding) flags(p *Program, cmd *cobra.Command, s *shared) {
	f.narrow = true
	cmd.Flags().StringVar(&f.source, "source", "", "the id is one of this `SOURCE`")
	cmd.Flags().StringVar(&f.kind, "kind", "", "the id is one of this `KIND`, such as session or sandbox")
	p.completeFrom(cmd, "source", s, sourceIDs)
	p.complete(cmd, "kind", subjectNames())
}

// subjectNames are the kinds of subjects, as --kind takes them.
func subjectNames() []string {
	names := []string{string(views.KindAlert)}
	for _, k := range backend.SubjectKinds() {
		names = append(names, string(k.Kind))
	}
	return names
}

// check refuses a kind that does not exist.
func (f *finding) check() error {
	if f.kind != "" && !slices.Contains(subjectNames(), f.kind) {
		return usage("--kind %q is not known%s", f.kind, didYouMean(f.kind, subjectNames()))
	}
	return nil
}

// takes reports whether the flags let a subject pass.
func (f *finding) takes(k backend.Key) bool {
	return (f.source == "" || f.source == k.Source) && (f.kind == "" || f.kind == string(k.Kind))
}

// named is a subject with the texts that mean it.
type named struct {
	key  backend.Key
	path []string // whole: the id under which commands print it
	own  []string // within its parent, or what people call it
}

func name(k backend.Key, aliases ...string) named {
	n := named{key: k, path: distinct([]string{k.Path().Raw(), k.Safe().String()}), own: []string{k.ID.Raw(), k.ID.Safe().String()}}
	for _, a := range aliases {
		if a != "" {
			n.own = append(n.own, a, "/"+a)
		}
	}
	n.own = distinct(n.own)
	return n
}

// live are the subjects that the sources show, the sources and the alerts.
func (r *reading) live() []named {
	var all []named
	for _, kind := range backend.SubjectKinds() {
		rows := r.state.Rows(kind.Kind)
		for i := range rows.Len() {
			e := rows.Entity(i)
			all = append(all, name(e.EntityMeta().Key, backend.Alias(e)))
		}
	}
	for _, h := range r.state.Sources {
		all = append(all, name(h.Key))
	}
	if r.board != nil {
		for _, a := range r.board.Alerts {
			all = append(all, name(views.AlertKey(a)))
		}
	}
	return all
}

// remembered are the subjects that alerts and the timeline still name.
func (r *reading) remembered(live []named) []named {
	seen, paths := map[backend.Key]bool{}, map[string]bool{}
	for _, n := range live {
		seen[n.key], paths[string(n.key.Kind)+" "+n.path[0]] = true, true
	}
	var all []named
	add := func(k backend.Key, aliases ...string) {
		if k.ID.IsZero() || seen[k] || paths[string(k.Kind)+" "+k.Path().Raw()] {
			return
		}
		seen[k] = true
		all = append(all, name(k, aliases...))
	}
	if r.board != nil {
		for _, kind := range backend.SubjectKinds() {
			for _, p := range r.board.PastOf(kind.Kind) {
				add(p.Entity.EntityMeta().Key, backend.Alias(p.Entity))
			}
		}
		shown := views.NewSnapshot(r.now, r.state, r.board)
		for _, a := range r.board.Alerts {
			for i := range a.Subjects {
				k := a.Subjects[i].Key
				add(k, subjects.NameOf(k, shown).String()) // as check prints it
			}
		}
	}
	for i := range r.events {
		e := &r.events[i]
		for _, k := range append([]backend.Key{e.Subject}, e.About...) {
			add(k)
		}
		if id, err := backend.NewID(e.Alert); e.Alert != "" && err == nil {
			add(backend.Key{Kind: views.KindAlert, Source: e.Source, ID: id})
		}
	}
	all = append(all, r.unlisted(all)...)
	sessions := map[backend.ID]bool{}
	for _, n := range all {
		sessions[n.key.ID] = sessions[n.key.ID] || n.key.Kind == backend.KindSession
	}
	for b := range r.state.Sandboxes.All() { // a session that no source lists is known from its sandbox
		if !sessions[b.Session] {
			sessions[b.Session] = true
			add(backend.Key{Kind: backend.KindSession, Source: b.Key.Source, ID: b.Session})
		}
	}
	return all
}

// unlisted are the saved states of agent SDKs by the names of their sandboxes, where no source lists those and nothing remembers them.
func (r *reading) unlisted(known []named) (out []named) {
	for x := range r.state.Refs.All() {
		if x.Agent == nil || x.Sandbox.IsZero() || r.state.SandboxNamed(x.Sandbox, x.Provider) != nil ||
			slices.ContainsFunc(known, func(n named) bool { return n.key.Kind == backend.KindSandbox && n.key.ID == x.Sandbox }) {
			continue
		}
		out = append(out, named{key: x.Key, path: []string{x.Sandbox.Raw()}, own: []string{x.Sandbox.Raw()}})
	}
	return out
}

// find is the one subject that an id, or a unique part of an id, means: first of what is read, then of what is remembered.
func (r *reading) find(given string, f finding) (backend.Key, error) {
	if _, err := backend.NewID(given); err != nil {
		return backend.Key{}, usage("%v", err)
	}
	if err := f.check(); err != nil {
		return backend.Key{}, err
	}
	if f.source != "" && r.state.Source(f.source) == nil {
		return backend.Key{}, usage("there is no source %q%s", f.source, didYouMean(f.source, r.sources()))
	}
	live := slices.DeleteFunc(r.live(), func(n named) bool { return !f.takes(n.key) })
	gone := slices.DeleteFunc(r.remembered(live), func(n named) bool { return !f.takes(n.key) })
	for _, step := range []struct {
		among []named
		means func(named) bool
	}{
		{live, func(n named) bool { return slices.Contains(n.path, given) }},
		{live, func(n named) bool { return slices.Contains(n.own, given) }},
		{gone, func(n named) bool { return slices.Contains(n.path, given) }},
		{gone, func(n named) bool { return slices.Contains(n.own, given) }},
		{live, func(n named) bool { return holds(n.own, given) }},
		{live, func(n named) bool { return holds(n.path, given) }},
		{gone, func(n named) bool { return holds(n.own, given) }},
		{gone, func(n named) bool { return holds(n.path, given) }},
	} {
		switch all := matching(step.among, step.means); len(all) {
		case 0:
		case 1:
			return all[0].key, nil
		default:
			return backend.Key{}, ambiguous(given, all, live, f.narrow)
		}
	}
	return backend.Key{}, r.unknown("no id", given, live, r.couldKnow(f.source, backend.Kind(f.kind)))
}

func holds(texts []string, part string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, part) })
}

// matching are the subjects of which means is true. A stored reference has the path of its workspace, which is meant.
func matching(among []named, means func(named) bool) []named {
	var out []named
	workspaces := map[string]bool{}
	for _, n := range among {
		if means(n) {
			out = append(out, n)
			if n.key.Kind == backend.KindWorkspace {
				workspaces[n.path[0]] = true
			}
		}
	}
	return slices.DeleteFunc(out, func(n named) bool { return n.key.Kind == backend.KindRef && workspaces[n.path[0]] })
}

// maxCandidates bounds the subjects that an error about an ambiguous id lists.
const maxCandidates = 10

// ambiguous lists what an id can mean, each so that it can be told from all others.
func ambiguous(given string, all, among []named, narrow bool) error {
	f := &failure{code: ExitUsage, what: fmt.Sprintf("%q means %d subjects:", given, len(all)), next: "give more of one id"}
	switch whole := !slices.ContainsFunc(all, func(n named) bool { return n.path[0] != given }); {
	case narrow && whole:
		f.next = "add --source or --kind"
	case narrow:
		f.next += ", or --kind or --source"
	}
	var ids []string
	for _, n := range among {
		ids = append(ids, n.path[len(n.path)-1])
	}
	short := shorten(ids)
	for _, n := range all[:min(len(all), maxCandidates)] {
		id := n.path[len(n.path)-1]
		if s := short[id]; s != "" {
			id = s
		}
		line := fmt.Sprintf("  %s %s", n.key.Kind, id)
		if alias := n.own[len(n.own)-1]; strings.HasPrefix(alias, "/") && len(n.own) > 1 && n.key.Kind == backend.KindSandbox {
			line += " " + strings.TrimPrefix(alias, "/")
		}
		if n.key.Source != "" && n.key.Kind != backend.KindSource {
			line += " on " + n.key.Source
		}
		f.lines = append(f.lines, line)
	}
	if more := len(all) - maxCandidates; more > 0 {
		f.lines = append(f.lines, fmt.Sprintf("  and %d more", more))
	}
	return f
}

// shortID is how much of a hash is shown at least.
const shortID = 12

// shorten gives each hash its shortest beginning, at least 12 characters, that no other id has. Other ids stay whole.
func shorten(ids []string) map[string]string {
	sorted := slices.Compact(slices.Sorted(slices.Values(ids)))
	common := func(a, b string) int {
		n := 0
		for n < len(a) && n < len(b) && a[n] == b[n] {
			n++
		}
		return n
	}
	short := map[string]string{}
	for i, id := range sorted {
		if len(id) < 32 || strings.Trim(id, "0123456789abcdef") != "" {
			continue
		}
		n := shortID
		if i > 0 {
			n = max(n, common(id, sorted[i-1])+1)
		}
		if i+1 < len(sorted) {
			n = max(n, common(id, sorted[i+1])+1)
		}
		short[id] = id[:min(n, len(id))]
	}
	return short
}

// unknown says that nothing has an id: with the nearest ids, or, while a source is unread that could know it, with that.
func (r *reading) unknown(what, given string, among []named, unread []string) error {
	if len(unread) > 0 {
		return &failure{code: alerts.ExitUnknown, what: fmt.Sprintf("it is not known whether %q exists: nothing that was read has this id, and not everything could be read", given),
			lines: unread, next: "sandglass get sources", unknown: true}
	}
	f := &failure{code: ExitUsage, what: fmt.Sprintf("%s matches %q", what, given), next: "sandglass get lists the kinds, sandglass get KIND their ids"}
	var ids []string
	for _, n := range among {
		ids = append(ids, n.path[len(n.path)-1])
		for _, own := range n.own {
			ids = append(ids, strings.TrimPrefix(own, "/"))
		}
	}
	if near := backend.NearestOf(given, ids, 3); len(near) > 0 {
		f.what += "; the nearest:"
		for _, id := range near {
			f.lines = append(f.lines, "  "+id)
		}
	}
	return f
}

// measuring are the kinds of sources that read no subjects.
var measuring = [...]string{"prometheus", "promapi", "changes", "check"}

// couldKnow says which sources could have shown more than was read, and why they did not; source limits it to one.
func (r *reading) couldKnow(source string, kind backend.Kind) []string {
	var out []string
	for i := range r.state.Sources {
		h := r.state.Sources[i]
		partly := h.Status == fleet.StatusDegraded && (h.Unfinished || h.WorkspacesUnknown || len(h.Unlisted) > 0 || len(h.Problems) > 0)
		unread := h.Status == fleet.StatusDown || h.Status == fleet.StatusStarting || partly
		if !unread || slices.Contains(measuring[:], h.Kind) || source != "" && h.Key.Source != source || !mayList(h, kind) {
			continue
		}
		line := fmt.Sprintf("  source %s is %s", h.Key.Source, h.Status)
		if !h.Error.IsEmpty() {
			line += ": " + h.Error.String()
		}
		out = append(out, line)
	}
	return out
}

// mayList reports whether a source could have subjects of a kind: only an agent framework has sessions and what is in them.
func mayList(h *fleet.SourceHealth, kind backend.Kind) bool {
	inputs := slices.Clone(h.Inputs)
	for _, m := range h.Missing {
		inputs = append(inputs, m.Input)
	}
	if kind != backend.KindSession && kind != backend.KindWorkspace {
		return true
	}
	return len(inputs) == 0 || slices.ContainsFunc(inputs, backend.Input.OfFramework)
}

func (r *reading) sources() []string {
	var ids []string
	for _, h := range r.state.Sources {
		ids = append(ids, h.Key.Source)
	}
	return ids
}

// alert is the id of the alert on the Board that a unique part of an id means.
func (r *reading) alert(given string) (string, error) {
	k, err := r.find(given, finding{kind: string(views.KindAlert)})
	if err != nil {
		return "", err
	}
	for _, a := range r.board.Alerts {
		if views.AlertKey(a) == k {
			return a.ID, nil
		}
	}
	f := &failure{code: ExitUsage, what: fmt.Sprintf("alert %s is over", k.Safe()), next: "sandglass get alerts lists those that there are"}
	if e := r.lastOf(k); e != nil {
		f.what += fmt.Sprintf(" since %s: %s", moments(e.At), e.Text)
	}
	return "", f
}

// about reports whether an event names a subject or an alert.
func about(e *backend.Event, k backend.Key) bool {
	if k.Kind == views.KindAlert {
		return e.Alert == k.ID.Raw()
	}
	return e.Subject == k || slices.Contains(e.About, k)
}

// lastOf is the newest event about a subject, nil without any.
func (r *reading) lastOf(k backend.Key) *backend.Event {
	for i := range slices.Backward(r.events) {
		if about(&r.events[i], k) {
			return &r.events[i]
		}
	}
	return nil
}

// fewWords are listed whole beside the nearest one.
const fewWords = 20

// didYouMean ends an error about a word: with the nearest known one, and with all where they are few or none is near.
func didYouMean(word string, known []string) string {
	if len(known) == 0 {
		return "; there are none"
	}
	near, all := backend.Nearest(word, known), strings.Join(known, ", ")
	switch {
	case near == "":
		return "; known are " + all
	case len(known) > fewWords:
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Sprintf("; did you mean %q? Known are %s", near, all)
}
