package blaxel

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"sandglass/backend"
	"sandglass/backend/hostfs"
	"sandglass/backend/wire"
)

const (
	maxLogin = 1 << 20
	loginDue = time.Hour // how long before the CLI's token ends the source says so
)

// cliLogin reads the key that the vendor's CLI keeps. It is read anew for each use and never refreshed: a refresh would write
// the file, or make the CLI's own token invalid.
type cliLogin struct {
	file, workspace string
	now             func() time.Time
	client          bool // there are client credentials, which are not used

	mu      sync.Mutex
	expires time.Time // zero: not known
}

// cliFile is the CLI's config.yaml.
type cliFile struct {
	Context struct {
		Workspace string `yaml:"workspace"`
	} `yaml:"context"`
	Workspaces []struct {
		Name        string `yaml:"name"`
		Credentials struct {
			Key    string `yaml:"apiKey"`
			Token  string `yaml:"access_token"`
			Client string `yaml:"client_credentials"`
		} `yaml:"credentials"`
	} `yaml:"workspaces"`
}

func newCLILogin(file, workspace string, getenv func(string) string, now func() time.Time) *cliLogin {
	if file == "" {
		file = filepath.Join(getenv("HOME"), ".blaxel", "config.yaml")
	}
	return &cliLogin{file: file, workspace: workspace, now: now, client: getenv(envClient) != ""}
}

func (l *cliLogin) read() (*cliFile, error) {
	f, info, err := hostfs.OpenRegular(l.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no key: set %s, or run: bl login (%s: %w)", envKey, l.file, fs.ErrNotExist)
	case errors.Is(err, hostfs.ErrNotRegular):
		return nil, fmt.Errorf("%s is not a regular file", l.file)
	case err != nil:
		return nil, err
	}
	defer f.Close()
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others (mode %04o); run: chmod 600 %s", l.file, info.Mode().Perm(), l.file)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxLogin+1))
	if err == nil && len(b) > maxLogin {
		err = fmt.Errorf("%s is larger than %d bytes", l.file, maxLogin)
	}
	if err != nil {
		return nil, err
	}
	var out cliFile
	if err := yaml.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("%s is no valid YAML", l.file) // the error may quote the key
	}
	return &out, nil
}

// workspaceName is the workspace that the CLI uses; empty: it does not say.
func (l *cliLogin) workspaceName() string {
	f, err := l.read()
	if err != nil {
		return ""
	}
	l.workspace = cmp.Or(l.workspace, f.Context.Workspace)
	return l.workspace
}

// unread says why the file could not be read; empty: it could, or there is none.
func (l *cliLogin) unread() string {
	if l == nil {
		return ""
	}
	if _, err := l.read(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "; " + err.Error()
	}
	return ""
}

// key is the API key of the workspace, else the token of a login.
func (l *cliLogin) key() (string, error) {
	key, err := l.saved()
	if err != nil && l.client {
		return "", fmt.Errorf("%s would have to be exchanged for a token, which Sandglass does not do: make an API key, and set %s. Also: %w", envClient, envKey, err)
	}
	return key, err
}

// saved is what the file holds.
func (l *cliLogin) saved() (string, error) {
	f, err := l.read()
	if err != nil {
		return "", err
	}
	for _, w := range f.Workspaces {
		if w.Name != l.workspace {
			continue
		}
		if key := strings.TrimSpace(w.Credentials.Key); key != "" {
			l.ends(time.Time{})
			return key, nil
		}
		token := strings.TrimSpace(w.Credentials.Token)
		at := tokenEnd(token)
		l.ends(at)
		switch {
		case token == "" && w.Credentials.Client != "":
			return "", fmt.Errorf("%s holds only client credentials for %s, which Sandglass does not exchange; set %s", l.file, backend.Clean(w.Name, 80), envKey)
		case token == "":
			return "", fmt.Errorf("%s holds no key for the workspace %s; run: bl login", l.file, backend.Clean(w.Name, 80))
		case !at.IsZero() && !l.now().Before(at):
			return "", fmt.Errorf("the login of the vendor's CLI ended at %s; run: bl login (Sandglass never refreshes it)", moment(at))
		}
		return token, nil
	}
	return "", fmt.Errorf("%s does not know the workspace %s; run: bl login", l.file, backend.Clean(l.workspace, 80))
}

func (l *cliLogin) ends(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expires = at
}

// warning says that the login ends soon; empty: it does not, or nothing says when.
func (l *cliLogin) warning() backend.Safe {
	if l == nil {
		return backend.Safe{}
	}
	l.mu.Lock()
	at := l.expires
	l.mu.Unlock()
	if at.IsZero() || at.Sub(l.now()) > loginDue {
		return backend.Safe{}
	}
	return backend.Textf("the login of the vendor's CLI ends at %s; run: bl login, or use an API key in %s", moment(at), backend.Clean(envKey, 40))
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04Z") }

// tokenEnd is when a token ends, by its own words (RFC 7519 §4.1.4); zero: it does not say.
func tokenEnd(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}
	}
	doc, err := wire.Parse(body)
	if err != nil {
		return time.Time{}
	}
	at, ok := doc.Root().Get("exp").Float()
	if !ok || at <= 0 || at > 1e11 {
		return time.Time{}
	}
	return time.Unix(int64(at), 0)
}
