package ui

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Settings are what the configuration says about a console and can change while it runs.
type Settings struct {
	// Theme is the name of the palette, one of theme.Palettes; empty: the default.
	Theme string
	// Keys are other keys for what the table binds, by place and name.
	Keys map[string]map[string][]string
	// Views are those of the configuration.
	Views []View
	// Bell is the severity from which a new alert rings the terminal's bell; empty: never.
	Bell alerts.Severity
	// LocalTime shows times in the viewer's zone, else in UTC.
	LocalTime bool
	// MarkedFor is how long a row shows what happened to it for a short while, below 0: not at all; 0: for ten minutes.
	MarkedFor time.Duration
	// Runbook is what the operators of this site add to the runbook, by rule and by page.
	Runbook map[string]runbook.Local
}

// Reloaded is what became of a configuration that was read again.
type Reloaded struct {
	Settings
	// Applied are the parts of the file that are in force now; Restart are those that differ and wait for a restart.
	Applied, Restart []string
	// Problem says why the file cannot be used; all of the former one stays in force. Empty: it can.
	Problem []backend.Safe
}

// Reload looks whether the configuration differs from what this viewer was told last, and reads it again where it does. asked: the
// viewer wants it read now. It may block; nil: there is nothing to tell.
type Reload func(asked bool) *Reloaded

// reloading is what the program knows of its configuration's file.
type reloading struct {
	configured Settings // as the file said last; a command may have changed what is in force
	problem    []backend.Safe
	under      bool // the file is being looked at
	ticks      int
}

// reloadEvery is how many ticks pass between two looks at the file.
const reloadEvery = 2

type reloadedMsg struct {
	is    *Reloaded
	asked bool
}

// lookAtFile looks for another configuration from time to time.
func lookAtFile(m *Model) tea.Cmd {
	r := &m.reloading
	if r.ticks++; m.viewer.Reload == nil || r.under || r.ticks%reloadEvery != 0 {
		return nil
	}
	r.under = true
	return readAgain(m.viewer.Reload, false)
}

func readAgain(reload Reload, asked bool) tea.Cmd {
	return func() tea.Msg { return reloadedMsg{reload(asked), asked} }
}

// reload reads the configuration now.
func (x *scope) reload() reply {
	if x.viewer.Reload == nil {
		return reply{Say: "no configuration file is in use: there is nothing to read again"}
	}
	return reply{Cmd: readAgain(x.viewer.Reload, true)}
}

// takeReloaded takes what the file says now.
func takeReloaded(m *Model, msg reloadedMsg) tea.Cmd {
	r := &m.reloading
	if !msg.asked {
		r.under = false
	}
	if msg.is == nil {
		return nil
	}
	m.dirty = true
	if r.problem = msg.is.Problem; len(r.problem) > 0 {
		return nil // what is drawn above the screen says it
	}
	m.remark(msg.is.Said())
	cmd := configure(m, msg.is.Settings)
	m.refresh()
	return cmd
}

// Said is what became of the file, in words; of one that cannot be used, its mistakes.
func (r *Reloaded) Said() string {
	if len(r.Problem) > 0 {
		said := "not reloaded, the configuration read before stays in force: " + r.Problem[0].String()
		if more := len(r.Problem) - 1; more > 0 {
			said += " (and " + kit.Count(more, "more mistake", "more mistakes") + ": sandglass config check)"
		}
		return said
	}
	var parts []string
	if len(r.Applied) > 0 {
		parts = append(parts, "reloaded: "+some(r.Applied))
	}
	if len(r.Restart) > 0 {
		parts = append(parts, "restart to apply: "+some(r.Restart))
	}
	if len(parts) == 0 {
		return "the configuration is as it was read before"
	}
	return strings.Join(parts, "; ")
}

// mostNamed is how many parts of a file are named.
const mostNamed = 4

func some(names []string) string {
	if n := len(names) - mostNamed; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), n)
	}
	return strings.Join(names, ", ")
}

// configure puts other settings in force. What a command changed stays where the file says about it what it said before.
func configure(m *Model, s Settings) (cmd tea.Cmd) {
	was := m.reloading.configured
	m.reloading.configured = s
	now := &m.viewer.Settings
	now.MarkedFor = s.MarkedFor
	now.Views, now.Bell, now.Runbook, m.frame.Local = s.Views, s.Bell, s.Runbook, s.Runbook
	if s.LocalTime != was.LocalTime {
		now.LocalTime = s.LocalTime
	}
	if !reflect.DeepEqual(s.Keys, now.Keys) {
		now.Keys = s.Keys
		bindKeys(m)
	}
	if s.Theme != was.Theme {
		now.Theme = s.Theme
		setTheme(m)
		cmd = askBackground(m)
	}
	return cmd
}

// bindKeys makes the table of keys.
func bindKeys(m *Model) {
	m.keymap = keys.NewMap(keys.Rebind(keys.Bindings(screenNames(m.screens)), m.viewer.Keys))
	m.acting.keymap, m.frame.Keys = m.keymap, m.keymap
	for _, o := range m.stack {
		if h, is := o.(*helpPage); is {
			h.keymap, h.theme = m.keymap, nil
		}
	}
}

// notReloaded says above the screen why the configuration's file is not used, until it can be used or esc is pressed.
func notReloaded(w, h int, f *views.Frame, problem []backend.Safe) (out []string) {
	for i, p := range problem {
		if i == mostProblems {
			out = append(out, kit.NewLine(f.Theme, w).Put(theme.Warn, " and "+kit.Count(len(problem)-i, "more mistake", "more mistakes")+": "+f.Pasted("sandglass config check")).String())
			break
		}
		for _, l := range kit.Wrap(f.Shown(p.String()), w-2) {
			out = append(out, kit.NewLine(f.Theme, w).Put(theme.Warn, " "+l).String())
		}
	}
	out = out[:min(len(out), h/4)]
	if len(out) > 0 {
		out = append(out, kit.NewLine(f.Theme, w).Put(theme.Dim, " not reloaded: the configuration read before stays in force; esc: read").String())
	}
	return out
}

// mostProblems is how many mistakes of a file are shown.
const mostProblems = 2
