package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	alertsview "sandglass/views/alerts"
	"sandglass/views/keys"
	"sandglass/views/sandboxes"
	"sandglass/views/sources"
	"sandglass/views/theme"
	"sandglass/views/timeline"
	"sandglass/views/tmpdirs"
	"sandglass/views/workspaces"
)

// Every number that decides how often something happens.
const (
	refreshEvery = 100 * time.Millisecond // States are drawn at most this often
	tickEvery    = time.Second            // ages and the clock are looked at this often; what did not change is not sent
	sayFor       = 6                      // ticks for which a remark stays in the footer
	framesPerSec = 60
)

// Model is the program. Make it with New.
type Model struct {
	viewer  Viewer
	feed    Feed
	keymap  *keys.Map
	screens []views.Screen
	current int
	frame   views.Frame
	state   *fleet.State // as the feed gave it; nil before the first
	width   int
	height  int

	overlay overlay
	detail  detailView
	help    helpView
	palette palette
	entry   entry

	form     dialog
	under    overlay // what the form lies over
	silences silenceView
	act      acting

	unfinished []backend.Safe // plans that were broken off, until they were seen
	diagnoser  diagnoser

	say      string
	sayTicks int
	focus    string // id to put the cursor on as soon as it is there

	changed <-chan struct{}
	stop    func()
	done    chan struct{}
	visible []backend.Key
	bell    bell

	dirty  bool
	cached tea.View
}

// overlay is what lies over the screen and gets the keys.
type overlay uint8

const (
	noOverlay overlay = iota
	overDetails
	overHelp
	overPalette
	overEntry
	overForm
	overSilences
	overPlan
	overRun
	overVerbs
)

// New makes the program for one viewer. Close it after use.
func New(v Viewer, feed Feed) *Model {
	m := &Model{viewer: v, feed: feed, width: v.Size.Width, height: v.Size.Height, focus: v.Focus, dirty: true,
		screens: []views.Screen{alertsview.New(), workspaces.New(), sandboxes.New(), tmpdirs.New(), timeline.New(), sources.New()},
		done:    make(chan struct{})}
	m.keymap = keys.NewMap(keys.Bindings(m.screenNames()))
	m.frame.Theme = theme.New(theme.ColoursOf(v.ColorProfile), v.Glyphs)
	m.frame.Snapshot = views.NewSnapshot(v.Now(), nil, nil)
	m.frame.Summary = views.Summarise(m.frame.Snapshot)
	m.frame.Diagnoses, m.frame.Local = map[views.Question]*runbook.Diagnosis{}, v.Runbook
	if v.Control != nil {
		m.frame.Abilities = v.Control.Abilities
	}
	m.diagnoser.asked = map[views.Question]asked{}
	m.entry, m.palette = newEntry(), newPalette()
	m.unfinished = v.Unfinished
	if len(m.unfinished) > 0 {
		m.open(timeline.Number)
	}
	m.changed, m.stop = feed.Subscribe()
	m.refresh()
	return m
}

// Close ends the subscription and lets the waiting command return.
func (m *Model) Close() {
	select {
	case <-m.done:
	default:
		close(m.done)
		m.stop()
		m.feed.SetVisible(m.viewer.id(), nil)
	}
}

func (m *Model) screenNames() []keys.ScreenName {
	names := make([]keys.ScreenName, len(m.screens))
	for i, s := range m.screens {
		names[i] = keys.ScreenName{N: s.Number(), Name: s.Name()}
	}
	return names
}

type (
	changedMsg struct{}
	tickMsg    struct{}
	stepMsg    struct{}
)

// Init starts waiting for changes and the tick, and asks a terminal behind SSH for synchronized output, which Bubble
// Tea does not ask there by itself.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.wait(0), m.tick(), m.diagnose()}
	if m.viewer.getenv("SSH_TTY") != "" {
		cmds = append(cmds, tea.Raw(ansi.RequestModeSynchronizedOutput))
	}
	return tea.Batch(cmds...)
}

// Update handles one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case changedMsg:
		m.refresh()
		m.dirty = true
		return m, tea.Batch(m.wait(refreshEvery), m.diagnose(), m.ring())
	case tickMsg:
		m.onTick()
		return m, tea.Batch(m.tick(), m.diagnose())
	case diagnosedMsg:
		return m, m.diagnosed(msg)
	case orderedMsg:
		m.ordered(msg)
	case previewMsg:
		m.previewed(msg)
	case plannedMsg:
		return m, m.planned(msg)
	case readyMsg:
		m.dirty = true
	case tea.ResumeMsg:
		return m, m.cameBack()
	case startedMsg:
		return m, m.started(msg)
	case armedMsg:
		return m, m.onArmed(msg)
	case runMsg:
		return m, m.ran(msg)
	case stepMsg:
		m.screen().Step()
		m.dirty = true
		return m, m.goOn()
	case tea.WindowSizeMsg:
		if msg.Width != m.width || msg.Height != m.height {
			m.width, m.height, m.dirty = msg.Width, msg.Height, true
		}
	case tea.ColorProfileMsg:
		if c := theme.ColoursOf(msg.Profile); c != m.frame.Theme.Colours {
			m.frame.Theme, m.dirty = theme.New(c, m.viewer.Glyphs), true
			return m, tea.ClearScreen // cells that are there keep their old colours otherwise
		}
	case tea.PasteMsg:
		m.dirty = true
		return m, m.paste(msg)
	case tea.KeyPressMsg:
		m.dirty = true
		return m, tea.Batch(m.press(msg), m.diagnose())
	}
	return m, nil
}

func (m *Model) screen() views.Screen { return m.screens[m.current] }

// remark shows one line in the footer for a while.
func (m *Model) remark(s string) { m.say, m.sayTicks = s, sayFor }

func (m *Model) outcome(o views.Outcome) tea.Cmd {
	if o.Say != "" {
		m.remark(o.Say)
	}
	if o.Open != (backend.Key{}) {
		m.detail = detailView{}
		m.detail.open(place{key: o.Open})
		m.overlay = overDetails
	}
	if o.Copy != "" {
		return tea.SetClipboard(o.Copy)
	}
	return nil
}

// runbook opens the page about the row under the cursor.
func (m *Model) runbook() tea.Cmd {
	key := m.screen().Cursor(&m.frame)
	if key == (backend.Key{}) {
		m.remark("the cursor is on no row: move it first")
		return nil
	}
	m.detail = detailView{}
	o := m.detail.runbook(key, &m.frame)
	if len(m.detail.stack) > 0 {
		m.overlay = overDetails
	}
	return m.outcome(o)
}

// open shows the screen with that number.
func (m *Model) open(n int) {
	for i, s := range m.screens {
		if s.Number() == n {
			if m.act.reading { // its dialog must not open over another screen
				m.dropPlan()
				m.remark("the plan was dropped: it was about another screen")
			}
			m.current, m.overlay = i, noOverlay
			m.frame.Snapshot = m.frame.Next(m.frame.Now, m.frame.State, m.frame.Board)
			m.remember()
			return
		}
	}
}

func (m *Model) toggleHelp() {
	if m.overlay == overHelp {
		m.overlay = noOverlay
		return
	}
	m.help, m.overlay = helpView{from: m.context()}, overHelp
}

// View returns the screen. It is drawn anew only after something happened.
func (m *Model) View() tea.View {
	if !m.dirty {
		return m.cached
	}
	m.dirty = false
	block, cursor := m.draw()
	v := tea.NewView(block.String())
	v.AltScreen = true
	v.WindowTitle = "sandglass " + backend.Clean(m.viewer.Environment, 40).String()
	v.Cursor = cursor
	m.cached = v
	return v
}
