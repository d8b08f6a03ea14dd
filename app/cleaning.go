package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sandglass/actions"
	tmpdiract "sandglass/actions/tmpdir"
	"sandglass/backend"
	"sandglass/backend/hostfs"
	"sandglass/views/text"
)

// LeastCleanAge is the shortest time since the newest change that a cleaning can ask for.
const LeastCleanAge = tmpdiract.LeastAge

// Cleaning is what the command clean needs besides its verbs.
type Cleaning struct {
	// Waiting lists what was set aside and not removed yet. What could be listed is returned with the error.
	Waiting func(context.Context, *Station) ([]text.Waiting, error)
	// PurgeDue removes what is past its grace period, journalled, and says what came of each.
	PurgeDue func(context.Context, *Station) ([]backend.Safe, error)
	// Policy reads the file that stands for a person where a timer cleans.
	Policy func(file string) (Policy, error)
	// Units prints the policy, the service and the timer of systemd for one source.
	Units func(*Station, Units) (string, error)
}

// Policy is what a timer may clean.
type Policy struct {
	Params actions.Params
	Reason backend.Safe // names the file and its hash
	Covers func(backend.Key) bool
}

// Units is what a timer is printed for.
type Units struct {
	Source string // id; empty: the only one
	Params actions.Params
	File   string // where the policy will be; empty: the usual place
}

// TmpdirCleaning cleans the scratch directories of this machine.
func TmpdirCleaning() *Cleaning {
	return &Cleaning{Waiting: waiting, PurgeDue: purgeNow, Policy: readPolicy, Units: units}
}

// waiting lists what was set aside on every source that may be cleaned.
func waiting(ctx context.Context, s *Station) ([]text.Waiting, error) {
	var out []text.Waiting
	var failed []error
	for _, k := range s.keepers() {
		found, err := k.Waiting(ctx, s.Fleet.State())
		failed = append(failed, err)
		for _, w := range found {
			path, err := backend.NewID(w.Path)
			name, worse := backend.NewID(w.Name)
			if err = errors.Join(err, worse); err != nil {
				failed = append(failed, err)
				continue
			}
			x := text.Waiting{Key: w.Key, ID: w.Key.ID, Path: path, Name: name, Moved: text.Time{Time: w.Moved}, Due: text.Time{Time: w.Due}, Begun: w.Begun}
			if w.Plan != "" {
				x.Plan = &w.Plan
			}
			out = append(out, x)
		}
	}
	return out, errors.Join(failed...)
}

// purgeNow removes what is past its grace period.
func purgeNow(ctx context.Context, s *Station) ([]backend.Safe, error) {
	ks := s.keepers()
	if len(ks) == 0 {
		return nil, nil
	}
	if s.NoJournal != nil {
		return nil, s.NoJournal
	}
	return s.purgeDue(ctx, ks, s.Fleet.State())
}

// readPolicy reads a policy that only root or the user of this process could have written.
func readPolicy(file string) (Policy, error) {
	p, err := tmpdiract.ReadPolicy(file, uint32(os.Geteuid()))
	if err != nil {
		return Policy{}, err
	}
	return Policy{Params: actions.Params{OlderThan: p.OlderThan.Std(), Most: p.Max, Harmless: strings.Join(p.Harmless, "\n")}, Reason: p.Reason(), Covers: p.Covers}, nil
}

// units prints what systemd needs to clean one source by itself.
func units(st *Station, u Units) (string, error) {
	for _, s := range st.Sources {
		scratch, ok := s.Source.(interface{ Scratch() hostfs.Scratch })
		if !ok || u.Source != "" && s.Config.ID != u.Source {
			continue
		}
		o, ok := tmpdiract.Kind().Defaults().(*tmpdiract.Options)
		if !ok {
			return "", errors.New("scratch directories have other options than expected")
		}
		if err := s.Config.ActionOptions.Decode(o); err != nil {
			return "", err
		}
		program, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("the path of this program is unknown: %w", err)
		}
		t := tmpdiract.Timer{Binary: program, File: u.File, Policy: tmpdiract.Policy{Roots: scratch.Scratch().Roots, Pattern: scratch.Scratch().Pattern,
			OlderThan: o.CleanOlderThan, Max: o.CleanMax}}
		if u.Params.OlderThan > 0 {
			t.Policy.OlderThan = backend.Duration(u.Params.OlderThan)
		}
		if u.Params.Most > 0 {
			t.Policy.Max = u.Params.Most
		}
		if st.Config.File != "" {
			t.Config, err = filepath.Abs(st.Config.File)
		} else {
			var lifetime []byte
			lifetime, err = o.SessionLifetime.MarshalText()
			t.Lifetime = string(lifetime)
		}
		if err != nil {
			return "", err
		}
		if _, err := tmpdiract.ParsePolicy([]byte(t.Policy.Text())); err != nil {
			return "", fmt.Errorf("such a policy would be refused: %w", err)
		}
		return tmpdiract.Units(t), nil
	}
	return "", errors.New("there is no source of scratch directories here")
}
