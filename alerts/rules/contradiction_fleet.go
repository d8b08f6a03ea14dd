package rules

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// JudgeFleet finds what many sandboxes have in common, and registries that call workspaces ready whose container is gone.
func (r *contradiction) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	out := r.parted(env, known)
	return slices.Concat(out, r.incidents(env, known, out), r.regions(env, known), r.lost(env, known))
}

// incidentKey is the subject of an incident: a fault that many sandboxes of a source share.
func incidentKey(source, fault string) backend.Key {
	return backend.Key{Kind: backend.KindSource, Source: source, ID: backend.MustID("contradiction/" + fault)}
}

// incidents are the faults that many sandboxes of one source share at once: one cause is likely, and it is not in them.
func (r *contradiction) incidents(env *alerts.Env, known alerts.Known, parted []alerts.Found) []alerts.Found {
	by, pending := map[backend.Key][]member{}, map[backend.Key][]member{}
	add := func(by map[backend.Key][]member, k backend.Key, note alerts.Note) {
		if n := alerts.NoteAs[contradictionNote](note); n != nil && n.Fault != "" && n.Region == "" {
			key := incidentKey(k.Source, n.alike())
			by[key] = append(by[key], member{k, n.onset()})
		}
	}
	told := map[backend.Key]bool{}
	for i := range parted {
		told[parted[i].Key] = true
		if v := &parted[i].Verdict; v.Outcome == alerts.True && !v.Suspected {
			add(by, parted[i].Key, v.Note)
		}
	}
	for k, state := range known.Findings {
		switch {
		case k.Kind == backend.KindSource && !ofRegion(k):
			by[k] = append([]member{}, by[k]...)
		case state == alerts.StateFiring && !told[k]:
			add(by, k, known.Note(k))
		case state == alerts.StatePending && !told[k] && alerts.NoteAs[contradictionNote](known.Note(k)).fails(signalAgent):
			add(pending, k, known.Note(k))
		}
	}
	var out []alerts.Found
	for _, key := range stable.Sorted(maps.Keys(by), backend.Key.Compare) {
		at := together(by[key], r.many)
		switch {
		case len(at) > 0:
			at = joined(at, pending[key])
			all := make([]backend.Key, 0, len(at))
			for _, m := range at {
				all = append(all, m.key)
			}
			v := r.incident(env, key, all, known, "")
			v.Note = alerts.NoteOf(&contradictionNote{Onset: at[0].at, Last: at[len(at)-1].at})
			out = append(out, alerts.Found{Key: key, Verdict: v})
		case known.Finding(key) == "":
		default:
			v := alerts.Verdict{Outcome: alerts.False}
			if o, why, gap := env.Gap(key.Source); gap {
				v = alerts.Verdict{Outcome: o, Why: why}
			}
			out = append(out, alerts.Found{Key: key, Verdict: v})
		}
	}
	return out
}

// member is a sandbox of an incident, and when its trouble began.
type member struct {
	key backend.Key
	at  time.Time
}

// incidentGap is the longest time between the onsets of two members that follow each other.
const incidentGap = 10 * time.Minute

// together are the newest members that began one soon after the other; none where they are fewer than many.
func together(all []member, many int) []member {
	stable.Sort(all, func(x, y member) int { return cmp.Or(x.at.Compare(y.at), x.key.Compare(y.key)) })
	var out []member
	for from, i := 0, 1; i <= len(all); i++ {
		if i < len(all) && all[i].at.Sub(all[i-1].at) <= incidentGap {
			continue
		}
		if i-from >= many {
			out = all[from:i]
		}
		from = i
	}
	return out
}

// incident is the verdict about a fault of many sandboxes.
func (r *contradiction) incident(env *alerts.Env, key backend.Key, all []backend.Key, known alerts.Known, shared string) alerts.Verdict {
	stable.Sort(all, backend.Key.Compare)
	fault := backend.Text("its container is down or gone")
	bounds, seen, last, sessions := alerts.Bounds{}, time.Time{}, time.Time{}, map[backend.ID]bool{}
	l := &alerts.Listing{Count: len(all)}
	for _, k := range all {
		n := alerts.NoteAs[contradictionNote](known.Note(k))
		first, began := env.Now, env.Now
		if n != nil && len(n.Failed) > 0 {
			first = env.Ours(n.Began)
			began = first
			f := n.worst()
			if i := slices.IndexFunc(n.Failed, func(f failedPlane) bool { return f.fault() == shared }); i >= 0 {
				f, first = n.Failed[i], n.Failed[i].First
			}
			if text, is := sharedFaults[f.Plane]; is && (f.Kind == "" || f.Plane == signalAgent) {
				fault = backend.Text(text)
			} else if text, is := faults[f.Kind]; is {
				fault = backend.Text(text)
			} else {
				fault = backend.Textf("%s fails", f.Plane)
			}
		} else if n != nil && !n.onset().IsZero() {
			first, began = n.onset(), n.onset()
		}
		of := alerts.Bounds{Latest: began} // what is read late began before
		if n != nil && n.Fault == faultDown {
			fault, of.Earliest = downText(n.Down), first
		}
		if b := env.State.Sandbox(k); b != nil && n != nil && len(n.Failed) > 0 && onWorkers(b) {
			of.Earliest = n.worked(env, b)
		}
		bounds = firstOnset(bounds, of)
		if seen.IsZero() || first.Before(seen) {
			seen = first
		}
		if first.After(last) {
			last = first
		}
		if n != nil && !n.Session.IsZero() {
			sessions[n.Session] = true
		}
		since := known.Since(k)
		switch {
		case since.IsZero():
			since = first
		case l.Since.IsZero(), since.Before(l.Since):
			l.Since = since
		}
		if len(l.Subjects) < alerts.MaxSubjects {
			l.Subjects = append(l.Subjects, alerts.Subject{Key: k, Label: k.Safe(), Since: since, Bounds: of, Detail: fault})
		}
	}
	l.Sessions = len(sessions)
	if shared != "" {
		fault = backend.Clean(strings.NewReplacer("its ", "their ", "in it ", "in them ", "it is ", "they are ").Replace(fault.String()), 200)
	}
	cause := backend.Textf("many sandboxes at once are %s, but %s", howReported(env, all), fault)
	span := backend.Textf("from %s to %s", env.Clock(seen), env.Clock(last))
	if env.Clock(seen) == env.Clock(last) {
		span = backend.Textf("at %s", env.Clock(last))
	}
	shows := backend.Textf("%s of %s show it, seen %s", plural(len(all), "sandbox"), backend.Clean(key.Source, 80), span)
	own, most := ownCommands(all, known)
	well := r.othersWell(env, known, key, all)
	switch {
	case !well.IsEmpty():
		shows = backend.Textf("%s; %s", shows, well)
	case !most:
		shows = backend.Textf("%s: one cause outside them is likely", shows)
	}
	return alerts.Verdict{Outcome: alerts.True, Source: key.Source, Runbook: "contradiction", Cause: cause, Fingerprint: subjectFingerprint(key),
		Bounds: bounds, Confirmed: env.Now, Listing: l, Detail: cause,
		Evidence: append([]alerts.Evidence{{Text: shows, Value: backend.Known(float64(len(all))), Unit: "sandboxes", Source: key.Source, At: env.Display(env.Now)}}, own...)}
}

// howReported says how the sandboxes of an incident are reported: what no platform lists is not reported well.
func howReported(env *alerts.Env, all []backend.Key) backend.Safe {
	alone := 0
	for _, k := range all {
		if b := env.State.Sandbox(k); b != nil && unlisted(b) {
			alone++
		}
	}
	switch alone {
	case 0:
		return backend.Text("reported well")
	case len(all):
		return backend.Text("not reported")
	}
	return backend.Text("reported well or not at all")
}

// parted judges the workspaces that a registry calls ready though their container is gone.
func (r *contradiction) parted(env *alerts.Env, known alerts.Known) []alerts.Found {
	look := map[backend.Key]*backend.Workspace{}
	for k := range known.Findings {
		if k.Kind == backend.KindWorkspace && known.Finding(k) != alerts.StateEnded {
			look[k] = env.State.Workspace(k)
		}
	}
	add := func(w *backend.Workspace) {
		if w != nil && claims(w) && alerts.HasMachine(w.Provider.String()) {
			look[w.Key] = w
		}
	}
	for b := range env.PastSandboxes() {
		for _, h := range env.HomesOf(b.Key.Source) {
			if !b.Session.IsZero() {
				add(env.State.Workspace(backend.Key{Kind: backend.KindWorkspace, Source: h.Key.Source, Parent: b.Session, ID: b.Workspace}))
			}
		}
	}
	names := func(w *backend.Workspace) {
		if !w.ProviderID.IsZero() && env.State.SandboxNamed(w.ProviderID, w.Provider) == nil {
			add(w)
		}
	}
	if changed, all := env.Changed(backend.KindWorkspace); !all {
		for _, e := range changed {
			if w, is := e.(*backend.Workspace); is {
				names(w)
			}
		}
	} else if env.State.Sandboxes.Len() > 0 {
		for w := range env.State.Workspaces.All() {
			names(w)
		}
	}
	if len(look) == 0 {
		return nil
	}
	lists := newContainerLists(env)
	var out []alerts.Found
	for _, k := range stable.Sorted(maps.Keys(look), backend.Key.Compare) {
		if look[k] == nil {
			continue // the engine ends it
		}
		v := r.partedOne(env, look[k], alerts.NoteAs[contradictionNote](known.Note(k)), lists)
		if v.Outcome == alerts.True || known.Finding(k) != "" {
			out = append(out, alerts.Found{Key: k, Verdict: v})
		}
	}
	return out
}

// containerLists are where the containers of workspaces are, and which of them left.
type containerLists struct {
	env   *alerts.Env
	holds map[containersOf]string // the engine that lists containers which workspaces of a home and provider name
	near  map[containersOf]string // the only engine that lists containers of their sessions, though none that they name
	left  map[ofSession]*backend.Sandbox
}

type containersOf struct {
	home     string
	provider backend.Safe
}

type ofSession struct{ session, workspace backend.ID }

// newContainerLists finds in which engines the containers of each registry are, by one of each engine that a workspace names.
func newContainerLists(env *alerts.Env) *containerLists {
	l := &containerLists{env, map[containersOf]string{}, map[containersOf]string{}, map[ofSession]*backend.Sandbox{}}
	done, engines := map[string]bool{}, map[string]bool{}
	for b := range env.State.Sandboxes.All() {
		if done[b.Key.Source] || b.Session.IsZero() || !b.IsSandbox || b.Unlisted {
			continue
		}
		if list := env.State.Source(b.Key.Source); list == nil || list.OtherIDs {
			continue
		}
		for _, h := range env.HomesOf(b.Key.Source) {
			w := env.State.Workspace(backend.Key{Kind: backend.KindWorkspace, Source: h.Key.Source, Parent: b.Session, ID: b.Workspace})
			if w == nil {
				continue
			}
			of := containersOf{h.Key.Source, w.Provider}
			l.near[of], engines[b.Key.Source] = b.Key.Source, true
			if env.State.SandboxNamed(w.ProviderID, w.Provider) == b {
				l.holds[of], done[b.Key.Source] = b.Key.Source, true
			}
		}
	}
	if len(engines) > 1 {
		clear(l.near)
	}
	for b := range env.PastSandboxes() {
		of := ofSession{b.Session, b.Workspace}
		if x := l.left[of]; b.IsSandbox && !b.Unlisted && (x == nil || env.LeftAt(b.Key).After(env.LeftAt(x.Key))) {
			l.left[of] = b
		}
	}
	return l
}

// lost is the container of a workspace that is gone, as far as that is certain: its registry names one that the engine of
// its others does not list, or one that the engine listed for it left.
func (l *containerLists) lost(w *backend.Workspace) (id backend.ID, engine string, left time.Time, is bool) {
	if !w.ProviderID.IsZero() && l.env.State.SandboxNamed(w.ProviderID, w.Provider) != nil {
		return id, engine, left, false
	}
	if b := l.left[ofSession{w.Key.Parent, w.Key.ID}]; b != nil {
		return b.Key.ID, b.Key.Source, l.env.LeftAt(b.Key), true
	}
	of := containersOf{w.Key.Source, w.Provider}
	engine, held := l.holds[of]
	if !held && ofContainer(w.ProviderID) {
		engine, held = l.near[of]
	}
	return w.ProviderID, engine, left, held && !w.ProviderID.IsZero()
}

// ofContainer reports whether an id has the form of those that container engines give.
func ofContainer(id backend.ID) bool {
	raw := id.Raw()
	return len(raw) == 64 && strings.Trim(raw, "0123456789abcdef") == ""
}

// partedOne judges one workspace.
func (r *contradiction) partedOne(env *alerts.Env, w *backend.Workspace, old *contradictionNote, lists *containerLists) alerts.Verdict {
	n := contradictionNote{Session: w.Key.Parent, Workspace: w.Key.ID}
	if old != nil {
		n = *old
	}
	s := env.State.SessionOf(w)
	id, engine, left, is := lists.lost(w)
	gapped := func(source string) (alerts.Verdict, bool) {
		o, why, gap := env.Gap(source)
		return alerts.Verdict{Outcome: o, Why: why, Note: alerts.NoteOf(&n)}, gap && source != ""
	}
	for _, source := range []string{w.Key.Source, cmp.Or(engine, lists.holds[containersOf{w.Key.Source, w.Provider}])} {
		if v, gap := gapped(source); gap {
			return v
		}
	}
	runs := s != nil && (s.Running.Or(false) || s.ListedRunning.Or(false))
	if !is || !runs || w.SleepAfter.Or(0) > 0 && w.Provider.String() != "docker" || !n.Proved && !claims(w) || r.hasContainer(env, w) {
		return alerts.Verdict{Outcome: alerts.False}
	}
	h := env.State.Source(w.Key.Source)
	listed := env.State.Source(engine)
	if n.Seen.IsZero() || n.Sandbox != id {
		n.Sandbox, n.Seen, n.Worked = id, env.Now, env.Time(&w.Meta, w.LastSuccessAt)
		if gone := env.Ours(left); !left.IsZero() {
			n.Seen, n.Worked = gone, earlierOf(n.Worked, gone)
		}
	}
	due := n.Seen.Add(max(r.settle, 2*h.Interval, 2*listed.Interval))
	n.Proved = n.Proved || !env.Now.Before(due) && env.ReadAt(&w.Meta).After(n.Seen) && env.Ours(listed.LastOK).After(n.Seen)
	n.Fault = faultGone
	v := alerts.Verdict{Outcome: alerts.True, Runbook: "contradiction", Source: w.Key.Source, Via: engine, Fingerprint: subjectFingerprint(w.Key), Confirmed: env.ReadAt(&w.Meta),
		Cause: backend.Textf("%s lists it as %s, but its container is gone", backend.Clean(w.Key.Source, 80), w.Reported)}
	v.Bounds = alerts.Bounds{Earliest: n.Worked, Latest: n.Seen}
	describe(env, w, &v)
	v.Values, v.Detail, v.Note = "", v.Cause, alerts.NoteOf(&n)
	v.Evidence = r.partedEvidence(env, w, s, &n, engine, left)
	if v.Recheck = recheckOf(env, w.Key); !n.Proved {
		v.Suspected, v.Why = true, backend.Textf("fires when both still say so at %s", env.Clock(due))
		v.Recheck = latestOf(due, env.Now.Add(time.Second))
	}
	return v
}

// hasContainer reports whether a workspace has a container that is listed and did not end.
func (r *contradiction) hasContainer(env *alerts.Env, w *backend.Workspace) bool {
	return slices.ContainsFunc(env.State.SandboxesOf(w.Key.Parent), func(b *backend.Sandbox) bool {
		return b.IsSandbox && (b.Workspace.IsZero() || b.Workspace == w.Key.ID)
	})
}

func (r *contradiction) partedEvidence(env *alerts.Env, w *backend.Workspace, s *backend.Session, n *contradictionNote, engine string, left time.Time) []alerts.Evidence {
	out := append([]alerts.Evidence{}, reportedBy(env, w, s)...)
	list := env.State.Source(engine)
	text := backend.Textf("observed: %s lists no container %s", backend.Clean(engine, 80), shortID(n.Sandbox))
	if !left.IsZero() {
		text = backend.Textf("%s; it left the list at %s", text, env.Clock(env.Ours(left)))
	}
	return append(out, alerts.Evidence{Text: text, Source: engine, At: list.LastOK})
}

// reportedBy are the facts that a registry and a session list report.
func reportedBy(env *alerts.Env, w *backend.Workspace, s *backend.Session) []alerts.Evidence {
	var out []alerts.Evidence
	if w != nil {
		text := backend.Textf("reported: %s lists workspace %s as %s", backend.Clean(w.Key.Source, 80), w.Key.Safe(), orNone(w.Reported))
		if at, known := w.LastSuccessAt.Get(); known {
			text = backend.Textf("%s; its last success was at %s", text, env.Clock(env.Time(&w.Meta, backend.Known(at))))
		}
		out = append(out, alerts.Evidence{Text: text, Source: w.Key.Source, At: env.Display(env.ReadAt(&w.Meta))})
	}
	if s != nil {
		word := s.Status
		if word.IsEmpty() {
			word = backend.Text("running")
		}
		out = append(out, alerts.Evidence{Text: backend.Textf("reported: %s lists session %s as %s", backend.Clean(s.Key.Source, 80), s.Key.Safe(), word), Source: s.Key.Source, At: env.Display(env.ReadAt(&s.Meta))})
	}
	return out
}

// Evidence puts what is reported and what was observed side by side, each with its age.
func (r *contradiction) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	b, ok := oldest.(*backend.Sandbox)
	if !ok {
		return nil
	}
	src, read := b.Key.Source, env.Display(env.ReadAt(&b.Meta))
	name := called(b)
	if onPlatform(b) && name != b.Key.Safe() {
		name = backend.Textf("%s (%s)", name, b.Key.Safe())
	}
	out := []alerts.Evidence{{Text: backend.Textf("reported: %s lists %s as %s", backend.Clean(src, 80), name, reported(b)), Source: src, At: read}}
	switch {
	case !b.Doubt.IsEmpty():
		out[0].Text = backend.Textf("reported: the operator routes of %s say of %s that it is %s; %s: whether it runs is not known", backend.Clean(src, 80), name, b.Reported, b.Doubt)
	case unlisted(b) && routesListed(env, src):
		out[0].Text = backend.Textf("reported: nothing. The operator routes of %s do not list %s, which is named by its id alone", backend.Clean(src, 80), name)
	case unlisted(b):
		out[0].Text = backend.Textf("reported: nothing. The bridge of %s lists no sandboxes, and %s is named by its id alone", backend.Clean(src, 80), name)
	}
	out = append(out, routesDiffer(env, b)...)
	need := needOf(env, b)
	if need.session != nil {
		w := env.State.Workspace(backend.Key{Kind: backend.KindWorkspace, Source: need.home.Key.Source, Parent: b.Session, ID: b.Workspace})
		out = append(out, reportedBy(env, w, need.session)...)
	}
	from := faultFrom(env, a, b)
	for _, v := range observations(b) {
		if v.Tried() {
			out = append(out, alerts.Evidence{Text: observedText(env, a, b, &v, from), Source: src, At: v.At})
			if v.Past && v.Kind == backend.FailWorkDirMissing {
				out = append(out, alerts.Evidence{Text: backend.Text("what its working directory held then is gone: a start makes it again, empty"), Source: src, At: v.At})
			}
			for _, line := range v.Evidence[:min(len(v.Evidence), 2)] {
				out = append(out, alerts.Evidence{Text: backend.Textf("%s answered: %s", v.Plane, line), Source: src, At: v.At})
			}
		}
	}
	if x, is := env.State.BeliefOn(b); is {
		out = append(out, alerts.Evidence{Text: believed(&x), Source: src, At: x.At})
		if x.Told != nil {
			out = append(out, toldEvidence(x.Told))
		}
	}
	of := []backend.Metric{backend.MetricSDKExec, backend.MetricSDKFiles, backend.MetricSDKMissing, backend.MetricSDKNotice}
	if slices.ContainsFunc(observations(b), func(v backend.Verdict) bool { return v.Kind == backend.FailNoSpace && !v.Past }) {
		of = append(of, backend.MetricPersistFailed, backend.MetricHydrateFailed) // they need room
	}
	out = append(out, sdkEvidence(env, b, of...)...)
	switch {
	case onPlatform(b):
		if need.session != nil {
			out = append(out, hubErrorEvidence(env, need.session)...)
		}
		out = append(out, platformEvidence(env, b)...)
	case !reportedLive(b) && b.Class != backend.SandboxPaused:
		out = append(out, containerEvidence(env, b)...)
	}
	return out
}

// routesListed reports whether the operator routes of a source listed its sandboxes.
func routesListed(env *alerts.Env, source string) bool {
	h := env.State.Source(source)
	return h != nil && !h.OtherIDs
}

// believed is what the agent of a sandbox takes it for.
func believed(x *fleet.Belief) backend.Safe {
	word := backend.Text("not known")
	if runs, known := x.Runs.Get(); known && runs {
		word = backend.Text("running")
	} else if known {
		word = backend.Text("not running")
	}
	text := backend.Textf("its agent takes it for: %s, since %s", word, x.Why)
	if x.Told == nil {
		text = backend.Textf("its agent's check would say: %s, since %s", word, x.Why)
	}
	if !x.Differs.IsEmpty() {
		text = backend.Textf("%s; %s", text, x.Differs)
	}
	return text
}

// shortID is an id as container engines print it.
func shortID(id backend.ID) backend.Safe {
	raw := id.Raw()
	return backend.Clean(raw[:min(len(raw), 12)], 12)
}
