package runbook

import (
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// sessionLife says whether the subject's session is over, as far as anybody says.
type sessionLife struct {
	mark Mark // confirmed: it is over; ruled out: it runs
	fact backend.Safe
	from origin
}

// over asks whether the session has ended or rests: its registry is closed either way.
func (s *subjectView) over() sessionLife {
	if s.sessionID.IsZero() {
		return sessionLife{CannotTell, backend.Text("no session is joined to this subject"), origin{}}
	}
	id := s.sessionID.Safe()
	if s.session != nil {
		running, known := s.session.Running.Get()
		at := s.from(&s.session.Meta)
		why, old := s.State.StaleWhy(&s.session.Meta)
		switch {
		case s.past != nil && !s.past.Left.IsZero():
			return sessionLife{Confirmed, backend.Textf("session %s ended %s ago: %s", id, backend.Age(s.now.Sub(s.past.Left)), s.past.Why), at}
		case s.past != nil:
			return s.unlisted(id)
		case !known:
			return sessionLife{CannotTell, backend.Textf("session %s is listed and nothing says whether it runs", id), at}
		case old:
			return sessionLife{CannotTell, backend.Textf("what is known of session %s is old: %s", id, why), at}
		case running:
			return sessionLife{RuledOut, backend.Textf("session %s runs", id), at}
		case s.session.Hub != nil && !s.session.Completed(): // what a hub lists can be woken
			return sessionLife{CannotTell, backend.Textf("its hub lists session %s as %s", id, s.session.Status), at}
		case s.session.Hub != nil:
			return sessionLife{Confirmed, backend.Textf("its hub lists session %s as %s", id, s.session.Status), at}
		}
		return sessionLife{Confirmed, backend.Textf("session %s has no run loop, so its registry is closed", id), at}
	}
	return s.unlisted(id)
}

// unlisted says what it means that no list has the session.
func (s *subjectView) unlisted(id backend.Safe) sessionLife {
	h := s.delivers(backend.InputSessions)
	if h != nil {
		if why, is := h.Silent(s.sessionID); is {
			return sessionLife{CannotTell, backend.Textf("session %s left the list, and its own route cannot be read: %s", id, why), origin{}}
		}
	}
	if h == nil || h.Status != fleet.StatusOK {
		return sessionLife{CannotTell, backend.Textf("session %s is not listed, and no complete session list is read", id), origin{}}
	}
	if s.past == nil && !s.leftItsList() {
		return sessionLife{CannotTell, backend.Textf("no list ever named session %s, so whether it is over is not known", id), origin{}}
	}
	return sessionLife{Confirmed, backend.Textf("session %s is not in the list of sessions any more", id), origin{h.Key.Source, h.LastOK}}
}

// leftItsList reports whether an alert remembers that the session was listed before.
func (s *subjectView) leftItsList() bool {
	return slices.ContainsFunc(s.led, func(a *alerts.Alert) bool {
		return a.Rule == "wont-terminate" && len(runsOn(a.Cause.String())) > 0 && s.isAbout(a)
	})
}

// affected lists the sessions whose errors name a cause, each once, in the order of their keys. Unlike the checks it
// searches every error: a list with holes is no list.
func (s *subjectView) affected(c alerts.Naming) (keys []backend.Key, total int) {
	var text backend.Safe
	var last backend.Key
	found := false
	for _, w := range s.workspaces {
		if w.LastError != text {
			text, found = w.LastError, c.In(w.LastError.String()) != 0
		}
		k := backend.Key{Kind: backend.KindSession, Source: w.Key.Source, ID: w.Key.Parent}
		if !found || k == last {
			continue
		}
		last = k
		total++
		if len(keys) < MaxSessions {
			keys = append(keys, k)
		}
	}
	return keys, total
}

// rollout looks for a change that explains what began: an event, sandboxes that started together, versions that differ.
func (s *subjectView) rollout() Check {
	q := question{"rollout", "Did a rollout or a restart just happen?", "change events, start times of several sandboxes, or frameworkVersion in the list route"}
	if x := s.firing("restart-storm"); x != nil {
		return q.saysAlert(x)
	}
	recent, known := s.span(changeWithin)
	if !known {
		return q.off(changeWithin)
	}
	end := s.now
	if x := s.firing("eviction-storm"); x != nil && x.Bounds.Latest.Before(s.now) && !x.Bounds.Latest.IsZero() {
		end = x.Bounds.Latest.Add(alerts.StartedTogether) // what came later did not bring the storm
		if end.After(s.now) {
			end = s.now
		}
	}
	begin := end.Add(-recent)
	e := s.event(s.now.Sub(begin), func(e *backend.Event) bool {
		// One container's start is daily life; several at once are counted below.
		return e.MayRestart() && !e.At.After(end) && !s.foreign(e) && (e.Source == "" || s.speaksHere(e.Source))
	})
	if e != nil {
		return q.yes(origin{e.Source, e.At}, "%s, %s before this State", e.Text, backend.Age(s.now.Sub(e.At)))
	}
	starts, source := s.starts()
	young := slices.DeleteFunc(slices.Clone(starts), func(at time.Time) bool { return at.Before(begin) || at.After(end) })
	share, _ := s.number(changeShare)
	if n, newest := alerts.Together(young, alerts.StartedTogether); n > 1 && float64(n) >= share*float64(len(s.sandboxes)) {
		return q.yes(origin{source, newest}, "%d of %s started within %s of each other, the last %s ago", n, plural(len(s.sandboxes), "sandbox"),
			spanText(alerts.StartedTogether), backend.Age(s.now.Sub(newest)))
	}
	if v := s.versions(); len(v) > 1 {
		return q.unsure("sessions run different framework versions (%s); when that began is not seen", backend.Join(v[:min(len(v), 5)], ", "))
	}
	if v := s.images(); len(v) > 1 {
		return q.unsure("sandboxes run %d different images (%s), which may be on purpose", len(v), backend.Join(v[:min(len(v), 3)], ", "))
	}
	switch n, _ := alerts.Together(starts, alerts.StartedTogether); {
	case len(starts) > 1 && len(young) == 0:
		return q.no(s.from(&s.sandboxes[0].Meta), "none of %d sandboxes started in the last %s, and no change was seen", len(starts), spanText(recent))
	case len(starts) > 1 && n < 2:
		return q.no(s.from(&s.sandboxes[0].Meta), "the starts of %d sandboxes are spread, and no change was seen", len(starts))
	case len(starts) > 1:
		return q.no(s.from(&s.sandboxes[0].Meta), "only %d of %s started together, and no change was seen", n, plural(len(s.sandboxes), "sandbox"))
	}
	return q.unsure("no change was seen, and too few start times are known")
}

// starts are when the subject's sandboxes started, and a source that tells.
func (s *subjectView) starts() (all []time.Time, source string) {
	for _, sb := range s.sandboxes {
		if at, ok := sb.StartedAt.Get(); ok {
			all, source = append(all, at), sb.Key.Source
		}
	}
	return all, source
}

// versions lists the versions of framework and SDK that the sessions of the subject's source run, each once.
func (s *subjectView) versions() []backend.Safe {
	var out []backend.Safe
	for x := range s.State.Sessions.All() {
		if s.here(x.Key.Source) {
			out = distinct(out, x.Versions())
		}
	}
	return out
}

func (s *subjectView) images() []backend.Safe {
	var out []backend.Safe
	for _, sb := range s.sandboxes {
		out = distinct(out, sb.Image)
	}
	return out
}

// distinct appends a text unless it is empty or there already.
func distinct(list []backend.Safe, t backend.Safe) []backend.Safe {
	if t.IsEmpty() {
		return list
	}
	for _, x := range list {
		if x == t {
			return list
		}
	}
	return append(list, t)
}

// hostMemory asks whether the machines below run out of memory.
func (s *subjectView) hostMemory() Check {
	q := question{"host-memory", "Is a host out of memory?", "a tmpdir source on the host that runs the agents"}
	least, known := s.number(memoryAvailable)
	most, _ := s.number(memoryPressure)
	var calm *backend.Host
	for _, h := range s.hosts() {
		if x := s.firingOn("host-oom", h.Key); x != nil {
			return q.saysAlert(x)
		}
		total, free := h.MemTotal.Or(0), h.MemAvailable.Or(0)
		read := h.MemTotal.IsKnown() && h.MemAvailable.IsKnown()
		switch {
		case known && read && total > 0 && float64(free) < least*float64(total):
			return q.yes(s.from(&h.Meta), "%s has %s of %s memory available", h.Name, bytesText(free), bytesText(total))
		case known && h.MemPressure.Or(0) > most:
			return q.yes(s.from(&h.Meta), "tasks on %s wait for memory %.0f %% of the time", h.Name, 100*h.MemPressure.Or(0))
		case read:
			calm = h
		}
	}
	about := func(e *backend.Event) bool { // a container's own limit is no host's
		return e.Name == "oom" && e.Subject.Kind != backend.KindSandbox && s.speaksHere(e.Source)
	}
	recent, _ := s.span(memoryRecent)
	switch e := s.event(recent, about); {
	case e != nil:
		return q.yes(origin{e.Source, e.At}, "%s", e.Text)
	case calm == nil:
		return q.unsure("no host's memory is read")
	case !known:
		return q.off(memoryAvailable)
	}
	return q.no(s.from(&calm.Meta), "%s has %s of %s memory available", calm.Name, bytesText(calm.MemAvailable.Or(0)), bytesText(calm.MemTotal.Or(0)))
}

// fullRoots asks whether the file systems below the scratch directories are full.
func (s *subjectView) fullRoots(q question) Check {
	if s.provider() == filestore {
		return s.byErrors(s.fullQuestion(), alerts.NamesSpace)
	}
	var calm origin
	var calmText backend.Safe
	for _, h := range s.hosts() {
		for _, r := range h.Roots {
			switch text, full := s.fullness(r); {
			case full:
				return q.yes(s.from(&h.Meta), "%s on %s: %s", r.Path, h.Name, text)
			case !text.IsEmpty():
				calm, calmText = s.from(&h.Meta), backend.Textf("%s on %s: %s", r.Path, h.Name, text)
			}
		}
	}
	holder := rootFree
	_, known := s.number(rootFree)
	if known {
		holder = rootBytes
		_, known = s.number(rootBytes)
	}
	switch c := s.byErrors(q, alerts.NamesSpace); {
	case c.Mark == Confirmed:
		return c
	case calmText.IsEmpty():
		return q.unsure("no root of scratch directories is read")
	case !known:
		return q.off(holder)
	}
	return q.no(calm, "%s", calmText)
}

// fullness says how much room a root has, and whether the rules call that full.
func (s *subjectView) fullness(r backend.Root) (text backend.Safe, full bool) {
	share, _ := s.number(rootFree)
	fewBytes, _ := s.number(rootBytes)
	fewInodes, _ := s.number(rootInodes)
	total, ok := r.Bytes.Get()
	free, okFree := r.BytesFree.Get()
	if !ok || !okFree || total <= 0 {
		return backend.Safe{}, false
	}
	kind := ""
	if !r.FSType.IsEmpty() {
		kind = " (" + r.FSType.String() + ")"
	}
	text = backend.Textf("%s of %s free%s", bytesText(free), bytesText(total), kind)
	if inodes, ok := r.Inodes.Get(); ok && inodes > 0 {
		if left, ok := r.InodesFree.Get(); ok && float64(left) < max(share*float64(inodes), fewInodes) {
			return backend.Textf("%s, and only %d of %d inodes", text, left, inodes), true
		}
	}
	return text, float64(free) < max(share*float64(total), fewBytes)
}

// sandboxOOM asks whether a sandbox was killed for memory.
func (s *subjectView) sandboxOOM() Check {
	q := question{"sandbox-oom", "Was a sandbox killed for lack of memory?", "a container source whose sandboxes are joined to sessions"}
	recent, judged := s.span(killedRecently)
	known := 0
	var killed *backend.Sandbox
	for _, sb := range s.sandboxes {
		// After a restart the flag is that of a new run.
		switch e := s.event(24*time.Hour, func(e *backend.Event) bool { return e.Name == "oom" && e.Subject == sb.Key }); {
		case e == nil:
		case !judged:
			return q.off(killedRecently)
		case s.now.Sub(e.At) <= recent:
			return q.yes(origin{e.Source, e.At}, "%s", e.Text)
		}
		memory, told := sb.OOMKilled.Get()
		code, _ := sb.ExitCode.Get()
		switch {
		case memory:
			return q.yes(s.from(&sb.Meta), "%s was killed for lack of memory", sb.Name)
		case told:
			known++
		case code == exitKilled:
			killed = sb
		}
	}
	if killed != nil {
		return q.unsure("%s ended with exit code %d, which is a kill; whether memory was the reason its engine does not say", killed.Name, exitKilled)
	}
	if known > 0 {
		return q.no(s.from(&s.sandboxes[0].Meta), "the engine reports no OOM kill for %s", plural(known, "sandbox"))
	}
	if len(s.sandboxes) > 0 {
		c := q.unsure("the platform of %s does not tell why one ended; none is known to have ended with exit code %d, a kill", plural(len(s.sandboxes), "sandbox"), exitKilled)
		c.WouldTell = backend.Text("the agents' log, at the time at which a sandbox ends")
		return c
	}
	return q.unsure("no sandbox of this subject is listed")
}

// exitKilled is the exit code of a process that was killed: 128 and the number of SIGKILL.
const exitKilled = 137

// bytesText writes a size in decimal units with at most one digit behind the point.
func bytesText(n int64) string {
	v := float64(n)
	for _, u := range []struct {
		name   string
		factor float64
	}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}} {
		if v >= u.factor {
			return number(float64(int64(v/u.factor*10))/10) + " " + u.name
		}
	}
	return number(v) + " B"
}
