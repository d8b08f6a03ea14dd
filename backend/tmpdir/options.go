package tmpdir

import (
	"errors"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// Options are the keys of a source of kind "tmpdir".
type Options struct {
	Roots        []string         `toml:"roots" doc:"directories that hold scratch directories, absolute paths"`
	Pattern      string           `toml:"pattern" doc:"glob on the names of scratch directories directly below a root"`
	AgentUser    string           `toml:"agent_user" doc:"user name or id that must be able to write into the roots; empty: the user that runs Sandglass"`
	MaxEntries   int64            `toml:"max_entries" doc:"entries read per scratch directory; beyond it size and count are lower bounds"`
	HostTree     string           `toml:"host_tree" doc:"directory of a recorded host, as the demo writes one: its proc and sys trees; the roots must be below it; empty: this host"`
	WalkInterval backend.Duration `toml:"walk_interval" doc:"an unchanged scratch directory is read in full at most this often, at least 1s"`
}

func defaults() Options {
	return Options{
		Roots:        []string{"/tmp"},
		Pattern:      "helix-ws-*",
		MaxEntries:   200_000,
		WalkInterval: backend.Duration(time.Minute),
	}
}

// on is the host that the roots are on.
func (o *Options) on() hostfs.Host { return hostfs.Host{Tree: o.HostTree} }

const mostEntries = 100_000_000

// firstSource are the lines of a first source.
const firstSource = `roots = ["/tmp"]
pattern = "helix-ws-*"
#actions = ["clean", "undo"]
#session_lifetime = "48h"  # how long a session can live at most; nothing younger is cleaned
`

// Kind is the source kind "tmpdir".
func Kind() backend.SourceKind {
	return backend.NewSourceKind("tmpdir", "scratch directories of this host: age, size, who uses them; disk, memory and boot facts",
		defaults, func(o *Options, opts backend.Options, deps backend.Deps) (backend.Source, error) {
			a, err := o.check(opts)
			if err != nil {
				return nil, err
			}
			return newSource(*o, a, deps), nil
		}).
		WithSample(firstSource).Delivering(backend.InputTmpdirs, backend.InputHost)
}

// check refuses what can be judged without looking at the roots. A root that does not exist is no mistake of the
// configuration: it may come later, and its absence is a finding.
func (o *Options) check(opts backend.Options) (hostfs.Account, error) {
	if len(o.Roots) == 0 {
		return hostfs.Account{}, opts.Refuse("roots", "no directory given; write for example roots = [\"/tmp\"]")
	}
	for i, r := range o.Roots {
		if !filepath.IsAbs(r) || strings.ContainsRune(r, 0) || len(r) > backend.MaxIDBytes/2 {
			return hostfs.Account{}, opts.Refuse("roots", "%q is not an absolute path", r)
		}
		o.Roots[i] = filepath.Clean(r)
		if slices.Contains(o.Roots[:i], o.Roots[i]) {
			return hostfs.Account{}, opts.Refuse("roots", "%q is listed twice", r)
		}
	}
	if o.HostTree != "" {
		if o.HostTree = filepath.Clean(o.HostTree); !filepath.IsAbs(o.HostTree) || o.HostTree == "/" {
			return hostfs.Account{}, opts.Refuse("host_tree", "%q is not the absolute path of a directory below /", o.HostTree)
		}
		for _, r := range o.Roots {
			if !o.on().Holds(r) {
				return hostfs.Account{}, opts.Refuse("host_tree", "root %q is not below it: a recorded host tells nothing about other directories", r)
			}
		}
	}
	if _, err := path.Match(o.Pattern, ""); err != nil || o.Pattern == "" || strings.Contains(o.Pattern, "/") {
		return hostfs.Account{}, opts.Refuse("pattern", "%q is not a glob on a name; write for example helix-ws-*", o.Pattern)
	}
	if o.MaxEntries < 1 || o.MaxEntries > mostEntries {
		return hostfs.Account{}, opts.Refuse("max_entries", "must be between 1 and %d", mostEntries)
	}
	if o.WalkInterval.Std() < time.Second {
		return hostfs.Account{}, opts.Refuse("walk_interval", "must be at least 1s")
	}
	a, err := account(o.AgentUser)
	if err != nil {
		return a, opts.Refuse("agent_user", "%v", err)
	}
	return a, nil
}

// account looks the agent's user up. A number that no user database knows is allowed, since containers use such users;
// its groups are unknown then.
func account(name string) (hostfs.Account, error) {
	if name == "" {
		return hostfs.Account{UID: uint32(os.Geteuid()), Self: true}, nil
	}
	u, err := user.Lookup(name)
	if id, perr := strconv.ParseUint(name, 10, 32); err != nil && perr == nil {
		if u, err = user.LookupId(name); err != nil {
			return hostfs.Account{UID: uint32(id)}, nil
		}
	}
	if err != nil {
		return hostfs.Account{}, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return hostfs.Account{}, errors.New("the id of user " + strconv.Quote(name) + " is no number")
	}
	a := hostfs.Account{UID: uint32(uid)}
	groups, err := u.GroupIds()
	if err != nil {
		return a, nil // as for an unknown user: what depends on groups stays undecided
	}
	for _, g := range groups {
		if id, err := strconv.ParseUint(g, 10, 32); err == nil {
			a.Groups = append(a.Groups, uint32(id))
		}
	}
	a.GroupsKnown = true
	return a, nil
}
