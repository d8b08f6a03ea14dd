package actions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// store keeps plans between two calls of the command line, and the marks of those that were used, which outlive every
// process. One file a plan, so that no process needs another one's lock: creating the mark is what decides who may.
type store struct {
	dir   string
	write func(path string, content []byte) error // audit.WriteNew, or one that finds room on a full disk
}

const (
	plansDir    = "plans"
	planSuffix  = ".json"
	usedSuffix  = ".used"
	maxPlan     = 64 << 20
	keepPlans   = 7 * 24 * time.Hour
	digestRunes = "0123456789abcdef"
)

// ErrUsed says that a plan was carried out already.
var ErrUsed = errors.New("this plan was carried out already; a plan is used once: make a new one")

// NoPlanError says that there is no plan of that digest.
type NoPlanError struct{ Digest string }

// Error says what is missing and what to do.
func (e *NoPlanError) Error() string {
	return fmt.Sprintf("there is no plan %s here: make it first, without --yes-plan", e.Digest)
}

// IsDigest reports whether a text has the form of a plan's digest.
func IsDigest(s string) bool { return len(s) == digestChars && strings.Trim(s, digestRunes) == "" }

func (s store) path(digest, suffix string) (string, error) {
	if !IsDigest(digest) {
		return "", fmt.Errorf("%q is not a digest of a plan: it has %d hexadecimal digits", digest, digestChars)
	}
	if s.dir == "" {
		return "", errors.New("plans are kept in the state directory, and there is none; name one with --state-dir")
	}
	return filepath.Join(s.dir, plansDir, digest+suffix), nil
}

// create writes a file that must not exist yet, and makes it last.
func (s store) create(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return s.write(path, content)
}

// save keeps a plan for a later call.
func (s store) save(p *Plan) error {
	path, err := s.path(p.Digest, planSuffix)
	if err != nil {
		return err
	}
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := s.create(path, b); err != nil {
		return fmt.Errorf("the plan cannot be kept: %w", err)
	}
	return nil
}

// load reads a plan back. One that is not what its digest says is refused.
func (s store) load(digest string) (*Plan, error) {
	path, err := s.path(digest, planSuffix)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NoPlanError{digest}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxPlan))
	if err != nil {
		return nil, err
	}
	var p Plan
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("plan %s cannot be read: %w", digest, err)
	}
	if p.Digest != digest || !p.intact() {
		return nil, fmt.Errorf("plan %s is not what its digest says: the file was changed; make a new plan", digest)
	}
	return &p, nil
}

// use marks a plan as used; a second call returns ErrUsed.
func (s store) use(digest string, now time.Time) error {
	path, err := s.path(digest, usedSuffix)
	if err != nil {
		return err
	}
	err = s.create(path, []byte(now.UTC().Format(time.RFC3339Nano)+"\n"))
	if errors.Is(err, fs.ErrExist) {
		return ErrUsed
	}
	if err != nil {
		return fmt.Errorf("the plan cannot be marked as used, so nothing was done: %w", err)
	}
	return nil
}

// gone forgets what a plan made.
func (s store) gone(digest string) error {
	path, err := s.path(digest, madeSuffix)
	if err != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// used reports whether the plan was carried out, or begun.
func (s store) used(digest string) bool {
	path, err := s.path(digest, usedSuffix)
	if err != nil {
		return false
	}
	_, err = os.Lstat(path)
	return err == nil
}

// prune forgets what is older than a week: a plan can be confirmed for a minute only.
func (s store) prune(now time.Time) error {
	if s.dir == "" {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(s.dir, plansDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || now.Sub(info.ModTime()) < keepPlans {
			continue
		}
		if ext := filepath.Ext(e.Name()); ext == planSuffix || ext == usedSuffix {
			errs = append(errs, os.Remove(filepath.Join(s.dir, plansDir, e.Name())))
		}
	}
	return errors.Join(errs...)
}
