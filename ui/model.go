package ui

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/theme"
)

// Every number that decides how often something happens.
const (
	refreshEvery = 100 * time.Millisecond // States are drawn at most this often, first answers of sources at once
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
	stack   stack // what lies over the screen
	frame   views.Frame
	state   *fleet.State // as the feed gave it; nil before the first
	width   int
	height  int

	acting     acting
	diagnoser  diagnoser
	bell       bell
	unfinished []backend.Safe // plans that were broken off, until they were seen

	past   pastFilters
	names  hiddenNames
	keeper keeper // of the place that the next console begins with
	looks  looks
	// reloading is about the configuration's file.
	reloading reloading
	signals   signals
	pointing  pointing
	kept      Kept
	hints     hintLine
	// clockBelow says that the lines above the body have no room for the clock.
	clockBelow bool

	spin     spin
	say      string // the remark in the footer
	sayTicks int
	sayOf    overlay // whose remark it is; nil: nobody's that is shown
	pressed  string  // the newest key
	focus    string  // id to put the cursor on as soon as it is there

	changed <-chan struct{}
	stop    func()
	done    chan struct{}
	visible []backend.Key
	held    holders

	dirty  bool
	cached tea.View
}

// New makes the program for one viewer. Close it after use.
func New(v Viewer, feed Feed) *Model { return newModel(v, feed, screens()) }

func newModel(v Viewer, feed Feed, screens []views.Screen) *Model {
	if v.leaving == nil {
		v.leaving = context.Background()
	}
	m := &Model{viewer: v, feed: feed, width: v.Size.Width, height: v.Size.Height, focus: v.Focus, dirty: true, screens: screens,
		kept: v.Kept, done: make(chan struct{}), unfinished: v.Unfinished}
	m.acting = newActing(&m.viewer, m.done)
	m.reloading.configured = v.Settings
	bindKeys(m)
	m.spin = newSpin(v.Glyphs)
	m.diagnoser.asked = map[views.Question]asked{}
	m.frame.Snapshot = views.NewSnapshot(now(m), nil, nil)
	m.frame.Pins = &views.Pins{Keys: slices.Clone(v.Kept.Pins[:min(len(v.Kept.Pins), views.MostPins)]), Rev: 1}
	m.frame.Hidden = m.names.begin(&m.viewer)
	m.looks.colours = theme.ColoursOf(v.ColorProfile)
	setTheme(m)
	m.frame.Summary = views.Summarise(m.frame.Snapshot)
	m.frame.Diagnoses, m.frame.Local = map[views.Question]*runbook.Diagnosis{}, v.Runbook
	if i := slices.IndexFunc(screens, views.Screen.History); i >= 0 && len(m.unfinished) > 0 {
		m.current = i
	}
	reopen(m)
	m.changed, m.stop = feed.Subscribe()
	m.refresh()
	m.sync()
	return m
}

// Close ends the subscription and lets the waiting command return.
func (m *Model) Close() {
	select {
	case <-m.done:
	default:
		leave(m)
		close(m.done)
		m.stop()
		m.acting.stop()
		m.held.let(nil)
		m.feed.SetVisible(m.viewer.id(), nil)
	}
}

type (
	changedMsg struct{}
	tickMsg    struct{}
	stepMsg    struct{}
)

// Init starts waiting for changes and the tick, and asks a terminal behind SSH for synchronized output, which Bubble
// Tea does not ask there by itself.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.wait(0), tick(m.done), m.diagnose(), m.acting.follow(), askBackground(m)}
	if m.viewer.getenv("SSH_TTY") != "" {
		cmds = append(cmds, tea.Raw(ansi.RequestModeSynchronizedOutput))
	}
	return tea.Batch(cmds...)
}

// Update handles one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.bell.see(msg)
	cmd := m.handle(msg)
	m.held.let(m.stack)
	if m.dirty {
		m.sync()
	}
	return m, tea.Batch(cmd, m.spin.start(m.awaits()))
}

func (m *Model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case changedMsg:
		m.refresh()
		return tea.Batch(m.wait(m.pause()), m.diagnose(), ringBell(m))
	case tickMsg:
		m.onTick()
		return tea.Batch(tick(m.done), m.diagnose(), lookAtFile(m), keepPlace(m))
	case reloadedMsg:
		return takeReloaded(m, msg)
	case diagnosedMsg:
		return m.diagnosed(msg)
	case restedMsg:
		return takeRested(m, views.Question(msg))
	case addressed:
		return m.deliver(msg)
	case stepMsg:
		m.screen().Step()
		m.dirty = true
		return m.goOn()
	case spinner.TickMsg:
		m.dirty = true
		return m.spin.turn(msg, m.awaits())
	case tea.ResumeMsg:
		return m.apply(nil, m.acting.resumed())
	case tea.WindowSizeMsg:
		if msg.Width != m.width || msg.Height != m.height {
			m.width, m.height, m.dirty = msg.Width, msg.Height, true
		}
	case tea.ColorProfileMsg, tea.BackgroundColorMsg:
		return takeTold(m, msg)
	case tea.MouseMsg:
		return pointAt(m, msg)
	case tea.PasteMsg:
		msg.Content = backend.Clean(strings.Join(strings.Fields(msg.Content), " "), 200).String()
		return tea.Batch(m.typed(msg), m.goOn())
	case tea.KeyPressMsg:
		return tea.Batch(m.press(msg), m.goOn(), m.diagnose())
	}
	return nil
}

// sync puts into the frame what is drawn besides the State, and tells the top overlay that it is in sight.
func (m *Model) sync() {
	m.frame.Acting, m.frame.Say, m.frame.Spin = m.acting.frame(m.frame.State), m.say, ""
	if strings.Contains(m.say, noMeaning) {
		m.frame.Say = "" // dialogs keep their size
	}
	m.frame.In = keys.List
	if page, _ := m.stack.body(); page != nil {
		m.frame.In = page.Keys()
	}
	if m.awaits() {
		m.frame.Spin = m.spin.model.View()
	}
	if t, ok := m.stack.top().(timed); ok && m.fits() {
		t.shown(m.frame.Acting.At)
	}
}

func (m *Model) screen() views.Screen { return m.screens[m.current] }

// remark shows one line in the footer for a while.
func (m *Model) remark(s string) { m.say, m.sayTicks, m.sayOf = m.frame.Pasted(s), sayFor, nil }

// context is where keys go.
func (m *Model) context() keys.Context {
	if top := m.stack.top(); top != nil {
		return top.Keys()
	}
	return keys.List
}

func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	m.dirty = true
	m.pressed = backend.Clean(msg.String(), 20).String()
	in, bound := m.keymap.Lookup(m.context(), msg.String())
	if in.Action == keys.LeaveEmpty {
		if e, ok := m.stack.top().(emptiable); ok && e.untouched() {
			return m.do(keys.Intent{Action: keys.Cancel})
		}
		bound = false
	}
	if bound {
		return m.do(in)
	}
	if m.context().Typing() {
		return m.typed(msg)
	}
	if top := m.stack.top(); top != nil {
		if r, handled := top.Update(msg, &m.frame); handled {
			return m.apply(top, r)
		}
	}
	return m.meaningless()
}

// meaningless says that the key that was pressed last does nothing where it was pressed.
func (m *Model) meaningless() tea.Cmd {
	m.remark(m.pressed + noMeaning + cmp.Or(m.keymap.First(keys.Everywhere, keys.Intent{Action: keys.Help}), ":help") + " shows the keys")
	return nil
}

const noMeaning = " does nothing here: "

// typed hands a key that is not bound, or pasted text, to the top overlay.
func (m *Model) typed(msg tea.Msg) tea.Cmd {
	m.dirty = true
	top := m.stack.top()
	if top == nil {
		return nil
	}
	r, _ := top.Update(msg, &m.frame)
	return m.apply(top, r)
}

// do carries an intent out: the top overlay's, else the program's, else the screen's.
func (m *Model) do(in keys.Intent) tea.Cmd {
	top := m.stack.top()
	if top != nil {
		if r, handled := top.Update(in, &m.frame); handled {
			if m.sayOf == top { // it was about the key before
				m.say = ""
			}
			return m.apply(top, r)
		}
	}
	if in.Action == keys.Screen {
		m.say = "" // it was about what was shown
		m.open(in.N)
		return nil
	}
	one, shows := top.(subjected)
	if where, ok := placeOf(in.Action); ok {
		if where == anywhere || top == nil || where == onSubject && shows {
			x := &scope{viewer: &m.viewer, feed: m.feed, frame: &m.frame, screen: m.screen(), keymap: m.keymap, from: m.context(), acting: &m.acting,
				past: &m.past, kept: &m.kept, colours: m.looks.colours, pointing: &m.pointing}
			if shows {
				x.key = one.subject()
			} else if where == onSubject || in.Action == keys.Runbook {
				m.screen().Update(keys.Intent{}, &m.frame) // the cursor now stays on what this is about
			}
			return m.apply(nil, x.command(in))
		}
		return m.meaningless()
	}
	if top != nil {
		return m.meaningless()
	}
	if in.Action == keys.Back {
		m.unfinished, m.reloading.problem = nil, nil // seen
		if m.acting.drop() {
			m.remark("the plan was dropped")
			return nil
		}
	}
	return m.apply(nil, replyOf(m.screen().Update(in, &m.frame)))
}

// replyOf is what a screen asks the program for.
func replyOf(o views.Outcome) reply {
	r := reply{Say: o.Say, Copy: o.Copy}
	if o.Open != (backend.Key{}) {
		r.Push = &details{key: o.Open}
	}
	return r
}

// open shows the screen with that number.
func (m *Model) open(n int) {
	i := slices.IndexFunc(m.screens, func(s views.Screen) bool { return s.Number() == n })
	if i < 0 {
		return
	}
	if m.acting.drop() { // its dialog must not open over another screen
		m.remark("the plan was dropped: it was about another screen")
	}
	m.current, m.stack, m.dirty = i, nil, true
	m.frame.Snapshot = m.frame.Next(m.frame.Now, m.frame.State, m.frame.Board)
	m.remember()
}

// View returns the screen. It is drawn again only after something happened.
func (m *Model) View() tea.View {
	if !m.dirty {
		return m.cached
	}
	m.dirty = false
	block, cursor := m.draw()
	v := tea.NewView(block.String())
	v.AltScreen, v.ReportFocus = true, m.viewer.Bell != ""
	v.WindowTitle = windowTitle(m.viewer.Environment, &m.frame)
	v.Cursor = cursor
	if m.pointing.on {
		v.MouseMode = tea.MouseModeCellMotion
	}
	m.cached = v
	return v
}
