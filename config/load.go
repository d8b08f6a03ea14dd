package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sandglass/backend"
)

// Find says which file is to be read: the one given, else $SANDGLASS_CONFIG, else sandglass/config.toml below
// $XDG_CONFIG_HOME (or ~/.config) if it is there. Empty: there is none, and Local applies.
func Find(given string, getenv func(string) string) string {
	if given != "" {
		return given
	}
	if p := getenv("SANDGLASS_CONFIG"); p != "" {
		return p
	}
	p := DefaultPath(getenv)
	if p == "" {
		return ""
	}
	if _, err := os.Stat(p); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return p // a file that cannot be read is an error to be shown, not a reason to look elsewhere
}

// DefaultPath is where a configuration is looked for when none is named; empty without a home directory.
func DefaultPath(getenv func(string) string) string {
	return userDir(getenv, "XDG_CONFIG_HOME", ".config", "config.toml")
}

func userDir(getenv func(string) string, variable, below, name string) string {
	base := getenv(variable)
	if !filepath.IsAbs(base) { // the XDG specification: relative paths are to be ignored
		home := getenv("HOME")
		if home == "" {
			return ""
		}
		base = filepath.Join(home, below)
	}
	return filepath.Join(base, "sandglass", name)
}

// Load reads the file at path; an empty path gives Local.
func Load(path string, known Catalog) (*Config, error) {
	if path == "" {
		return Local().WithAllContainers(known), nil // nothing else says which containers are of interest
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, Errors{{File: path, What: "cannot be opened: " + backend.WithoutPath(err).Error()}}
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, Errors{{File: path, What: "is a directory; name the file in it"}}
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
	if err != nil {
		return nil, Errors{{File: path, What: "cannot be read: " + backend.WithoutPath(err).Error()}}
	}
	c, err := Parse(data, path, known)
	if err == nil {
		c.Path = path
	}
	return c, err
}

// StateDirectory is where this configuration keeps what must survive a run. given (a flag) wins over the file, which
// wins over $XDG_STATE_HOME/sandglass/<environment> (or ~/.local/state). A leading ~/ is the home directory.
func (c *Config) StateDirectory(given string, getenv func(string) string) (string, error) {
	dir := given
	if dir == "" {
		dir = c.StateDir
	}
	if rest, ok := strings.CutPrefix(dir, "~/"); ok && getenv("HOME") != "" {
		dir = filepath.Join(getenv("HOME"), rest)
	}
	if dir == "" {
		dir = userDir(getenv, "XDG_STATE_HOME", filepath.Join(".local", "state"), c.Environment)
	}
	if dir == "" {
		return "", fmt.Errorf("there is no place to keep state: neither $XDG_STATE_HOME nor $HOME is set; give one with --state-dir")
	}
	return filepath.Abs(dir)
}
