package agentuity

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// maxProfile bounds the file of a profile.
const maxProfile = 1 << 20

// profile reads the key that the vendor's CLI keeps (cli 2.0.21, config.ts): auth.api_key in the file <name>.yaml.
type profile struct {
	name, file string
	now        func() time.Time

	mu      sync.Mutex
	expires time.Time // zero: the file does not say
	read    bool
}

// currentProfile stands for the profile that the CLI itself would use.
const currentProfile = "current"

// profileFile is where the CLI keeps a profile: $AGENTUITY_CONFIG_DIR, else ~/.config/agentuity. Its current one is named by
// $AGENTUITY_PROFILE, or by the file profile, which may hold a path.
func profileFile(name, dir string, getenv func(string) string) (called, file string) {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	if dir == "" {
		if dir = getenv("AGENTUITY_CONFIG_DIR"); dir == "" {
			dir = filepath.Join(getenv("HOME"), ".config", "agentuity")
		}
	}
	if name != currentProfile {
		return name, filepath.Join(dir, name+".yaml")
	}
	if name = getenv("AGENTUITY_PROFILE"); name == "" {
		if b, err := readBounded(filepath.Join(dir, "profile"), false); err == nil {
			name = strings.TrimSpace(string(b))
		}
	}
	if filepath.IsAbs(name) {
		return strings.TrimSuffix(filepath.Base(name), ".yaml"), name
	}
	if name = strings.TrimSuffix(filepath.Base(name), ".yaml"); name == "" || name == "." || name == ".." {
		name = "production"
	}
	return name, filepath.Join(dir, name+".yaml")
}

// key reads the file anew, so that a key that `agentuity auth login` renewed is used at once.
func (p *profile) key() (string, error) {
	b, err := readBounded(p.file, true)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the profile file %s does not exist; run: agentuity auth login", p.file)
	}
	if err != nil {
		return "", err
	}
	var doc struct {
		Auth struct {
			Key     string `yaml:"api_key"`
			Expires string `yaml:"expires"` // milliseconds since 1970
		} `yaml:"auth"`
	}
	if err := yaml.Unmarshal(b, &doc); err != nil {
		return "", fmt.Errorf("the profile file %s is no valid YAML", p.file) // the error may quote the key
	}
	p.mu.Lock()
	p.read, p.expires = true, time.Time{}
	if ms, err := strconv.ParseInt(doc.Auth.Expires, 10, 64); err == nil && ms > 0 {
		p.expires = time.UnixMilli(ms)
	}
	p.mu.Unlock()
	if strings.TrimSpace(doc.Auth.Key) == "" {
		return "", errors.New(keyMissing(p.file, runtime.GOOS))
	}
	return strings.TrimSpace(doc.Auth.Key), nil
}

// keyMissing says where the key of a profile without one is.
func keyMissing(file, system string) string {
	if system == "darwin" {
		return fmt.Sprintf("the profile file %s holds no key: on macOS the CLI moves it to the Keychain, which Sandglass does not read. "+
			"Put a key into an environment variable and name it under [source.read]", file)
	}
	return fmt.Sprintf("the profile file %s holds no key (auth.api_key); run: agentuity auth login. On macOS the CLI keeps it in the Keychain instead", file)
}

// readBounded reads a file of the CLI. One that holds a secret must be its owner's alone.
func readBounded(file string, secret bool) ([]byte, error) {
	f, info, err := hostfs.OpenRegular(file)
	if errors.Is(err, hostfs.ErrNotRegular) {
		return nil, fmt.Errorf("%s is not a regular file", file)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if secret && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others (mode %04o); run: chmod 600 %s", file, info.Mode().Perm(), file)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxProfile+1))
	if err == nil && len(b) > maxProfile {
		err = fmt.Errorf("%s is larger than %d bytes", file, maxProfile)
	}
	return b, err
}

// warning says that the key expires within some time, or has expired; empty: it does not, or nothing says when.
func (p *profile) warning(within time.Duration) (text backend.Safe, expired bool) {
	if p == nil {
		return backend.Safe{}, false
	}
	p.mu.Lock()
	at := p.expires
	p.mu.Unlock()
	name := backend.Clean(p.name, 60)
	switch left := at.Sub(p.now()); {
	case at.IsZero() || left > within:
		return backend.Safe{}, false
	case left <= 0:
		return backend.Textf("the key of the CLI profile %s expired at %s; run: agentuity auth login", name, moment(at)), true
	}
	return backend.Textf("the key of the CLI profile %s expires at %s; run before that: agentuity auth login", name, moment(at)), false
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04Z") }
