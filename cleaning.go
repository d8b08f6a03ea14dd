package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sandglass/actions"
	tmpdiract "sandglass/actions/tmpdir"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/backend/hostfs"
	"sandglass/cli"
	"sandglass/views/text"
)

// cleaning is what the command clean needs besides the verbs of scratch directories.
func (c *console) cleaning() *cli.Cleaning {
	return &cli.Cleaning{Waiting: c.waiting, PurgeDue: c.purgeNow, Policy: readPolicy, Units: units}
}

// waiting lists what was set aside on every source that may be cleaned.
func (c *console) waiting(ctx context.Context, a cli.Acting, s *fleet.State) ([]text.Waiting, error) {
	var out []text.Waiting
	var failed []error
	for _, k := range c.keepers(a) {
		found, err := k.Waiting(ctx, s)
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
func (c *console) purgeNow(ctx context.Context, a cli.Acting, s *fleet.State) ([]backend.Safe, error) {
	ks := c.keepers(a)
	if len(ks) == 0 {
		return nil, nil
	}
	journal, err := newAuditJournal(a.StateDir, a.Config.Digest)
	if err != nil {
		return nil, err
	}
	return c.purgeDue(ctx, ks, s, journal, a.Desk)
}

// readPolicy reads a policy that only root or the user of this process could have written.
func readPolicy(file string) (cli.Policy, error) {
	p, err := tmpdiract.ReadPolicy(file, uint32(os.Geteuid()))
	if err != nil {
		return cli.Policy{}, err
	}
	return cli.Policy{Params: actions.Params{OlderThan: p.OlderThan.Std(), Most: p.Max}, Reason: p.Reason(), Covers: p.Covers}, nil
}

// units prints what systemd needs to clean one source by itself.
func units(a cli.Acting, u cli.Units) (string, error) {
	for _, s := range a.Sources {
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
			return "", fmt.Errorf("where this program lies is not known: %w", err)
		}
		t := tmpdiract.Timer{Binary: program, File: u.File, Policy: tmpdiract.Policy{Roots: scratch.Scratch().Roots, Pattern: scratch.Scratch().Pattern,
			OlderThan: o.CleanOlderThan, Max: o.CleanMax}}
		if u.Params.OlderThan > 0 {
			t.Policy.OlderThan = backend.Duration(u.Params.OlderThan)
		}
		if u.Params.Most > 0 {
			t.Policy.Max = u.Params.Most
		}
		if a.Config.File != "" {
			t.Config, err = filepath.Abs(a.Config.File)
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
