package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/subjects"
)

// A diagnosis of a huge fleet takes longer than a key may: it is worked out beside the program, one at a time, for what
// the reader looks at.
const (
	diagnoseEvery = 2 * time.Second // one question is not asked again before this
	maxDiagnoses  = 50              // answers that are kept
	slowDiagnosis = 20 * time.Millisecond
	restsFor      = 150 * time.Millisecond // after a slow diagnosis the reader stays so long at something before the next begins
)

// diagnoser knows which answers there are and how old they are.
type diagnoser struct {
	asked            map[views.Question]asked
	busy             bool
	slow             bool           // the newest diagnosis took long
	passing, settled views.Question // what the reader came to just now, and what was long enough in sight
}

type asked struct {
	number uint64 // of the State
	at     time.Time
}

// diagnosedMsg brings an answer.
type diagnosedMsg struct {
	question views.Question
	answer   *runbook.Diagnosis
	took     time.Duration
}

// restedMsg says that restsFor has passed since the reader came to something.
type restedMsg views.Question

// History is what a Feed may know of the past besides: the newest n events of this and earlier States, newest first.
type History interface {
	Timeline(n int) []backend.Event
}

// recentEvents is how many events a diagnosis looks back at.
const recentEvents = 5000

// diagnose returns the command that answers what the reader looks at, nil when that is answered or another is under way.
func (m *Model) diagnose() tea.Cmd {
	q, wanted := m.question()
	if !wanted || m.diagnoser.busy || m.state == nil {
		return nil
	}
	last, known := m.diagnoser.asked[q]
	if known && (last.number == m.state.Number || m.frame.Now.Sub(last.at) < diagnoseEvery) {
		return nil
	}
	if m.diagnoser.slow && q != m.diagnoser.settled {
		return m.rests(q)
	}
	if len(m.diagnoser.asked) >= maxDiagnoses {
		clear(m.diagnoser.asked)
		clear(m.frame.Diagnoses)
	}
	m.diagnoser.busy = true
	m.diagnoser.asked[q] = asked{m.state.Number, m.frame.Now}
	state, board, feed, clock := m.state, m.frame.Board, m.feed, m.viewer.Now
	return func() tea.Msg {
		began := clock()
		d := answer(q, state, board, feed)
		return diagnosedMsg{q, &d, clock().Sub(began)}
	}
}

// rests waits until the reader stays at something: a cursor that is on its way passes many rows.
func (m *Model) rests(q views.Question) tea.Cmd {
	if q == m.diagnoser.passing {
		return nil // its time runs
	}
	m.diagnoser.passing = q
	return tea.Tick(restsFor, func(time.Time) tea.Msg { return restedMsg(q) })
}

func takeRested(m *Model, q views.Question) tea.Cmd {
	if q != m.diagnoser.passing {
		return nil // the reader went on
	}
	m.diagnoser.settled, m.diagnoser.passing = q, views.Question{}
	return m.diagnose()
}

func answer(q views.Question, state *fleet.State, board *alerts.Board, feed Feed) runbook.Diagnosis {
	c := runbook.Case{State: state, Board: board, Subject: q.Subject, Alert: q.Alert, Events: state.Events}
	if h, ok := feed.(History); ok {
		c.Events = slices.Clone(h.Timeline(recentEvents))
		slices.Reverse(c.Events) // a diagnosis reads them as they happened
	}
	return c.Diagnose(q.Incident)
}

// diagnosed takes an answer, and asks what the reader wants by now.
func (m *Model) diagnosed(msg diagnosedMsg) tea.Cmd {
	m.diagnoser.busy, m.diagnoser.slow = false, msg.took > slowDiagnosis
	m.frame.Diagnoses[msg.question] = msg.answer
	m.dirty = true
	return m.diagnose()
}

// question is what the reader looks at: what an overlay shows, or the row under the cursor of a table in sight.
func (m *Model) question() (views.Question, bool) {
	if a, ok := m.stack.top().(asker); ok {
		return a.asks(&m.frame)
	}
	const detailsBeside = 160 // cells from which other tables show the details of their row too
	if k := m.screen().Cursor(&m.frame); m.overTable() && (k.Kind == views.KindAlert || k.Kind != "" && m.width >= detailsBeside) {
		return subjects.AskedBy(k, &m.frame)
	}
	return views.Question{}, false
}
