package alerts

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sandglass/alerts/cause"
	"sandglass/backend"
	"sandglass/backend/lockfile"
	"sandglass/internal/stable"
)

// stateSchema is the number of the state file's form. A file with another number is not read.
const stateSchema = 1

// stateFile and stateLock are the names in the state directory.
const (
	stateFile = "alerts.json"
	stateLock = "alerts.lock"
)

// savedState is what the state file holds.
type savedState struct {
	Schema      int                   `json:"schema"`
	Environment string                `json:"environment"`
	Saved       ClockReading          `json:"saved"`
	Board       uint64                `json:"board"`
	At          time.Time             `json:"at"`
	Clock       clock                 `json:"clock"`
	Watching    time.Time             `json:"watching"`
	Rules       map[string]savedRule  `json:"rules,omitempty"`
	Folds       map[string]string     `json:"folds,omitempty"`
	Blind       []Blindness           `json:"blind,omitempty"`
	Markers     []marker              `json:"markers,omitempty"`
	Config      string                `json:"config,omitempty"`
	Past        []savedPast           `json:"past,omitempty"`
	Moves       []Move                `json:"moves,omitempty"`
	Proved      []backend.Proof       `json:"proved,omitempty"`
	Lists       map[string]listMemory `json:"lists,omitempty"`
	Back        map[string]time.Time  `json:"back,omitempty"`
	Templates   []cause.Template      `json:"templates,omitempty"`
	Former      map[string]*former    `json:"former,omitempty"`

	Bookmarks map[string][]backend.Bookmark `json:"bookmarks,omitempty"`
}

type savedRule struct {
	Records []*record    `json:"records"`
	Alerts  []savedAlert `json:"alerts,omitempty"`
	Flaps   []savedFlap  `json:"flaps,omitempty"`
	Apart   []savedApart `json:"apart,omitempty"`
}

// savedApart is a cause whose variants have lines of their own.
type savedApart struct {
	Source       string   `json:"source"`
	Fingerprint  string   `json:"fingerprint"`
	Combinations []string `json:"combinations"`
}

// savedFlap is one alert's history of results.
type savedFlap struct {
	Source      string   `json:"source"`
	Fingerprint string   `json:"fingerprint"`
	Severity    Severity `json:"severity,omitempty"`
	flap
}

// savedAlert is an alert without its subjects, which come back from the records; one that is kept only because it flaps
// has no records and keeps its subjects.
type savedAlert struct {
	Since time.Time `json:"since"`          // steady
	Began time.Time `json:"began,omitzero"` // steady
	Kept  bool      `json:"kept,omitempty"`
	Worse worse     `json:"worse,omitzero"` // steady
	Marks int       `json:"marks,omitempty"`
	// Unreported: its newest change of state, made during a start, is not on the timeline yet.
	Unreported bool   `json:"unreported,omitempty"`
	Alert      *Alert `json:"alert"`
}

// encode writes a Board's memory as one savedState, part by part: a large fleet's is never in memory whole. at is the moment
// of its State.
func (b *Board) encode(to io.Writer, environment string, at ClockReading) error {
	s := savedState{
		Schema: stateSchema, Environment: environment, Saved: at, Board: b.Number, At: b.At, Clock: b.memory.clock,
		Watching: b.memory.watching, Folds: b.memory.folds, Blind: b.Blind, Markers: b.memory.markers, Config: b.memory.config, Lists: b.memory.lists, Back: b.memory.back, Bookmarks: b.memory.bookmarks, Templates: b.memory.templates.List(), Proved: b.proofs(), Former: b.formers(), Moves: b.savedMoves(),
	}
	out := bufio.NewWriterSize(to, 64<<10)
	head, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("alert state: %w", err)
	}
	_, _ = out.Write(head[:len(head)-1]) // Flush tells of errors
	coder := json.NewEncoder(out)        // unlike Marshal, it copies nothing
	part := func(before string, v any) error {
		_, _ = out.WriteString(before)
		if err := coder.Encode(v); err != nil {
			return fmt.Errorf("alert state: %w", err)
		}
		return nil
	}
	before := `,"past":[`
	for _, p := range b.savedPasts() {
		if err := part(before, p); err != nil {
			return err
		}
		before = ","
	}
	if before == "," {
		_ = out.WriteByte(']')
	}
	before = `,"rules":{`
	for _, name := range slices.Sorted(maps.Keys(b.memory.rules)) {
		if err := part(before+backend.QuoteJSON(name)+":", savedRuleOf(b.memory.rules[name])); err != nil {
			return err
		}
		before = ","
	}
	if before == "," {
		_ = out.WriteByte('}')
	}
	_ = out.WriteByte('}')
	return out.Flush()
}

// savedRuleOf is what the state file holds of one rule.
func savedRuleOf(l *ruleState) savedRule {
	r := savedRule{Records: l.records}
	for _, g := range l.groups {
		a := *g.alert
		kept := len(g.members) == 0
		if !kept {
			a.Subjects = nil
		}
		r.Alerts = append(r.Alerts, savedAlert{g.since, g.began, kept, g.worse, g.marks, g.changedState(), &a})
	}
	for id, f := range l.flaps {
		r.Flaps = append(r.Flaps, savedFlap{id.source, id.fingerprint, id.severity, f})
	}
	stable.Sort(r.Flaps, func(a, b savedFlap) int {
		return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Fingerprint, b.Fingerprint), strings.Compare(string(a.Severity), string(b.Severity)))
	})
	for id, c := range l.apart {
		r.Apart = append(r.Apart, savedApart{id.source, id.fingerprint, c})
	}
	stable.Sort(r.Apart, func(a, b savedApart) int {
		return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Fingerprint, b.Fingerprint))
	})
	stable.Sort(r.Alerts, func(a, b savedAlert) int { return compareAlerts(a.Alert, b.Alert) })
	return r
}

// Loaded is what a former process left.
type Loaded struct {
	Board   *Board        // nil when there was nothing
	Elapsed time.Duration // since that process's last State
	// ByWall says that Elapsed rests on the wall clock alone: the machine was started anew since, or nothing better is
	// known.
	ByWall bool
}

// decode restores a Board. Rules that are no longer known are dropped with their findings.
func (e *Engine) decode(data []byte, now ClockReading) (Loaded, error) {
	var s savedState
	if err := json.Unmarshal(data, &s); err != nil {
		return Loaded{}, errors.New("it does not hold a whole alert state")
	}
	if s.Schema != stateSchema {
		return Loaded{}, fmt.Errorf("alert state has schema %d, this program reads %d", s.Schema, stateSchema)
	}
	if s.Environment != e.environment {
		return Loaded{}, fmt.Errorf("alert state belongs to the environment %q", s.Environment)
	}
	out := Loaded{}
	out.Elapsed, out.ByWall = now.Since(s.Saved)
	mem := &memory{
		clock: s.Clock, watching: s.Watching, rules: make(map[string]*ruleState, len(s.Rules)), gaps: map[string]gap{}, folds: s.Folds, markers: s.Markers, config: s.Config, templates: cause.NewTemplates(s.Templates), lists: s.Lists, back: s.Back,
		past:      restorePast(s.Past, now.Wall),
		moves:     restoreMoves(s.Moves, now.Wall),
		proved:    restoreProofs(s.Proved),
		former:    restoreFormers(s.Former),
		bookmarks: restoreBookmarks(s.Bookmarks, now.Wall.Add(-out.Elapsed).Sub(s.Saved.Wall)),
		resume:    &resume{steady: s.Clock.Steady.Add(out.Elapsed), wall: plain(now.Wall)},
	}
	b := &Board{Number: s.Board, At: s.At, Blind: s.Blind, memory: mem}
	for _, r := range e.rules {
		saved, ok := s.Rules[r.Meta().Name]
		if !ok {
			continue
		}
		l, err := restoreLedger(mem, r, saved)
		if err != nil {
			return Loaded{}, fmt.Errorf("alert state of %s: %w", r.Meta().Name, err)
		}
		mem.rules[r.Meta().Name] = l
		for _, g := range l.groups {
			b.Alerts = append(b.Alerts, g.alert)
		}
	}
	stable.Sort(b.Alerts, compareAlerts)
	out.Board = b
	return out, nil
}

// sound keeps the records that this program can have written, in key order.
func sound(rs []*record) []*record {
	out := slices.DeleteFunc(slices.Clone(rs), func(r *record) bool {
		if r == nil {
			return true
		}
		switch r.State {
		case "", StatePending, StateFiring, StateHeld, StateEnded:
			return false
		case StateResolved:
		}
		return true
	})
	stable.Sort(out, func(a, b *record) int { return a.Key.Compare(b.Key) })
	return slices.CompactFunc(out, func(a, b *record) bool { return a.Key == b.Key })
}

func restoreLedger(mem *memory, rule Rule, saved savedRule) (*ruleState, error) {
	l := &ruleState{records: sound(saved.Records), groups: map[groupID]*group{}, due: &dueIndex{}}
	var all []change
	for _, r := range l.records {
		var err error
		if r.Note, err = r.Note.decoded(rule, r.Key); err != nil {
			return nil, fmt.Errorf("note about %s: %w", r.Key.Safe(), err)
		}
		all = append(all, change{next: r})
		if id, ok := r.group(); ok {
			if l.groups[id] == nil {
				l.groups[id] = &group{id: id}
			}
			l.groups[id].members = append(l.groups[id].members, r)
		}
	}
	l.due = l.due.with(all)
	for _, f := range saved.Flaps {
		if l.flaps == nil {
			l.flaps = make(map[groupID]flap, len(saved.Flaps))
		}
		l.flaps[groupID{f.Source, f.Fingerprint, f.Severity}] = f.flap
	}
	for _, x := range saved.Apart {
		if l.apart == nil {
			l.apart = make(map[apartID][]string, len(saved.Apart))
		}
		l.apart[apartID{x.Source, x.Fingerprint}] = x.Combinations
	}
	lister := &ruleEvaluation{evaluation: &evaluation{env: Env{clock: mem.clock}}, meta: rule.Meta()}
	for _, sa := range saved.Alerts {
		if sa.Alert == nil {
			continue
		}
		g := l.groups[groupID{sa.Alert.Source, sa.Alert.Fingerprint, sa.Alert.Severity}]
		if g == nil { // the rule's own severity, whatever it was then
			g = l.groups[groupID{source: sa.Alert.Source, fingerprint: sa.Alert.Fingerprint}]
		}
		if g == nil && sa.Kept {
			l.keep(sa)
		}
		if g == nil {
			continue
		}
		g.since, g.began, g.worse, g.alert = sa.Since, sa.Began, sa.Worse, sa.Alert
		g.unreported = sa.Unreported
		g.marks = min(max(sa.Marks, 0), len(sa.Alert.Evidence))
		g.count, g.flap = tally(g.members), l.flaps[g.id]
		if t := g.count.total(g.members); t.oldest != nil && t.oldest.aggregated().Listing != nil && len(g.members) == 1 {
			g.alert.Subjects = lister.listed(t.oldest.aggregated().Listing, g.alert.State)
		} else {
			g.alert.Subjects = lister.list(g.members, t.live, t.pending > 0)
		}
	}
	for id, g := range l.groups {
		if g.alert == nil { // a record without its alert: written by no version of this program
			delete(l.groups, id)
			l.records = slices.DeleteFunc(slices.Clone(l.records), func(r *record) bool { x, ok := r.group(); return ok && x == id })
		}
	}
	return l, nil
}

// keep restores an alert without findings, if its history says that it flaps.
func (l *ruleState) keep(sa savedAlert) {
	for _, severity := range []Severity{"", sa.Alert.Severity} {
		id := groupID{sa.Alert.Source, sa.Alert.Fingerprint, severity}
		if f, ok := l.flaps[id]; ok && f.Flaps {
			l.groups[id] = &group{id: id, since: sa.Since, began: sa.Began, worse: sa.Worse, flap: f, alert: sa.Alert}
			return
		}
	}
}

// StateStore keeps the alert state of one environment in its state directory. One process at a time may save.
// It is safe for concurrent use.
type StateStore struct {
	dir    string
	engine *Engine

	mu   sync.Mutex
	lock *os.File
	made []string // the lock file and the directories that were not there at the start, the deepest first
}

// OpenStateStore makes the directory (mode 0700) and tries to take the lock. Without the lock the StateStore can only load.
func OpenStateStore(dir string, e *Engine) (*StateStore, error) {
	s := &StateStore{dir: dir, engine: e}
	for path := filepath.Join(dir, stateLock); ; path = filepath.Dir(path) {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		s.made = append(s.made, path)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	_, err := s.TryLock()
	return s, err
}

// Locked reports whether this process may save.
func (s *StateStore) Locked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lock != nil
}

// TryLock takes the lock if no other process holds it.
func (s *StateStore) TryLock() (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock != nil {
		return true, nil
	}
	f, err := lockfile.TryOpen(filepath.Join(s.dir, stateLock))
	if err != nil {
		return false, fmt.Errorf("lock of the alert state: %w", err)
	}
	if f == nil {
		return false, nil
	}
	s.lock = f
	return true, s.sweep()
}

// sweep removes what a killed holder of the lock left of files that it was about to replace.
func (s *StateStore) sweep() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	for _, e := range entries {
		for _, name := range []string{stateFile, ordersFile, timelineFile} {
			if !strings.HasPrefix(e.Name(), "."+name+".") {
				continue
			}
			if err := os.Remove(filepath.Join(s.dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("what a killed process left in the state directory stays there: %w", err)
			}
		}
	}
	return nil
}

// Load reads what the lock's holder, or the last one, left. A missing file is no error. A file that cannot be read is
// one; SetAside keeps it from being overwritten.
func (s *StateStore) Load(now ClockReading) (Loaded, error) {
	data, err := os.ReadFile(filepath.Join(s.dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Loaded{}, nil
	}
	if err != nil {
		return Loaded{}, fmt.Errorf("alert state: %w", err)
	}
	l, err := s.reads().decode(data, now)
	if err != nil {
		return Loaded{}, fmt.Errorf("%s: %w", filepath.Join(s.dir, stateFile), err)
	}
	return l, nil
}

// Save writes the Board's memory so that a crash at any moment leaves either the old file or the new one. at is the
// moment of the Board's State. Without the lock it does nothing and says so.
func (s *StateStore) Save(b *Board, at ClockReading) (saved bool, err error) {
	if !s.Locked() {
		return false, nil
	}
	write := func(to io.Writer) error { return b.encode(to, s.reads().environment, at) }
	if err := writeAtomically(filepath.Join(s.dir, stateFile), write); err != nil {
		return false, fmt.Errorf("alert state: %w", err)
	}
	return true, nil
}

// SetAside keeps an unreadable state file under another name, so that the next Save does not destroy it. It returns the
// new path; without the lock it does nothing and returns none.
func (s *StateStore) SetAside() (path string, err error) {
	if !s.Locked() {
		return "", nil
	}
	path = filepath.Join(s.dir, stateFile)
	aside := path + ".unreadable"
	if err := os.Rename(path, aside); err != nil {
		return "", fmt.Errorf("alert state: %w", err)
	}
	return aside, nil
}

// SetAsideError means that the saved alerts could not be read, and that the file was renamed. The process goes on without
// them.
type SetAsideError struct {
	cause error
	path  string
}

// Error says what is lost, what is kept, and that the operator has to do nothing.
func (e *SetAsideError) Error() string {
	return fmt.Sprintf("the saved alerts cannot be read (%v). Alerts start again: the time before they fire counts from now. "+
		"Acknowledgements and silences are kept. The file is now %s; delete it when you do not need it", e.cause, e.path)
}

// Unwrap is why.
func (e *SetAsideError) Unwrap() error { return e.cause }

// Forget takes back what opening the StateStore made, as long as nothing was added to it.
func (s *StateStore) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock == nil || len(s.made) == 0 {
		return
	}
	if entries, err := os.ReadDir(s.dir); err != nil || len(entries) > 1 {
		return // another process wrote there
	}
	for _, path := range s.made {
		if os.Remove(path) != nil {
			return // what cannot be removed stays: it is empty
		}
	}
	s.made = nil
}

// Close gives the lock back.
func (s *StateStore) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock == nil {
		return nil
	}
	f := s.lock
	s.lock = nil
	return f.Close()
}

// writeAtomically writes a temporary file beside path, syncs it and renames it, then syncs the directory.
func writeAtomically(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return lockfile.SyncDir(filepath.Dir(path))
}
