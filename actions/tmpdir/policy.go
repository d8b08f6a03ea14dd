package tmpdir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/pelletier/go-toml/v2"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// Policy is what a timer may clean without a person: a file, written once by the administrator of the host. It only
// narrows what the configuration allows: the source, its permission and its session_lifetime are set there.
type Policy struct {
	Roots     []string         `toml:"roots"`
	Pattern   string           `toml:"pattern"`
	OlderThan backend.Duration `toml:"older_than"`
	Max       int              `toml:"max"`
	// Harmless are processes that are known to use no scratch directory although nobody can see it: the executable of
	// process 1 ("/process_api"), or a unit of systemd ("falco.service"). Any other unreadable process stops the policy.
	Harmless []string `toml:"harmless"`
	// File is where the policy was read, SHA256 the hash of its bytes in hex, for the plan's reason and the journal.
	File   string `toml:"-"`
	SHA256 string `toml:"-"`
}

// maxPolicy bounds the file.
const maxPolicy = 64 << 10

// ReadPolicy reads a policy that only root or one of the users could write or replace. The hash is that of the bytes
// that were decoded.
func ReadPolicy(file string, users ...uint32) (*Policy, error) {
	f, err := hostfs.TrustedPath(file, users...)
	if err != nil {
		return nil, fmt.Errorf("the policy is not followed: %w", err)
	}
	defer func() { _ = f.Close() }() // opened for reading
	b, err := io.ReadAll(io.LimitReader(f, maxPolicy+1))
	if err == nil && len(b) > maxPolicy {
		err = fmt.Errorf("it is longer than %d bytes", maxPolicy)
	}
	if err != nil {
		return nil, fmt.Errorf("the policy %s cannot be read: %w", file, err)
	}
	p, err := ParsePolicy(b)
	if err != nil {
		return nil, fmt.Errorf("the policy %s: %w", file, err)
	}
	p.File = f.Name()
	return p, nil
}

// ParsePolicy reads the text of a policy. Every key but harmless must be there: a timer has no defaults.
func ParsePolicy(b []byte) (*Policy, error) {
	p := &Policy{}
	err := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields().Decode(p)
	var strict *toml.StrictMissingError
	var where *toml.DecodeError
	switch {
	case errors.As(err, &strict) && len(strict.Errors) > 0:
		line, _ := strict.Errors[0].Position()
		return nil, fmt.Errorf("line %d: unknown key %s; it has roots, pattern, older_than, max and harmless", line, strings.Join(strict.Errors[0].Key(), "."))
	case errors.As(err, &where):
		line, _ := where.Position()
		return nil, fmt.Errorf("line %d: %w", line, err)
	case err != nil:
		return nil, err
	}
	sum := sha256.Sum256(b)
	p.SHA256 = hex.EncodeToString(sum[:])
	return p, p.check()
}

func (p *Policy) check() error {
	for i, r := range p.Roots {
		if !filepath.IsAbs(r) || strings.ContainsRune(r, 0) {
			return fmt.Errorf("roots: %q is not an absolute path", r)
		}
		p.Roots[i] = filepath.Clean(r)
	}
	for _, h := range p.Harmless {
		if strings.ContainsFunc(h, unicode.IsControl) || !filepath.IsAbs(h) && (strings.Contains(h, "/") || !strings.HasSuffix(h, ".service") && !strings.HasSuffix(h, ".scope")) {
			return fmt.Errorf("harmless: %q is neither the absolute path of process 1's executable nor a unit; write for example falco.service", h)
		}
	}
	_, err := path.Match(p.Pattern, "")
	switch {
	case len(p.Roots) == 0:
		return errors.New("roots: no directory is named")
	case err != nil || strings.Contains(p.Pattern, "/") || !hostfs.NeverSetAside(p.Pattern):
		return fmt.Errorf("pattern: %q is not a glob on names that begins with a letter or digit; write for example helix-ws-*", p.Pattern)
	case p.OlderThan.Std() < time.Hour:
		return errors.New("older_than: must be at least 1h in a policy; write for example 48h")
	case p.Max < 1 || p.Max > mostTarget:
		return fmt.Errorf("max: must be between 1 and %d", mostTarget)
	}
	return nil
}

// Covers reports whether the policy applies to the directory of this key. The clean conditions decide whether it may be
// cleaned.
func (p *Policy) Covers(k backend.Key) bool {
	_, dir, err := parseKey(k)
	if err != nil || !slices.Contains(p.Roots, filepath.Dir(dir)) {
		return false
	}
	ok, err := path.Match(p.Pattern, filepath.Base(dir))
	return ok && err == nil
}

// Reason is what the journal records as the reason when a policy confirms instead of a person.
func (p *Policy) Reason() backend.Safe {
	return backend.Textf("policy %s, sha256 %s", backend.Clean(p.File, 300), backend.Clean(p.SHA256, 64))
}

// Text is the policy as a file that ParsePolicy reads.
func (p *Policy) Text() string {
	roots := make([]string, len(p.Roots))
	for i, r := range p.Roots {
		roots[i] = backend.QuoteJSON(r) // a basic string of TOML has the same escapes
	}
	harmless := ""
	if len(p.Harmless) > 0 {
		quoted := make([]string, len(p.Harmless))
		for i, h := range p.Harmless {
			quoted[i] = backend.QuoteJSON(h)
		}
		harmless = fmt.Sprintf("harmless = [%s]\n", strings.Join(quoted, ", "))
	}
	return fmt.Sprintf("roots = [%s]\npattern = %s\nolder_than = %q\nmax = %d\n", strings.Join(roots, ", "), backend.QuoteJSON(p.Pattern), spell(p.OlderThan.Std()), p.Max) + harmless
}

// spell writes a duration as options take it.
func spell(d time.Duration) string {
	b, err := backend.Duration(d).MarshalText()
	if err != nil { // a duration always has a text
		return d.String()
	}
	return string(b)
}
