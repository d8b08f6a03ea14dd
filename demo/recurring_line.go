package demo

import (
	"fmt"
	"time"
)

// recurringLine is one kind of line that the log repeats.
type recurringLine struct {
	first  time.Duration
	period time.Duration
	make   func(w world, h uint64) (logLine, bool)
}

// Messages of the framework; the wording is what operators match.
const (
	msgExhausted   = "workspace tool: eviction retry exhausted"
	msgTmpdir      = "tmpdir close failed"
	msgMeta        = "workspace tool: shell metacharacter rejected"
	msgGlob        = "workspace tool: glob/brace expansion rejected"
	msgAllow       = "workspace tool: command not in allowlist"
	msgCollision   = "sub-agent declares workspace name that exists on parent"
	msgRollup      = "[rate-limited] "
	msgCloseSlow   = "workspace close timed out after 30000ms, abandoned"
	floodBegin     = -3 * time.Minute
	floodRollup    = 5 * time.Second
	floodInFull    = time.Minute
	floodPerRollup = 9500 // 1,900 rejections a second
	longBefore     = -24 * time.Hour
)

// recurringLines are the lines of an instance's log. Their order gives every line
// its random number, so that new ones go to the end.
func (f *fleet) recurringLines(where instance) []recurringLine {
	all := []recurringLine{
		{longBefore, 1100 * time.Millisecond, where.chatter},
		{longBefore + 3*time.Second, 41 * time.Second, where.rejects(msgMeta, "cat notes.md | wc -l")},
		{longBefore + 7*time.Second, 97 * time.Second, where.rejects(msgGlob, "rm -f build/{a,b}.o")},
		{longBefore + 9*time.Second, 67 * time.Second, where.rejects(msgAllow, "curl https://example.invalid")},
		{longBefore + 11*time.Second, 4 * time.Minute, where.collides},
	}
	if f.incidents.failed || f.incidents.hammered || f.incidents.storm || f.incidents.broken {
		all = append(all, recurringLine{longBefore + 1500*time.Millisecond, 3 * time.Second, where.complains})
	}
	if f.incidents.storm {
		all = append(all, recurringLine{stormBegin, 1400 * time.Millisecond, where.exhausts})
	}
	if f.incidents.leak && where == eu { // the host with the scratch directories is of helix-eu
		all = append(all,
			recurringLine{longBefore + 13*time.Second, 45 * time.Second, where.leaves},
			recurringLine{longBefore + 17*time.Second, 2 * time.Minute, where.closesSlowly})
	}
	if f.incidents.flood && where == eu {
		all = append(all, recurringLine{floodBegin, floodInFull, where.floods}, recurringLine{floodBegin + floodRollup, floodRollup, where.rollsUp})
	}
	if f.incidents.hostile && where == us {
		all = append(all, recurringLine{longBefore + 19*time.Second, 2 * time.Minute, where.shouts})
	}
	return all
}

// anyWorkspace draws a workspace of a busy live session, with one of the given providers where some are given.
func (w world) anyWorkspace(where instance, h uint64, with func(provider) bool) (int32, bool) {
	slots := w.order[where]
	n := len(slots)
	if n == 0 {
		return 0, false
	}
	// The newest sessions come first; half a page of them is where the work is.
	at := int(below(h, uint64(min(n, pageSlots/2))))
	for k := range min(n, 64) {
		s := &w.sessions[slots[(at+k)%n]]
		for c := range s.count {
			i := s.first + int32((below(scramble(h), uint64(s.count))+uint64(c))%uint64(s.count))
			if with == nil || with(w.workspaces[i].provider) {
				return i, true
			}
		}
	}
	return 0, false
}

func (w world) about(i int32, l logLine) (logLine, bool) {
	l.session, l.workspace = w.sessionID(int(w.workspaces[i].session)), w.workspaceName(i)
	return l, true
}

func (where instance) chatter(w world, h uint64) (logLine, bool) {
	i, ok := w.anyWorkspace(where, h, nil)
	if !ok {
		return logLine{}, false
	}
	return w.about(i, logLine{level: levelInfo, message: fmt.Sprintf("run step %d completed in %dms", 1+h%40, 80+h>>20%9000)})
}

func (where instance) rejects(message, command string) func(world, uint64) (logLine, bool) {
	return func(w world, h uint64) (logLine, bool) {
		i, ok := w.anyWorkspace(where, h, provider.hasShell)
		if !ok {
			return logLine{}, false
		}
		return w.about(i, logLine{level: levelWarn, message: message, command: command})
	}
}

func (where instance) collides(w world, h uint64) (logLine, bool) {
	i, ok := w.anyWorkspace(where, h, nil)
	if !ok {
		return logLine{}, false
	}
	return w.about(i, logLine{level: levelWarn, message: msgCollision})
}

// failingWorkspace draws a workspace whose trouble has begun.
func (w world) failingWorkspace(where instance, h uint64, fits func(tr *trouble) bool) (int32, bool) {
	all := w.failing[where]
	if len(all) == 0 {
		return 0, false
	}
	at := int(below(h, uint64(len(all))))
	for k := range min(len(all), 64) {
		i := all[(at+k)%len(all)]
		tr := &w.troubles[w.workspaces[i].trouble]
		if w.t >= tr.first && fits(tr) && !w.healed(i) {
			return i, true
		}
	}
	return 0, false
}

// complaining is how many failing workspaces a line every three seconds is for: fewer of them log less.
const complaining = 24

// complains repeats the error of a workspace that does not work.
func (where instance) complains(w world, h uint64) (logLine, bool) {
	if below(scramble(h), complaining) >= uint64(len(w.failing[where])) {
		return logLine{}, false
	}
	i, ok := w.failingWorkspace(where, h, func(*trouble) bool { return true })
	if !ok {
		return logLine{}, false
	}
	e := w.entry(i)
	return w.about(i, logLine{level: levelError, message: "workspace tool: operation failed", cause: w.errorText(i, e.cause, e.nonce)})
}

func (where instance) exhausts(w world, h uint64) (logLine, bool) {
	i, ok := w.failingWorkspace(where, h, func(tr *trouble) bool { return tr.cause == causeMaxInstances || tr.cause == causeInstanceGone })
	if !ok {
		return logLine{}, false
	}
	why := w.troubles[w.workspaces[i].trouble].cause
	return w.about(i, logLine{level: levelError, message: msgExhausted, cause: why.text(h)})
}

// keepsDirs reports whether a provider has scratch directories on a host.
func (p provider) keepsDirs() bool { return p == localBash }

// leaves: a subprocess writes while the directory is removed.
func (where instance) leaves(w world, h uint64) (logLine, bool) {
	i, ok := w.anyWorkspace(where, h, provider.keepsDirs)
	d := w.leftDir(h)
	if !ok || d == nil {
		return logLine{}, false
	}
	return w.about(i, logLine{level: levelError, message: msgTmpdir, cause: "ENOTEMPTY: directory not empty, rmdir '" + w.scratchPath(d) + "'"})
}

// leftDir is a directory that was just left behind: the newest one, or before the start one that nothing changed since.
// When no more come, older ones are tried again.
func (w world) leftDir(h uint64) *scratchDir {
	if n := int(w.t / leakGap); n > leakedDirs {
		return &w.dirs[scratchDirs+below(h, leakedDirs)]
	} else if n > 0 {
		return &w.dirs[scratchDirs+n-1]
	}
	at := int(below(scramble(h), scratchDirs))
	for k := range scratchDirs {
		if d := &w.dirs[(at+k)%scratchDirs]; !d.held && !d.mounted && -d.age <= w.t {
			return d
		}
	}
	return nil
}

func (where instance) closesSlowly(w world, h uint64) (logLine, bool) {
	i, ok := w.anyWorkspace(where, h, provider.keepsDirs)
	if !ok {
		return logLine{}, false
	}
	return w.about(i, logLine{level: levelWarn, message: msgCloseSlow})
}

const floodCommand = "ls;"

func (where instance) floods(w world, _ uint64) (logLine, bool) {
	if w.flooder == noIndex {
		return logLine{}, false
	}
	return w.about(w.flooder, logLine{level: levelWarn, message: msgMeta, command: floodCommand})
}

func (where instance) rollsUp(w world, h uint64) (logLine, bool) {
	if w.flooder == noIndex {
		return logLine{}, false
	}
	count := floodPerRollup*95/100 + int64(below(h, floodPerRollup/10))
	return w.about(w.flooder, logLine{level: levelWarn, message: msgRollup + msgMeta, command: floodCommand, suppressed: count})
}

// shouts carries control characters, as the output of a command may.
func (where instance) shouts(w world, h uint64) (logLine, bool) {
	i, ok := w.anyWorkspace(where, h, nil)
	if !ok {
		return logLine{}, false
	}
	return w.about(i, logLine{level: levelInfo, message: "command printed " + hostileName + " and OPENAI_API_KEY=sk-demo-" + fmt.Sprintf("%016x", h)})
}
