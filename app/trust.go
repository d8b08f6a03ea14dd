package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"sandglass/backend"
	"sandglass/backend/hostfs"
	"sandglass/config"
)

// Warnings are what makes a configuration unsafe to act by, and worth a word where it is only read by.
func (a *App) Warnings(c *config.Config) []backend.Safe {
	var out []backend.Safe
	if why := a.distrust(c); !why.IsEmpty() {
		out = append(out, why)
	}
	for _, s := range c.Sources {
		for _, x := range []struct{ what, host string }{{"reading", s.ReadsInPlain()}, {"acting", s.ActsInPlain()}} {
			if x.host != "" {
				out = append(out, inPlain(s.ID, x.what, x.host))
			}
		}
	}
	for _, x := range c.Actions {
		if host := x.ActsInPlain(); host != "" {
			out = append(out, inPlain(x.Name, "acting", host))
		}
	}
	return out
}

func inPlain(id, what, host string) backend.Safe {
	return backend.Textf("%s sends its %s credential over plain http to %s, where everybody on the way can read it: use https", backend.Clean(id, 80), backend.Clean(what, 20), backend.Clean(host, 200))
}

// distrust says why nothing is done by a configuration: another user could have written it, and would decide what is done
// here. Root and the user that called sudo are not others.
func (a *App) distrust(c *config.Config) backend.Safe {
	if c.Path == "" {
		return backend.Safe{}
	}
	err := looseFile(c.Path)
	if os.Geteuid() == 0 {
		var f *os.File
		if f, err = hostfs.TrustedPath(c.Path, a.callerOfSudo()...); err == nil {
			_ = f.Close() // opened for reading
		}
	}
	if err != nil {
		return backend.Clean("no action by a configuration that others can write: "+err.Error(), 500)
	}
	return backend.Safe{}
}

// looseFile refuses a file that everybody can write or exchange.
func looseFile(path string) error {
	for _, p := range []string{path, filepath.Dir(path)} {
		info, err := os.Stat(p)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 && os.PathSeparator == '/' {
			return fmt.Errorf("%s can be written by others (mode %04o); run: chmod o-w %s", p, info.Mode().Perm(), p)
		}
	}
	return nil
}

// callerOfSudo is the user that called sudo for this process, if one did: root is theirs, so their files are trusted.
func (m *Machine) callerOfSudo() []uint32 {
	if id, err := strconv.ParseUint(m.Getenv("SUDO_UID"), 10, 32); err == nil && os.Geteuid() == 0 {
		return []uint32{uint32(id)}
	}
	return nil
}
