package app

import (
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/config"
	"sandglass/ui"
)

// engineOf evaluates the rules of a configuration.
func engineOf(c *config.Config, conditions []alerts.Rule) *alerts.Engine {
	return alerts.NewEngine(conditions, c.Environment, alerts.WithConfiguration(c.File, c.Digest))
}

// settingsOf is what a configuration says about a console.
func settingsOf(c *config.Config, conditions []alerts.Rule) ui.Settings {
	s := ui.Settings{Theme: c.UI.Theme, MarkedFor: c.UI.MarkedFor.Std(), Keys: c.Keys, LocalTime: c.LocalTime, Runbook: LocalRunbook(conditions, c)}
	if s.MarkedFor == 0 {
		s.MarkedFor = -1
	}
	for _, x := range c.Views {
		s.Views = append(s.Views, viewOf(x))
	}
	if c.Bell != "off" {
		s.Bell = alerts.Severity(c.Bell)
	}
	return s
}

// applies reports whether a part of the file takes effect without a restart.
func applies(part string) bool {
	return slices.Contains(consoleParts, part) || part == "docs_url" || part == "references" || isRule(part)
}

func isRule(part string) bool { return strings.HasPrefix(part, "[rules.") }

// reloads reads the configuration of a Station again when its file differs, for all viewers. Editors replace files by rename and
// write them in pieces: a file that differs is read once two looks found it the same, and one that is not there is waited for.
type reloads struct {
	path     string
	began    *config.Config // what the Station was opened with
	load     func() (*config.Config, []alerts.Rule, error)
	evaluate func(*config.Config, []alerts.Rule) // puts rules in force

	mu     sync.Mutex
	read   os.FileInfo    // the file as it was read last
	newer  os.FileInfo    // one that differs; nil: none
	absent int            // looks for which it was not there
	now    *config.Config // whose settings are in force
	rules  []alerts.Rule
	round  int          // of told
	told   *ui.Reloaded // what was found last
}

func newReloads(s *Station) *reloads {
	r := &reloads{path: s.Config.Path, began: s.Config, now: s.Config, rules: s.Rules}
	r.load = func() (*config.Config, []alerts.Rule, error) {
		c, err := config.Load(r.path, s.app.Known())
		if err != nil {
			return nil, nil, err
		}
		conditions, wrong := MakeRules(c)
		if len(wrong) > 0 {
			return nil, nil, wrong
		}
		return c, conditions, nil
	}
	r.evaluate = func(c *config.Config, conditions []alerts.Rule) { s.Alerts.Reconfigure(engineOf(c, conditions)) }
	if r.path != "" {
		r.read, _ = os.Stat(r.path)
	}
	return r
}

// viewer is what a viewer begins with, and how it learns of other settings; nil where there is no file that can be read twice.
func (r *reloads) viewer() (ui.Settings, ui.Reload) {
	r.mu.Lock()
	defer r.mu.Unlock()
	begins := settingsOf(r.now, r.rules)
	if r.read == nil || !r.read.Mode().IsRegular() {
		return begins, nil
	}
	seen := r.round
	return begins, func(asked bool) *ui.Reloaded {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.look(asked)
		if seen == r.round {
			return nil
		}
		seen = r.round
		return r.told
	}
}

// RereadEvery is how often a command without a console looks at its configuration's file.
const RereadEvery = 2 * time.Second

// consoleParts are the parts of the file that only a console has a use for.
var consoleParts = []string{"[ui]", "[keys]", "[[view]]", "time", "bell"}

// Reread is what became of the configuration of a command that has no console and runs on.
type Reread struct {
	Said    string                   // in words
	Refused bool                     // the file cannot be used; all of the former one stays in force
	Runbook map[string]runbook.Local // as of ui.Settings
}

// Rereads is how a command that has no console and runs on learns of another configuration, as consoles do: rules are in force then,
// and it tells what changed for such a command. nil: there is no file that can be read twice; it returns nil where nothing is to be told.
func (s *Station) Rereads() func() *Reread {
	_, reload := s.reloads.viewer()
	if reload == nil {
		return nil
	}
	refused := false
	return func() *Reread {
		told := reload(false)
		if told == nil {
			return nil
		}
		out := *told
		out.Applied = slices.DeleteFunc(slices.Clone(out.Applied), func(part string) bool { return slices.Contains(consoleParts, part) })
		out.Restart = slices.DeleteFunc(slices.Clone(out.Restart), func(part string) bool { return slices.Contains(consoleParts, part) })
		was := refused
		refused = len(out.Problem) > 0
		if len(out.Applied)+len(out.Restart)+len(out.Problem) == 0 && !was {
			return nil
		}
		return &Reread{Said: out.Said(), Refused: refused, Runbook: out.Runbook}
	}
}

// goneAfter is how many looks in a row must miss the file before that is said.
const goneAfter = 5

// look compares the file with what was read, and reads it where it differs or the viewer asks for it.
func (r *reloads) look(asked bool) {
	is, err := os.Stat(r.path)
	if err != nil {
		r.newer = nil
		if r.absent++; asked || r.absent == goneAfter {
			r.read = nil
			r.refuse(config.Errors{{File: r.path, What: "cannot be opened: " + backend.WithoutPath(err).Error()}})
		}
		return
	}
	r.absent = 0
	switch {
	case asked:
	case same(is, r.read):
		r.newer = nil
		return
	case !same(is, r.newer): // it may still be written
		r.newer = is
		return
	}
	c, conditions, err := r.load()
	if after, gone := os.Stat(r.path); gone != nil || !same(is, after) {
		if r.newer = nil; !asked {
			return // it was replaced meanwhile: the next look begins again
		}
	}
	r.read, r.newer = is, nil
	if err != nil {
		r.refuse(err)
		return
	}
	r.apply(c, conditions, asked)
}

// same reports whether two looks found the same file with the same content, as far as a look tells.
func same(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func (r *reloads) refuse(err error) {
	out := &ui.Reloaded{}
	var many config.Errors
	if !errors.As(err, &many) {
		many = config.Errors{{File: r.path, What: err.Error()}}
	}
	for _, one := range many {
		out.Problem = append(out.Problem, backend.Clean(one.Error(), 300))
	}
	r.tell(out)
}

// apply puts in force what can be, and tells what waits for a restart.
func (r *reloads) apply(c *config.Config, conditions []alerts.Rule, asked bool) {
	changed := c.Differs(r.now)
	failed := r.told != nil && len(r.told.Problem) > 0
	out := &ui.Reloaded{Settings: settingsOf(c, conditions)}
	for _, part := range changed {
		if applies(part) {
			out.Applied = append(out.Applied, part)
		}
	}
	for _, part := range c.Differs(r.began) {
		if !applies(part) {
			out.Restart = append(out.Restart, part)
		}
	}
	if slices.ContainsFunc(out.Applied, isRule) {
		r.evaluate(c, conditions)
	}
	r.now, r.rules = c, conditions
	if asked || failed || len(changed) > 0 {
		r.tell(out)
	}
}

func (r *reloads) tell(out *ui.Reloaded) {
	r.told = out
	r.round++
}
