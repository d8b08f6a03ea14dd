package actions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// Made is a sandbox that a plan makes for itself. It is written down before it is made, and forgotten once it is gone.
type Made struct {
	Verb   Verb   `json:"verb"`
	Source string `json:"source"`
	Digest string `json:"digest"` // of the plan
	Name   string `json:"name"`   // of the sandbox
	// State is the identity of the state directory, which the sandbox carries as a label beside Digest.
	State   string    `json:"state"`
	Process Process   `json:"process"`
	At      time.Time `json:"at"`
	// Identity is that of the plan's target: the sandbox is made like it.
	Identity []Fact `json:"identity,omitempty"`
}

// Process tells one process from every other one: its number alone is used again.
type Process struct {
	PID   int    `json:"pid"`
	Start string `json:"start,omitempty"` // as the kernel counts; empty: not known
	Boot  string `json:"boot,omitempty"`
}

// Maker is an effect that makes a sandbox of its own. It is told its name and labels before it acts.
type Maker interface{ Makes(Made) }

// madeName begins the name of every sandbox that a plan makes.
const madeName = "sandglass-"

// IsMade reports whether a sandbox has a name that only plans give.
func IsMade(name string) bool {
	rest, is := strings.CutPrefix(name, madeName+string(Prove)+"-")
	return is && IsDigest(rest)
}

// FactMakes is the fact of a record that names the sandbox which is made next.
const FactMakes = "makes"

func (m *Made) facts() []backend.Field {
	return []backend.Field{{Name: backend.Text(FactMakes), Value: backend.Clean(m.Name, 200)},
		{Name: backend.Text("process"), Value: backend.Textf("%d, started %s, boot %s", m.Process.PID, backend.Clean(m.Process.Start, 40), backend.Clean(m.Process.Boot, 60))}}
}

const (
	madeSuffix   = ".made"
	identityFile = "identity"
)

// making is what the run is about to make.
func (r *Run) making() (*Made, error) {
	p, c := r.p.Plan, r.control
	if !r.ability.Spec.Makes || p.DryRun {
		return nil, nil
	}
	state, err := c.store.identity(c.opt.NewID)
	if err != nil {
		return nil, err
	}
	return &Made{Verb: p.Verb, Source: p.Source, Digest: p.Digest, Name: madeName + string(p.Verb) + "-" + p.Digest, State: state,
		Process: c.opt.Self, At: c.opt.Now().UTC(), Identity: p.Targets[0].Identity}, nil
}

// identity names the state directory for as long as it exists.
func (s store) identity(newID func() string) (string, error) {
	path := filepath.Join(s.dir, identityFile)
	for range 2 {
		b, err := os.ReadFile(path)
		switch {
		case err == nil && IsDigest(strings.TrimSpace(string(b))):
			return strings.TrimSpace(string(b)), nil
		case err == nil:
			return "", fmt.Errorf("%s does not hold 16 hexadecimal digits: remove it", path)
		case !errors.Is(err, fs.ErrNotExist) || newID == nil:
			return "", fmt.Errorf("the identity of the state directory cannot be read: %w", err)
		}
		if err := s.create(path, []byte(newID()+"\n")); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("the identity of the state directory cannot be kept: %w", err)
		}
	}
	return "", fmt.Errorf("%s cannot be read after it was written", path)
}

// making writes down what is made next.
func (s store) making(m *Made) error {
	path, err := s.path(m.Digest, madeSuffix)
	if err != nil {
		return err
	}
	b, err := json.Marshal(m)
	if err == nil {
		err = s.create(path, b)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("what is made next cannot be written down: %w", err)
	}
	return nil
}

// ReadMade lists, oldest first, what plans on a state directory made and did not remove yet. What could be read is
// returned with the error.
func ReadMade(stateDir string) ([]Made, error) {
	dir := filepath.Join(stateDir, plansDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []Made
	for _, e := range entries {
		digest, is := strings.CutSuffix(e.Name(), madeSuffix)
		if !is || !IsDigest(digest) || !e.Type().IsRegular() {
			continue
		}
		var m Made
		b, failed := os.ReadFile(filepath.Join(dir, e.Name()))
		if failed == nil {
			failed = json.Unmarshal(b, &m)
		}
		if failed == nil && (m.Digest != digest || m.Name != madeName+string(m.Verb)+"-"+digest) {
			failed = errors.New("it is not what its name says")
		}
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", filepath.Join(dir, e.Name()), failed))
			continue
		}
		out = append(out, m)
	}
	stable.Sort(out, func(a, b Made) int { return a.At.Compare(b.At) })
	return out, err
}
