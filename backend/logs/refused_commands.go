package logs

import (
	"bytes"
	"cmp"
	"time"

	"sandglass/backend"
)

// refusedCommands remembers which commands a session had refused lately, by their first word: the same word many
// times is a loop, many different words are an agent that tries what is allowed.
type refusedCommands struct {
	seen map[string]map[string]*commandUse // by session, then by word
}

type commandUse struct{ counted, last time.Time }

const (
	forgetWord      = time.Hour
	recountWord     = 50 * time.Minute // a word in use counts anew, so that an hour's window always holds it
	maxWordSessions = 2000
	maxWords        = 200 // of one session
)

// fresh reports whether the session has not used the word lately. What is beyond the bounds is never fresh: the count is
// then a lower bound far above any threshold.
func (w *refusedCommands) fresh(session string, word []byte, at time.Time) bool {
	of := w.seen[session]
	if of == nil {
		if len(w.seen) >= maxWordSessions {
			return false
		}
		of = map[string]*commandUse{}
		w.seen[session] = of
	}
	use := of[string(word)]
	switch {
	case use == nil && len(of) >= maxWords:
		return false
	case use == nil:
		of[string(word)] = &commandUse{at, at}
		return true
	}
	if at.After(use.last) {
		use.last = at
	}
	if at.Sub(use.counted) < recountWord {
		return false
	}
	use.counted = at
	return true
}

func (w *refusedCommands) forget(now time.Time) {
	for session, of := range w.seen {
		for word, use := range of {
			if now.Sub(use.last) > forgetWord {
				delete(of, word)
			}
		}
		if len(of) == 0 {
			delete(w.seen, session)
		}
	}
}

// word counts the first word of a refused command, once as long as the session goes on using it. A line that names no
// command counts nothing.
func (a *lineAnalyser) word(r record, k seriesKey, at time.Time) {
	word, _, _ := bytes.Cut(bytes.TrimSpace(r.command), []byte(" "))
	if word = word[:min(len(word), maxFieldBytes)]; len(word) > 0 && a.words.fresh(k.session, word, at) {
		a.tally.add(k.of(backend.MetricRejectedWords), at, 1, false, word)
	}
}

// sampleOf is what is kept of a line for evidence: its cause where that is what matters about it, else the line.
func (p *pattern) sampleOf(r record, line []byte) []byte {
	switch p.class {
	case ClassSDKExec, ClassSDKFiles, ClassSDKMissing:
		return sdkSample(p, r, line)
	case ClassPersistFailed, ClassHydrateFailed:
		if p.frame {
			return frameSample(p, r)
		}
		c := p.causeIn(r.message, nil)
		for _, next := range [][]byte{p.causeIn(r.errText, nil), r.errText, r.message} {
			if len(c) == 0 {
				c = next
			}
		}
		if len(c) == 0 {
			return line
		}
		phase := cmp.Or(backend.PhaseIn(string(r.message)), backend.PhaseIn(string(r.errText)))
		if p.name == noBytesName {
			phase = backend.PhaseNoBytes
		}
		return append(bytes.Clone(c[:min(len(c), maxSample)]), phase.Sign()...)
	case ClassTmpdirCloseFailed, ClassPreviewFailed, ClassPTYCount:
		if c := p.causeIn(r.message, r.errText); len(c) > 0 {
			return c
		}
		if len(r.message) > 0 {
			return r.message
		}
	case ClassRead, ClassWrite: // loggers give the path a field of its own
		if c := p.causeIn(r.message, nil); len(c) > 0 {
			return c
		}
		return p.causeIn(line, line)
	case ClassPTYFailed:
		out := []byte(p.meaning)
		if c := p.causeIn(r.message, nil); len(c) > 0 {
			return append(append(out, ": "...), c...)
		} else if c = p.causeIn(r.errText, nil); len(c) > 0 {
			return append(append(out, ": "...), c...)
		}
		return out
	case ClassWorkspaceFailed, ClassWorkspaceEvicted, ClassPTYUnknown:
		return r.told(line)
	case ClassEvictionExhausted, ClassRejection, ClassRollup, ClassCloseTimeout, ClassNameCollision, ClassAgentOOM, ClassLimitKill, ClassMemory, ClassNote, ClassHub, ClassNotStarted, ClassPersistDone, ClassExecDone:
	case ClassPackageMissing:
		return packageSample(r, line)
	case ClassSDKDelete, ClassSDKNotice:
		if bytes.Contains(r.errText, []byte(p.contains)) {
			return r.errText
		}
		return r.told(line)
	}
	return line
}
