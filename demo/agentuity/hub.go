package agentuity

import (
	"fmt"
	"strings"
	"time"
)

// session is one session of the Coder Hub.
type session struct {
	id, label, status, fails string
	of                       *sandbox
	created, active          time.Time
	lead                     time.Time // since when a driver is connected; zero: none is
	woken                    int       // counts the wakes, so that an old one does not end a new one
	history                  []hubEvent
}

type hubEvent struct {
	name string
	at   time.Time
}

// How long the Hub waits for the driver.
const (
	nudgeAgain  = 5 * time.Second
	driverLimit = 120 * time.Second
	driverTime  = 1200 * time.Millisecond // from the signal until the driver is back
)

const noDriver = "Sandbox driver did not connect within 120000ms. Check sandbox background jobs for details."

// attach makes a session that drives a sandbox.
func (w *World) attach(s *sandbox, label string) *session {
	x := &session{id: w.id("codesess", 12), label: label, status: "active", of: s, created: s.created.Add(-2 * time.Second), active: w.t, lead: s.created.Add(6 * time.Second)}
	w.sessions = append(w.sessions, x)
	w.startJob(s, driverCommand(), s.created.Add(4*time.Second))
	return x
}

// detach says that the sandbox of a session went to sleep.
func (x *session) detach(at time.Time) {
	x.status, x.lead, x.active = "paused", time.Time{}, at
}

func (x *session) say(name string, at time.Time) { x.history = append(x.history, hubEvent{name, at}) }

// nudgeCommand signals the driver. The brackets keep pkill from finding itself.
func nudgeCommand() []string {
	return []string{"bash", "-lc", "pkill -USR1 -f '[r]pc-driver.ts' || { echo 'rpc-driver process not found' >&2; exit 1; }"}
}

// wake is what the Hub does when somebody opens a paused session: it resumes the sandbox and signals the driver.
func (w *World) wake(x *session) {
	x.woken++
	n := x.woken
	x.status, x.lead = "resuming", time.Time{}
	x.say("session_wake", w.t)
	w.log(x, levelInfo, "Waking session: resuming its sandbox")
	if x.of.asleepNow() {
		if why := w.resume(x.of); why != "" {
			x.status, x.fails = "error", "Failed to resume sandbox: "+why
			x.say("session_error", w.t)
			w.log(x, levelError, "Failed to resume sandbox: "+w.answered(x.of, "resume", why, 409))
			return
		}
	}
	w.later(resumeTime+200*time.Millisecond, func() { w.wait(x, n) })
}

// wait is the Hub's wait for the driver of a sandbox that was resumed.
func (w *World) wait(x *session, n int) {
	if x.woken != n {
		return
	}
	x.status, x.fails = "creating", ""
	w.log(x, levelInfo, "Sandbox resumed, waiting for driver to connect")
	w.nudge(x, n, "after resume")
	w.later(nudgeAgain, func() {
		if x.woken == n && x.lead.IsZero() {
			w.log(x, levelWarn, "Sandbox driver still has not reconnected after 5000ms, sending another nudge")
			w.nudge(x, n, "follow-up")
		}
	})
	w.later(driverLimit, func() {
		if x.woken == n && x.lead.IsZero() {
			x.status, x.fails = "error", noDriver
			x.say("session_error", w.t)
			w.log(x, levelError, noDriver)
		}
	})
	w.later(driverLimit+8*time.Second, func() {
		if x.woken == n && x.lead.IsZero() {
			w.log(x, levelWarn, "Controller rejected for unknown session "+x.id)
		}
	})
}

// nudge signals the driver through an execution.
func (w *World) nudge(x *session, n int, phase string) {
	r, refused := w.execute(x.of, nudgeCommand())
	if refused != nil {
		w.log(x, levelError, fmt.Sprintf("failed to send USR1 reconnect nudge (%s): %s", phase, w.answered(x.of, "execute", refused.message, refused.status)))
		return
	}
	r.then = func() {
		w.later(driverTime, func() {
			if x.woken == n && x.of.driver() != nil {
				x.status, x.fails, x.lead, x.active = "active", "", w.t, w.t
				x.say("driver_connected", w.t)
				w.log(x, levelInfo, "Sandbox driver connected")
			}
		})
	}
}

// answered is how the vendor's client prints a failed request.
func (w *World) answered(s *sandbox, what, message string, status int) string {
	return fmt.Sprintf("APIErrorResponse: %s { sessionId: '%s', status: %d, url: '%s/sandbox/%s/%s?orgId=%s' }",
		message, w.id("sess", 32), status, w.regionBase(s.region), s.id, what, OrgID)
}

// A level of a log line.
type level string

const (
	levelInfo  level = "INFO"
	levelWarn  level = "WARN"
	levelError level = "ERROR"
)

// Line is one line of the Hub's log.
type Line struct {
	At                time.Time
	Level             string
	Message           string
	Session, Sandbox  string
	JSON, WithoutName bool // how the Hub that has this session writes it
}

// keptLines bounds the lines that nobody fetched.
const keptLines = 10_000

func (w *World) log(x *session, l level, message string) {
	form := w.draw("log form "+x.id, 0, 3)
	w.lines = append(w.lines, Line{At: w.t, Level: string(l), Message: message, Session: x.id, Sandbox: x.of.id, JSON: form == 2, WithoutName: form == 1})
	if over := len(w.lines) - keptLines; over > 0 {
		w.lines = append([]Line(nil), w.lines[over:]...)
	}
}

// Lines returns what the Hub logged up to now and was not fetched before.
func (w *World) Lines() []Line {
	defer w.enter()()
	out := w.lines
	w.lines = nil
	return out
}

const stamp = "2006-01-02T15:04:05.000Z"

// Text is the line as the Hub writes it, without a line feed.
func (l Line) Text() string {
	at := l.At.UTC().Format(stamp)
	if l.JSON {
		return fmt.Sprintf(`{"time":%q,"level":%q,"logger":"hub","msg":%s,"sessionId":%q,"sandboxId":%q}`,
			at, strings.ToLower(l.Level), quoteJSON(l.Message), l.Session, l.Sandbox)
	}
	name := "[hub] "
	if l.WithoutName {
		name = ""
	}
	return fmt.Sprintf("%s [%s] %s%s session=%s sandbox=%s", at, l.Level, name, l.Message, l.Session, l.Sandbox)
}
