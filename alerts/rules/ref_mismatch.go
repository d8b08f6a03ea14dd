package rules

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// RefOptions are the keys of `[rules.ref-mismatch]`.
type RefOptions struct {
	Common
}

func refDefaults() *RefOptions {
	return &RefOptions{Common: common(alerts.SeverityCritical)}
}

func (o *RefOptions) build() (alerts.Rule, error) {
	r := &refMismatch{base: o.base("ref-mismatch", backend.KindWorkspace, backend.InputRegistry, backend.InputRegistry)}
	r.meta.Inhibits = sameCause("failed-too-long", "hammered-and-failing")
	r.meta.Alone = alerts.Alone{Input: backend.InputRefs, Sees: backend.Text("a stored reference of a running session to a sandbox that is gone or was made again,")}
	return r, nil
}

type refMismatch struct{ base }

// danglingNote is since when a reference of a running session was read that names a sandbox which is not listed. What one look
// cannot prove, since it reads lists, references and sessions one after the other, the next one does, also of another process.
type danglingNote struct {
	Sandbox backend.ID `json:"sandbox"`
	Seen    time.Time  `json:"seen"` // steady
}

// NewNote is about a workspace or a reference.
func (r *refMismatch) NewNote(key backend.Key) alerts.Note {
	if key.Kind == backend.KindRef {
		return alerts.NoteOf(new(danglingNote))
	}
	return alerts.NoteOf(new(failureRun))
}

func (r *refMismatch) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	w, ok := e.(*backend.Workspace)
	if !ok {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	return judgeNamed(env, w, known, func(n alerts.Naming) bool {
		return n&(alerts.NamesSchema|alerts.NamesStrict) != 0 || n&alerts.NamesGone != 0 && n&alerts.NamesConfiguration == 0
	}, "6")
}

func (r *refMismatch) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	w, _ := oldest.(*backend.Workspace)
	out := workspaceEvidence(env, a, w)
	if w == nil || env.NamesOf(w)&alerts.NamesSchema == 0 {
		return out
	}
	if e, ok := versions(env, w.Key.Source); ok {
		out = append(out, e)
	}
	return out
}

// versions is the histogram of the schema versions in the stored references.
func versions(env *alerts.Env, home string) (alerts.Evidence, bool) {
	counts := map[int]int{}
	var e alerts.Evidence
	for x := range env.State.Refs.All() {
		h := env.State.Source(x.Key.Source)
		if v, ok := x.SchemaVersion.Get(); ok && (h == nil || h.ReportsOn(home)) {
			counts[v]++
			e.Source, e.At = x.Key.Source, env.Display(env.ReadAt(&x.Meta))
		}
	}
	if len(counts) == 0 {
		return e, false
	}
	list := make([]int, 0, len(counts))
	for v := range counts {
		list = append(list, v)
	}
	slices.Sort(list)
	parts := make([]backend.Safe, 0, len(list))
	for _, v := range list {
		verb := backend.Literal("have")
		if counts[v] == 1 {
			verb = "has"
		}
		parts = append(parts, backend.Textf("%d %s version %d", counts[v], backend.Text(verb), v))
	}
	e.Text = backend.Textf("of the stored references %s", backend.Join(parts, ", "))
	return e, true
}

// JudgeFleet compares stored references with the sandboxes that are listed.
func (r *refMismatch) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	found := map[backend.Key]alerts.Verdict{}
	for key := range known.Findings {
		if key.Kind == backend.KindRef && known.Finding(key) != alerts.StateEnded {
			found[key] = alerts.Verdict{Outcome: alerts.False}
		}
	}
	if env.State.Refs.Len() > 0 {
		for key, note := range known.All {
			if _, is := found[key]; key.Kind == backend.KindRef && !is && !note.IsZero() {
				found[key] = alerts.Verdict{Outcome: alerts.False}
			}
		}
		r.dangling(env, known, found)
		r.newer(env, found)
	}
	out := make([]alerts.Found, 0, len(found))
	for key, v := range found {
		if v.Outcome != alerts.True && known.Finding(key) == "" && v.Note.IsZero() && known.Note(key).IsZero() {
			continue
		}
		out = append(out, alerts.Found{Key: key, Verdict: v})
	}
	stable.Sort(out, func(a, b alerts.Found) int { return a.Key.Compare(b.Key) })
	return out
}

// sandboxes are what one source of containers lists.
type sandboxes struct {
	source string
	ids    []string
}

func (s *sandboxes) has(id string) bool {
	at, is := slices.BinarySearch(s.ids, id)
	// A stored id may be the short form of the listed one, as container engines write it.
	return is || len(id) >= 12 && at < len(s.ids) && strings.HasPrefix(s.ids[at], id)
}

// dangling finds the references of running sessions that lead nowhere.
func (r *refMismatch) dangling(env *alerts.Env, known alerts.Known, found map[backend.Key]alerts.Verdict) {
	lists, why := r.lists(env)
	for key := range found {
		if len(lists) == 0 {
			found[key] = alerts.Verdict{Outcome: alerts.NoData, Why: why}
		}
	}
	if len(lists) == 0 {
		return
	}
	proves := map[backend.Safe]*sandboxes{} // by provider: the list in which its ids are found
	for x := range env.State.Refs.All() {
		if x.Sandbox.IsZero() || proves[x.Provider] != nil {
			continue
		}
		for i := range lists {
			if lists[i].has(x.Sandbox.Raw()) {
				proves[x.Provider] = &lists[i]
			}
		}
	}
	var others map[backend.ID][]*backend.Sandbox
	for x := range env.State.Refs.All() {
		list, ended := proves[x.Provider], env.State.EndedOf(x)
		if x.Agent != nil && !x.Sandbox.IsZero() && env.State.SandboxNamed(x.Sandbox, x.Provider) == nil {
			whole, missing, is := platformList(env, x, lists, list)
			if !is {
				found[x.Key] = missing
				continue
			}
			list = whole
		}
		if ended != nil && list != nil && list.source != ended.Key.Source {
			list = nil // another one lists it
		}
		there := ended == nil && list != nil && (list.has(x.Sandbox.Raw()) || env.State.SandboxNamed(x.Sandbox, x.Provider) != nil)
		if x.Sandbox.IsZero() || list == nil || there || x.Stale {
			continue
		}
		if why := env.State.Source(list.source).OwnOpen(x); ended == nil && !why.IsEmpty() {
			found[x.Key] = alerts.Verdict{Outcome: alerts.NoData, Source: list.source, Why: why}
			continue
		}
		if _, why, gap := env.Gap(x.Key.Source); gap {
			found[x.Key] = alerts.Verdict{Outcome: alerts.NoData, Why: why}
			continue
		}
		if others == nil {
			others = sandboxesBySession(env)
		}
		if replaced(env, x, others[x.Session]) {
			delete(found, x.Key)
			continue
		}
		home := env.HomeOf(backend.Series{Source: x.Key.Source, Session: x.Session})
		if first := unreadHome(env, home); first != "" { // nothing tells whether its session runs
			found[x.Key] = alerts.Verdict{Outcome: alerts.NoData, Source: first, Why: backend.Textf("%s has not been read yet", backend.Clean(first, 80))}
			continue
		}
		s := env.State.Session(backend.Key{Kind: backend.KindSession, Source: home, ID: x.Session})
		if s == nil || !s.Running.Or(false) && !s.ListedRunning.Or(false) {
			continue
		}
		listed := env.State.Source(list.source)
		before := alerts.NoteAs[danglingNote](known.Note(x.Key))
		note, stands := dangles(env, x, before), known.Finding(x.Key) == alerts.StateFiring || known.Finding(x.Key) == alerts.StateHeld
		v := r.lost(env, x, s, home, list, ended)
		v.Note = alerts.NoteOf(note)
		if note.Seen.Before(v.Bounds.Latest) { // a look before this one showed it
			v.Bounds.Latest = note.Seen
		}
		switch {
		case stands && note == before: // it was proved of the same sandbox, and nothing disproves it
			found[x.Key] = v
		case proved(env, x, s, listed, !stands), note.again(env, x, s, listed), saysEnded(env, x, s, ended):
			found[x.Key] = v
		case !stands && (ended != nil || !env.Ours(listed.LastOK).Before(env.Time(&x.Meta, x.SavedAt).Add(listed.Interval))):
			v.Suspected, v.Why = true, backend.Text("its session may have ended meanwhile: fires where the next reading shows it running still")
			if ended == nil {
				v.Why = backend.Text("its sandbox may be new, or its session over: fires where the next readings still show it so")
			}
			found[x.Key] = v
		case known.Finding(x.Key) != "":
			delete(found, x.Key) // it stays as it is
		default: // the list is older than the reference
			found[x.Key] = alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(note)}
		}
	}
}

// unreadHome is the source of sessions that was not read yet in this run, where the session of a reference may be; empty: none.
func unreadHome(env *alerts.Env, home string) string {
	for _, h := range env.State.Sources {
		if h.Status == fleet.StatusStarting && (h.Key.Source == home || home == "" && h.Watches(backend.InputRegistry)) {
			return h.Key.Source
		}
	}
	return ""
}

// saysEnded reports whether one look proves that a session that runs lost its sandbox: its platform lists that as ended, since before
// the session was read.
func saysEnded(env *alerts.Env, x *backend.Ref, s *backend.Session, ended *backend.Sandbox) bool {
	if ended == nil || !x.SavedAt.IsKnown() || !env.Time(&x.Meta, x.SavedAt).Before(env.ReadAt(&ended.Meta)) {
		return false
	}
	since := latestOf(env.Time(&ended.Meta, ended.FinishedAt), env.Time(&x.Meta, x.SavedAt))
	return ended.FinishedAt.IsKnown() && env.ReadAt(&s.Meta).After(since) || !env.ReadAt(&s.Meta).Before(env.ReadAt(&ended.Meta))
}

// dangles notes that a reference leads nowhere, since the first look that shows it.
func dangles(env *alerts.Env, x *backend.Ref, note *danglingNote) *danglingNote {
	if note == nil || note.Sandbox != x.Sandbox {
		return &danglingNote{x.Sandbox, env.Now}
	}
	return note
}

// again reports whether list, reference and session were all read anew since a look that showed the same.
func (n *danglingNote) again(env *alerts.Env, x *backend.Ref, s *backend.Session, list *fleet.SourceHealth) bool {
	return !env.Ours(list.LastOK).Before(n.Seen.Add(list.Interval)) && env.ReadAt(&x.Meta).After(n.Seen) && env.ReadAt(&s.Meta).After(n.Seen)
}

// proved reports whether the order of this look's readings proves that the sandbox is gone: the list was read after the reference
// was written, and the session ran after that.
func proved(env *alerts.Env, x *backend.Ref, s *backend.Session, list *fleet.SourceHealth, first bool) bool {
	// The fleet knows when the reference was first read, and the store when it was last saved.
	written := latestOf(env.Ours(x.FirstSeen), env.Time(&x.Meta, x.SavedAt))
	if env.Ours(list.LastOK).Before(written.Add(list.Interval)) {
		return false // the list may be older than the sandbox
	}
	if n := len(s.History); n > 0 && list.LastOK.Before(s.History[n-1].At) {
		return false // it went on running after the list was read, maybe with a new sandbox
	}
	return !first || !env.ReadAt(&s.Meta).Before(env.Ours(list.LastOK)) // else it may have ended meanwhile, and its sandbox with it
}

// saveLag is how long the reference to a new sandbox may take until it is saved and read again.
const saveLag = 3 * time.Minute

// sandboxesBySession are the sandboxes of which it is known when they were made.
func sandboxesBySession(env *alerts.Env) map[backend.ID][]*backend.Sandbox {
	out := map[backend.ID][]*backend.Sandbox{}
	for b := range env.State.Sandboxes.All() {
		if !b.Session.IsZero() && b.CreatedAt.IsKnown() {
			out[b.Session] = append(out[b.Session], b)
		}
	}
	return out
}

// replaced reports whether the workspace of a reference was given one of its session's sandboxes after the reference was
// saved, and the references were not read since that one can be there.
func replaced(env *alerts.Env, x *backend.Ref, others []*backend.Sandbox) bool {
	return slices.ContainsFunc(others, func(b *backend.Sandbox) bool {
		other := !b.Workspace.IsZero() && !x.Workspace.IsZero() && b.Workspace != x.Workspace
		made := env.Time(&b.Meta, b.CreatedAt)
		return !other && made.After(env.Time(&x.Meta, x.SavedAt)) && env.ReadAt(&x.Meta).Sub(made) < saveLag
	})
}

// lists collects the sources whose sandboxes are all known.
func (r *refMismatch) lists(env *alerts.Env) (out []sandboxes, why backend.Safe) {
	why = backend.Text("no source lists sandboxes")
	for _, h := range env.State.Sources {
		if !h.Delivers(backend.InputContainers) {
			continue
		}
		if _, w, gap := env.Gap(h.Key.Source); gap {
			why = w
			continue
		}
		if h.OtherIDs {
			why = backend.Textf("%s lists containers under other ids than references name", backend.Clean(h.Key.Source, 80))
			continue
		}
		if whole := env.State.LastCompleteList(h.Key.Source, backend.KindSandbox); h.Unseen && whole.Before(h.LastOK.Add(-h.Interval)) {
			why = backend.Textf("%s has no complete list", backend.Clean(h.Key.Source, 80))
			continue
		}
		l := sandboxes{source: h.Key.Source}
		for b := range env.State.Sandboxes.All() {
			if b.Key.Source == h.Key.Source && !b.Unlisted {
				l.ids = append(l.ids, b.Key.ID.Raw())
			}
		}
		out = append(out, l)
	}
	for i := range out {
		slices.Sort(out[i].ids)
	}
	stable.Sort(out, func(a, b sandboxes) int { return cmp.Compare(a.source, b.source) })
	return out, why
}

// lost is about a reference whose sandbox is not listed, or listed as ended: then it is given.
func (r *refMismatch) lost(env *alerts.Env, x *backend.Ref, s *backend.Session, home string, all *sandboxes, ended *backend.Sandbox) alerts.Verdict {
	list := all.source
	cause := backend.Textf("the stored reference of a running session names a sandbox that is gone by the list of %s", backend.Clean(list, 80))
	at := env.Display(env.ReadAt(&x.Meta))
	detail := backend.Textf("sandbox %s is not listed", x.Sandbox.Safe())
	shows := backend.Textf("%s lists other sandboxes of provider %s, and not this one", backend.Clean(list, 80), orNone(x.Provider))
	if len(all.ids) == 0 {
		shows = backend.Textf("%s lists no sandbox", backend.Clean(list, 80))
	}
	if ended != nil && ended.Class == backend.SandboxRemoving { // it may answer still
		cause = backend.Textf("the stored reference of a running session names a sandbox that is going by the list of %s", backend.Clean(list, 80))
	}
	if ended != nil {
		detail = backend.Textf("sandbox %s is reported %s", x.Sandbox.Safe(), ended.Reported)
		shows = backend.Textf("%s reports it %s: %s", backend.Clean(list, 80), ended.Reported, x.Agent.LostWith())
	}
	return alerts.Verdict{
		Outcome: alerts.True, Source: home, Via: list, Cause: cause, Fingerprint: alerts.Fingerprint("stored reference names a sandbox that is gone"),
		Runbook: "6", Session: x.Session, Provider: x.Provider, Tenant: s.Tenant, Confirmed: env.ReadAt(&x.Meta),
		Bounds: alerts.Bounds{Earliest: env.Time(&x.Meta, x.SavedAt), Latest: env.ReadAt(&x.Meta)},
		Detail: detail,
		Evidence: []alerts.Evidence{
			{Text: backend.Textf("%s names sandbox %s", x.Key.Safe(), x.Sandbox.Safe()), Source: x.Key.Source, At: at},
			{Text: shows, Source: list, At: env.Display(env.Now)},
		},
	}
}

func orNone(s backend.Safe) backend.Safe {
	if s.IsEmpty() {
		return backend.Text("(none named)")
	}
	return s
}
