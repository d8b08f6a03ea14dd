package runbook

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// cleaned asks whether a directory or a sandbox was removed, and by whom.
func (s *subjectView) cleaned() Check {
	q := question{"cleaned", "Did a person or a job remove the directory or the sandbox?", "events of a container source, our own journal, or the host's clean-up jobs"}
	if w, h := s.waiting(); w != nil {
		return q.yes(s.from(&h.Meta), "through Sandglass: %s was quarantined %s ago, and can be put back until %s", w.Path, backend.Age(s.now.Sub(w.Moved)), hourOf(w.Due))
	}
	e := s.event(7*24*time.Hour, func(e *backend.Event) bool {
		return (removal(e) || restored(e)) && s.concerns(e)
	})
	switch {
	case e == nil || restored(e):
	case e.Kind == backend.EventAction:
		return q.yes(origin{e.Source, e.At}, "through Sandglass: %s", e.Text)
	default:
		return q.yes(origin{e.Source, e.At}, "by the platform or a person: %s", e.Text)
	}
	if h := s.delivers(backend.InputTmpdirs); h != nil {
		if x := s.missed(); x != nil {
			return q.yes(x.from, "by a clean-up job of the host (systemd-tmpfiles, tmpreaper or find): %s", x.text)
		}
		if n := s.mountedDirs(); n > 0 {
			return q.no(origin{h.Key.Source, h.LastOK}, "the scratch directory that its sandbox mounts is still there")
		}
	}
	return q.unsure("no removal was seen; what happened before Sandglass watched is not known")
}

// missed finds an error that misses a scratch directory which is not there.
func (s *subjectView) missed() *reportedError {
	for i := range s.errors {
		x := &s.errors[i]
		if x.cause&(alerts.NamesGone|alerts.NamesCleaned) != 0 && strings.Contains(x.text.String(), "helix-ws-") && !s.listed(x.text.String()) {
			return x
		}
	}
	return nil
}

// waiting finds the subject's scratch directory among those that a clean-up has set aside.
func (s *subjectView) waiting() (*backend.Waiting, *backend.Host) {
	for _, h := range s.hosts() {
		for i := range h.Roots {
			for j := range h.Roots[i].Waiting {
				if w := &h.Roots[i].Waiting[j]; s.isIts(w.Key) {
					return w, h
				}
			}
		}
	}
	return nil, nil
}

// removal reports whether an event says that something was removed, by us or by its platform. An action's text begins
// with its verb and its outcome; a failed or skipped action removed nothing.
func removal(e *backend.Event) bool {
	switch e.Kind {
	case backend.EventPlatform:
		return e.Name == "destroy"
	case backend.EventAction:
		how, _, _ := strings.Cut(strings.TrimPrefix(e.Text.String(), e.Name+" "), " ")
		return slices.Contains([]string{"clean", "purge", "destroy", "remove"}, e.Name) &&
			!slices.Contains([]string{"of", "failed:", "failed", "refused:", "skipped:", "ended:"}, how)
	case backend.EventTransition, backend.EventNote, backend.EventChange:
	}
	return false
}

// restored reports whether an event says that what a clean-up set aside has its name back.
func restored(e *backend.Event) bool {
	return e.Kind == backend.EventAction && e.Name == "undo" && strings.HasPrefix(e.Text.String(), "undo verified")
}

// concerns reports whether an event is about the subject, its session or one of its sandboxes.
func (s *subjectView) concerns(e *backend.Event) bool {
	k := e.Subject
	if k == s.Subject || !s.sessionID.IsZero() && (k.ID == s.sessionID || k.Parent == s.sessionID) {
		return k.Kind != ""
	}
	return s.isIts(k) || slices.ContainsFunc(s.sandboxes, func(sb *backend.Sandbox) bool { return sb.Key == k })
}

// isIts reports whether a scratch directory is the subject's: its sandbox mounts it, or an error of the subject names
// its path.
func (s *subjectView) isIts(k backend.Key) bool {
	if k.Kind != backend.KindTmpdir {
		return false
	}
	if k == s.Subject {
		return true
	}
	path := backend.TmpdirPath(k)
	for _, sb := range s.sandboxes {
		if slices.ContainsFunc(sb.Mounts, func(m backend.Mount) bool { return m.RawSource.Raw() == path }) {
			return true
		}
	}
	return slices.ContainsFunc(s.errors, func(x reportedError) bool { return backend.HoldsPath(x.text.String(), path) })
}

// listed reports whether a text names a scratch directory that exists.
func (s *subjectView) listed(text string) bool {
	for t := range s.State.Tmpdirs.All() {
		if backend.HoldsPath(text, t.RawPath.Raw()) {
			return true
		}
	}
	return false
}

func (s *subjectView) mountedDirs() int {
	n := 0
	for t := range s.State.Tmpdirs.All() {
		for _, sb := range s.sandboxes {
			for _, m := range sb.Mounts {
				if m.RawSource == t.RawPath && !t.RawPath.IsZero() {
					n++
				}
			}
		}
	}
	return n
}
