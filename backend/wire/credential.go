package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"sandglass/backend"
)

// Credential says where a credential comes from and in which header it is sent. It is the table [source.read] of what
// reads a source and [source.act] of what acts on it; without its table none is sent.
type Credential struct {
	Header  string   `toml:"header" doc:"header that carries the credential; empty = Authorization"`
	Prefix  string   `toml:"prefix" doc:"put before the credential; empty = \"Bearer \" in the header Authorization, nothing in others"`
	Env     string   `toml:"env" doc:"environment variable that holds it; exactly one of env, file and command"`
	File    string   `toml:"file" path:"file" doc:"file that holds it; only its owner may be allowed to read it"`
	Command []string `toml:"command" path:"program" doc:"argv that prints it"`
}

const (
	maxCredential     = 64 << 10
	credentialTimeout = 10 * time.Second
	// credentialLife is how long a credential is used before it is read again, so that a rotated one is picked up;
	// after a 401 or 403 it is read again at once.
	credentialLife = time.Minute
)

// IsZero reports whether no credential is configured.
func (c Credential) IsZero() bool { return c.Env == "" && c.File == "" && len(c.Command) == 0 }

// HeaderName is the header that carries the credential; empty: there is no credential.
func (c Credential) HeaderName() string {
	if c.IsZero() {
		return ""
	}
	return cmp.Or(c.Header, "Authorization")
}

// Place says where the credential comes from and how it is sent, without the secret; empty: there is none.
func (c Credential) Place() string {
	if c.IsZero() {
		return ""
	}
	return fmt.Sprintf("%q", append([]string{c.HeaderName(), c.Prefix, c.Env, c.File}, c.Command...))
}

// Check refuses an incomplete or contradictory table "read". It reads nothing.
func (c Credential) Check(opts backend.Options) error { return c.CheckAt(opts, "read") }

// CheckAt does the same for a table of another name.
func (c Credential) CheckAt(opts backend.Options, key string) error {
	places := 0
	for _, given := range []bool{c.Env != "", c.File != "", len(c.Command) > 0} {
		if given {
			places++
		}
	}
	switch {
	case places > 1:
		return opts.Refuse(key, "give exactly one of env, file and command")
	case places == 0 && (c.Header != "" && c.Header != "Authorization" || c.Prefix != ""):
		return opts.Refuse(key, "says how a credential is sent, but not where it is: add env, file or command")
	case !HeaderName(c.Header) && c.Header != "":
		return opts.Refuse(key+".header", "%q is not a header name", c.Header)
	case !HeaderText(c.Prefix):
		return opts.Refuse(key+".prefix", "holds a character that no header can carry")
	}
	return nil
}

// Origin says in words where the credential comes from, for --explain: never what it is.
func (c Credential) Origin() string {
	switch {
	case c.Env != "":
		return "environment variable " + c.Env
	case c.File != "":
		return "file " + c.File
	case len(c.Command) > 0:
		return "output of " + c.Command[0]
	}
	return "none"
}

// secretStore reads a credential when it is needed and remembers every value it has had, for masking.
type secretStore struct {
	cfg  Credential
	key  func() (string, error)
	deps backend.Deps

	mu    sync.Mutex
	value string
	until time.Time
	clean *backend.Cleaner
}

func (s *secretStore) cleaner() *backend.Cleaner {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clean
}

// forget makes the next request read the credential again.
func (s *secretStore) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = time.Time{}
}

// drop forgets the value; what it was is still masked.
func (s *secretStore) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value, s.until = "", time.Time{}
}

// header returns the header to send, or two empty strings without a credential.
func (s *secretStore) header(ctx context.Context) (name, value string, err error) {
	if s.cfg.IsZero() && s.key == nil {
		return "", "", nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.deps.Now(); !now.Before(s.until) {
		v, err := s.read(ctx)
		if err != nil {
			return "", "", backend.Errorf(backend.ErrUnauthorised, "", "the credential cannot be read: %w", err)
		}
		if v != s.value {
			s.clean = s.clean.With(SecretForms(v)...)
		}
		s.value, s.until = v, now.Add(credentialLife)
	}
	name = s.cfg.Header
	if name == "" {
		name = "Authorization"
	}
	prefix := s.cfg.Prefix
	if prefix == "" && strings.EqualFold(name, "Authorization") && !strings.Contains(s.value, " ") {
		prefix = "Bearer " // a value with a space brings its own scheme
	}
	return name, prefix + s.value, nil
}

// SecretForms are the value of a header and what a server may echo of it: the credential behind its scheme, and the
// password in a Basic one (RFC 7617 §2).
func SecretForms(value string) []string {
	all := []string{value}
	if scheme, rest, ok := strings.Cut(value, " "); ok {
		all = append(all, strings.TrimSpace(rest))
		if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest)); err == nil && strings.EqualFold(scheme, "Basic") {
			_, password, _ := strings.Cut(string(plain), ":")
			all = append(all, string(plain), password)
		}
	}
	return all
}

func (s *secretStore) read(ctx context.Context) (string, error) {
	var raw string
	var err error
	switch {
	case s.key != nil:
		raw, err = s.key()
	case s.cfg.Env != "":
		if s.deps.Getenv != nil {
			raw = s.deps.Getenv(s.cfg.Env)
		}
	case s.cfg.File != "":
		raw, err = readPrivate(s.cfg.File)
	default:
		raw, err = s.run(ctx)
	}
	if err != nil {
		return "", err
	}
	v := strings.TrimRight(raw, "\r\n")
	switch {
	case v == "":
		return "", fmt.Errorf("%s is empty or not set", s.cfg.Origin())
	case !HeaderText(v):
		return "", fmt.Errorf("%s holds a character that no header can carry", s.cfg.Origin())
	}
	return v, nil
}

// readPrivate reads a file that only its owner may read. The permissions are those of the opened file, so that a
// path that is swapped between check and use gains nothing; a FIFO or device is refused without waiting for it.
func readPrivate(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0: // access lists decide there
		return "", fmt.Errorf("%s can be read by others (mode %04o); run: chmod 600 %s", path, info.Mode().Perm(), path)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxCredential+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxCredential {
		return "", fmt.Errorf("%s is larger than %d bytes", path, maxCredential)
	}
	return string(b), nil
}

// run takes the first lines of the command's output. Neither output nor error output appears in an error: both can
// hold the credential.
func (s *secretStore) run(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, credentialTimeout)
	defer cancel()
	if s.deps.Command == nil {
		return "", errors.New("commands are not available here")
	}
	cmd := s.deps.Command(ctx, s.cfg.Command)
	var out bytes.Buffer
	cmd.Stdout = &cappedWriter{w: &out, left: maxCredential}
	cmd.WaitDelay = time.Second
	sending := s.deps.SendingCommand(false, s.cfg.Command)
	err := cmd.Run()
	sending.Exited(cmd, out.Len(), err)
	if err != nil {
		return "", fmt.Errorf("command %s: %w", s.cfg.Command[0], err)
	}
	return out.String(), nil
}

// cappedWriter fails the write that goes beyond its bound, which ends the command.
type cappedWriter struct {
	w    *bytes.Buffer
	left int
}

func (c *cappedWriter) Write(p []byte) (int, error) {
	if len(p) > c.left {
		return 0, fmt.Errorf("more than %d bytes of output", maxCredential)
	}
	c.left -= len(p)
	return c.w.Write(p)
}

// HeaderText reports whether s can be the value of a header (RFC 9110 §5.5): no line break, no other control character.
func HeaderText(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 && s[i] != '\t' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// HeaderName reports whether s can be the name of a header (RFC 9110 §5.6.2).
func HeaderName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}
