package rules

import (
	"cmp"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// VanishedOptions are the keys of `[rules.files-vanished]`.
type VanishedOptions struct {
	Common
	Listed  backend.Duration `toml:"listed" doc:"how long a loss stays listed"`
	Scratch string           `toml:"scratch" doc:"text in the path of every scratch directory; an error about such a missing path means a cleaner removed it"`
}

func vanishedDefaults() *VanishedOptions {
	return &VanishedOptions{Common: common(alerts.SeverityWarning), Listed: backend.Duration(time.Hour), Scratch: "/helix-ws-"}
}

func (o *VanishedOptions) build() (alerts.Rule, error) {
	r := &filesVanished{base: o.base("files-vanished", backend.KindWorkspace, backend.InputRegistry, backend.InputRegistry), listed: o.Listed.Std(), scratch: o.Scratch}
	r.meta.Alone = alerts.Alone{Input: backend.InputContainers, Sees: backend.Text("a sandbox whose working directory is gone, by its health check,")}
	return r, cmp.Or(
		positive("listed", o.Listed),
		refuse(o.Scratch == "", "scratch", "must not be empty: every path would match"),
	)
}

// lossNote is a loss of files.
type lossNote struct {
	Lost  time.Time    `json:"success,omitzero"`   // the success that is not known any more; zero: the directory was removed
	Seen  time.Time    `json:"seen,omitzero"`      // when that was first read
	Cause backend.Safe `json:"cause,omitzero"`     // who removed the directory, as far as that is known
	Box   backend.ID   `json:"box,omitzero"`       // the sandbox that a provider puts it in, which its container's next start empties
	Used  time.Time    `json:"used,omitzero"`      // the first success in it that was read
	Read  time.Time    `json:"used_read,omitzero"` // when that was read
	Fresh time.Time    `json:"fresh,omitzero"`     // the start of its container that the loss is; zero: it is another one
	stopNote
}

type filesVanished struct {
	base
	remembers[lossNote]
	listed  time.Duration
	scratch string
}

func (r *filesVanished) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	note := alerts.NoteAs[lossNote](known)
	w, ok := e.(*backend.Workspace)
	if !ok {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if w.Unreadable {
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its registry cannot be read any more"), Note: known}
	}
	if r.cleaned(env, w) {
		return r.cleaner(env, w, note)
	}
	note = r.used(env, w, note.withoutCleaner())
	lost := lostSuccess(env, w)
	if !lost.IsZero() && (note == nil || lost.After(note.Lost)) {
		n := lossNote{Lost: lost, Seen: env.ReadAt(&w.Meta)}
		if note != nil {
			n.Box, n.Used, n.Read, n.stopNote = note.Box, note.Used, note.Read, note.stopNote
		}
		note = &n
	}
	if b := r.stopped(env, w, note); b != nil && (note.Lost.IsZero() || !note.Stopped.IsZero() || env.Ours(b.StoppedAt()).After(note.Seen)) {
		return r.underStop(env, w, b, note)
	}
	if b := r.emptied(env, w, note); b != nil && (note.Lost.IsZero() || !note.Fresh.IsZero() || env.Ours(b.EmptySince()).After(note.Seen)) {
		return r.restarted(env, w, b, note)
	}
	if note == nil || note.Lost.IsZero() || !note.Fresh.IsZero() {
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(note)}
	}
	return r.reopened(env, w, note)
}

// withoutCleaner is a note once the error of a directory that was removed is gone: only what else it holds.
func (n *lossNote) withoutCleaner() *lossNote {
	switch {
	case n == nil || !n.Lost.IsZero() || !n.Fresh.IsZero():
		return n
	case n.Box.IsZero():
		return nil
	case n.Seen.IsZero() && n.Cause.IsEmpty():
		return n
	}
	return &lossNote{Box: n.Box, Used: n.Used, Read: n.Read, stopNote: n.stopNote}
}

// lostSuccess is the success that an earlier reading of this process or of the one before gave and that the registry does not
// know any more; zero without one.
func lostSuccess(env *alerts.Env, w *backend.Workspace) time.Time {
	if was, ok := env.Former(w.Key).(*backend.Workspace); ok && w.LostSuccess.IsZero() {
		return env.Ours(w.SuccessLost(was))
	}
	return env.Ours(w.LostSuccess)
}

// loss is what a fresh registry means for the files.
type loss struct {
	outcome   alerts.Outcome
	suspected bool
	severity  alerts.Severity
	cause     backend.Safe
	why       backend.Safe
}

func (r *filesVanished) reopened(env *alerts.Env, w *backend.Workspace, n *lossNote) alerts.Verdict {
	over := n.Seen.Add(r.listed)
	if !env.Now.Before(over) {
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(n)} // kept, so that the same loss is not told twice
	}
	l := r.weigh(env, w, n)
	v := alerts.Verdict{
		Outcome: l.outcome, Suspected: l.suspected, Severity: l.severity, Cause: l.cause, Fingerprint: alerts.Fingerprint(l.cause.String()), Runbook: "2", Why: l.why,
		Note: alerts.NoteOf(n), Bounds: alerts.Bounds{Earliest: n.Lost, Latest: n.Seen}, Recheck: over,
		Detail: backend.Textf("re-created: its last success, at %s, is gone", env.Clock(n.Lost)),
	}
	describe(env, w, &v)
	return v
}

// weigh says what the provider keeps. The words are the framework's provider ids.
func (r *filesVanished) weigh(env *alerts.Env, w *backend.Workspace, n *lossNote) loss {
	design, how := r.byDesign(env, w, n)
	destroys, declared := w.DestroyOnClose.Get()
	provider := w.Provider.String()
	if provider == "cloudflare-filestore" || provider == "cloudflare-dynamic-worker" {
		return loss{outcome: alerts.False}
	}
	l := loss{outcome: alerts.True}
	fresh, ours := freshDisk(env, w, n.Lost), false
	if fresh != nil {
		_, _, ours = fresh.EmptiedHere()
	}
	if design {
		l.severity = alerts.SeverityInfo
	}
	switch {
	case madeAfterItsRef(env, w) != nil:
		l.cause = backend.Text("re-created in a sandbox that was made after its reference was written: the files of the one before are not in it")
	case fresh != nil && ours:
		l.severity, l.cause = alerts.SeverityInfo, backend.Text(endedHere)
	case fresh != nil:
		l.cause = backend.Text(startedAgain)
	case provider == "in-memory": // it keeps nothing by design, whatever its session did
		l.severity = alerts.SeverityInfo
		l.cause = backend.Textf("provider in-memory was re-created%s: its files are gone", how)
	case declared && destroys:
		l.cause = backend.Textf("re-created%s with destroyOnClose: the sandbox ended with its files", how)
	case design && (provider == "local-bash" || provider == "local-sandbox"):
		l.cause = backend.Textf("provider %s was closed and re-created%s: closing removes its files", w.Provider, how)
	case provider == "local-bash", provider == "local-sandbox":
		l.suspected, l.cause = true, backend.Textf("provider %s was re-created: its files may be gone", w.Provider)
		l.why = backend.Text("closing removes its files, a restart of the process keeps them; which of the two it was, the start time of its session would tell")
	case provider == "cloudflare-sandbox":
		l.suspected, l.cause = true, backend.Text("provider cloudflare-sandbox was re-created: its files may be lost")
		l.why = backend.Text("after sleep they may be lost: sources disagree; a look into the sandbox would tell, and wakes it")
	case provider == "":
		l.suspected, l.cause = true, backend.Text("re-created: its files may be gone")
		l.why = backend.Text("the provider decides whether files survive this, and its name is not known")
	default:
		l.suspected, l.cause = true, backend.Textf("provider %s was re-created: its files may be gone", backend.Clean(provider, 60))
		l.why = backend.Textf("what provider %s keeps is not documented", backend.Clean(provider, 60))
	}
	return l
}

// byDesign reports whether its session shows why a fresh registry was to be expected.
func (r *filesVanished) byDesign(env *alerts.Env, w *backend.Workspace, n *lossNote) (bool, backend.Literal) {
	s := env.SessionOf(w)
	if s == nil {
		return false, ""
	}
	if at := env.Time(&s.Meta, s.StartedAt); !at.IsZero() && at.After(n.Lost) {
		if !s.BranchedFrom.IsZero() {
			return true, " in a branch"
		}
		return true, " by a new start of its session"
	}
	return false, ""
}

// cleaned reports whether the workspace fails because its scratch directory is not there.
func (r *filesVanished) cleaned(env *alerts.Env, w *backend.Workspace) bool {
	text := w.LastError.String()
	if !strings.Contains(text, r.scratch) || strings.Contains(text, "mkdtemp") { // making one fails for want of the root, which is another trouble
		return false
	}
	bad := w.Class == backend.ClassFailed || w.Class == backend.ClassEvicted || factsOf(env, w).failing()
	if !bad || env.Names(w.LastError)&alerts.NamesCleaned == 0 {
		return false
	}
	for t := range env.State.Tmpdirs.All() {
		if _, _, gap := env.Gap(t.Key.Source); !gap && !t.Stale && backend.HoldsPath(text, t.RawPath.Raw()) {
			return false // a file in it is missing, the directory is there
		}
	}
	if _, _, ours := setAside(env, w); ours || r.missesRoot(text) {
		return true
	}
	for _, h := range env.State.Sources { // a file that is missing proves nothing of its directory; a whole list does
		listed := env.State.LastCompleteList(h.Key.Source, backend.KindTmpdir)
		if h.Delivers(backend.InputTmpdirs) && h.ReportsOn(w.Key.Source) && !listed.IsZero() && env.Ours(listed).After(factsOf(env, w).attempt) {
			return true
		}
	}
	return false
}

// missesRoot reports whether the path that an error misses is a scratch directory itself, and nothing below it.
func (r *filesVanished) missesRoot(text string) bool {
	_, rest, _ := strings.Cut(text, r.scratch)
	if i := strings.IndexAny(rest, "'\"` ,;:)"); i >= 0 {
		rest = rest[:i]
	}
	return !strings.Contains(strings.TrimSuffix(rest, "/"), "/")
}

func (r *filesVanished) cleaner(env *alerts.Env, w *backend.Workspace, note *lossNote) alerts.Verdict {
	if note == nil || !note.Lost.IsZero() || note.Seen.IsZero() || !note.Fresh.IsZero() {
		note = &lossNote{Seen: env.ReadAt(&w.Meta)}
	}
	f := factsOf(env, w)
	if note.Cause.IsEmpty() {
		if _, _, ours := setAside(env, w); ours {
			n := *note
			n.Cause = backend.Text("Sandglass set the scratch directory of a live workspace aside")
			note = &n
		}
	}
	cause := note.Cause // kept: once the grace is over nothing shows it any more
	if cause.IsEmpty() {
		cause = backend.Text("the scratch directory of a live workspace was removed: by a cleaner of the host, or by hand")
	}
	v := alerts.Verdict{
		Outcome: alerts.True, Cause: cause, Fingerprint: alerts.Fingerprint(cause.String()), Runbook: "2", Note: alerts.NoteOf(note), Detail: detail(w),
		Bounds: alerts.Bounds{Earliest: f.success, Latest: f.attempt}, Recheck: env.Now.Add(lookAgain),
	}
	if v.Bounds.Latest.IsZero() {
		v.Bounds.Latest = note.Seen
	}
	describe(env, w, &v)
	return v
}

// lookAgain is when a directory that is missing is looked for once more among those that a clean-up set aside.
const lookAgain = 30 * time.Second

// setAside finds the directory that a workspace misses among those that Sandglass itself has set aside.
func setAside(env *alerts.Env, w *backend.Workspace) (*backend.Waiting, *backend.Host, bool) {
	for h := range env.State.Hosts.All() {
		if !speaksAbout(env, h.Key.Source, w.Key.Source) {
			continue
		}
		for i := range h.Roots {
			for j := range h.Roots[i].Waiting {
				if x := &h.Roots[i].Waiting[j]; backend.HoldsPath(w.LastError.String(), backend.TmpdirPath(x.Key)) {
					return x, h, true
				}
			}
		}
	}
	return nil, nil, false
}

// missedFiles is what the agent's log says of files that its SDK did not find. Such an error alone is none: an agent asks for files that
// were never there.
func missedFiles(env *alerts.Env, w *backend.Workspace) (out []alerts.Evidence) {
	for s := range env.State.Windows.All(backend.MetricSDKMissing) {
		if s.Session != w.Key.Parent || !speaksAbout(env, s.Source, w.Key.Source) {
			continue
		}
		if said := env.Over(s, fleet.WindowSpan); said.N > 0 {
			out = append(out, alerts.Evidence{Text: backend.Textf("log: its agent's SDK found no file in %s, the newest: %s", plural(int(said.N), "read"), said.Sample),
				Value: backend.Known(said.N), Unit: "lines", Source: s.Source, At: newestOf(env, []backend.Series{s})})
		}
	}
	return out
}

func (r *filesVanished) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	w, _ := oldest.(*backend.Workspace)
	if w == nil {
		return nil
	}
	at, src := env.Display(env.ReadAt(&w.Meta)), w.Key.Source
	out := append(workspaceEvidence(env, a, w), missedFiles(env, w)...)
	if !w.LostSuccess.IsZero() {
		out = append(out, alerts.Evidence{Text: backend.Textf("%s had succeeded at %s; its registry does not know that any more", w.Key.Safe(), env.Clock(env.Ours(w.LostSuccess))), Source: src, At: at})
	}
	out = append(out, stopEvidence(env, w)...)
	if b := freshDisk(env, w, env.Ours(w.LostSuccess)); b != nil {
		if lost := b.LostHere(); !lost.IsEmpty() {
			out = append(out, alerts.Evidence{Text: backend.Textf("sandbox %s was %s", b.Name, lost), Source: b.Key.Source, At: env.Display(env.ReadAt(&b.Meta))})
		}
		out = append(out, alerts.Evidence{Text: backend.Textf("the container of sandbox %s started again at %s: %s", b.Name, env.Clock(env.Ours(b.EmptySince())), emptiedBy(w, b)),
			Source: b.Key.Source, At: env.Display(env.ReadAt(&b.Meta))})
	}
	if x := madeAfterItsRef(env, w); x != nil {
		b, made, saved := newerThan(env, x)
		out = append(out, alerts.Evidence{Text: backend.Textf("its reference to %s was written at %s; that sandbox was made at %s", b.Name, env.Clock(saved), env.Clock(made)),
			Source: b.Key.Source, At: env.Display(env.ReadAt(&b.Meta))})
	}
	if s := env.SessionOf(w); s != nil && !s.BranchedFrom.IsZero() {
		out = append(out, alerts.Evidence{Text: backend.Textf("session %s was branched from %s: branches start without files", s.Key.Safe(), s.BranchedFrom.Safe()), Source: src, At: at})
	}
	if x, h, ours := setAside(env, w); ours && r.cleaned(env, w) {
		return append(out, alerts.Evidence{Text: backend.Textf("%s was quarantined at %s; undo puts it back until %s", x.Path, env.Clock(env.Ours(x.Moved)), env.Clock(env.Ours(x.Due))),
			Source: h.Key.Source, At: env.Display(env.ReadAt(&h.Meta))})
	}
	for _, h := range env.State.Sources {
		if h.Delivers(backend.InputTmpdirs) && h.ReportsOn(src) && r.cleaned(env, w) {
			out = append(out, alerts.Evidence{Text: backend.Textf("%s lists no such scratch directory", backend.Clean(h.Key.Source, 80)), Source: h.Key.Source, At: h.LastOK})
		}
	}
	return out
}
