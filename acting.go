package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"sandglass/actions"
	"sandglass/actions/audit"
	dockeract "sandglass/actions/docker"
	"sandglass/actions/operator"
	tmpdiract "sandglass/actions/tmpdir"
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/hostfs"
	"sandglass/cli"
	"sandglass/config"
)

// causeOf names the cause in an error text, as alerts do.
func causeOf(text backend.Safe) string { return alerts.Fingerprint(text.String()) }

// actionKinds are what this program can do, by kind of source.
func actionKinds() []actions.Kind {
	return []actions.Kind{operator.HelixKind(causeOf), dockeract.Kind(), tmpdiract.Kind()}
}

// actionKeys are the same as a configuration file knows them.
func actionKeys() []config.ActionKind {
	var out []config.ActionKind
	for _, k := range actionKinds() {
		a := config.ActionKind{Kind: k.Name, Defaults: k.Defaults}
		for _, s := range k.Specs {
			a.Verbs = append(a.Verbs, string(s.Verb))
		}
		out = append(out, a)
	}
	return out
}

// operatorKeys describe [[action]].
func operatorKeys() config.OperatorKind {
	k := config.OperatorKind{Defaults: func() any { return operator.BlockDefaults() }}
	for _, e := range operator.Examples() {
		k.Examples = append(k.Examples, config.ActionExample{Name: e.Name, Summary: e.Summary, Options: e.Block})
	}
	return k
}

// roomWithin bounds how long a plan waits for the journal's lock on a full disk.
const roomWithin = 5 * time.Second

// control joins a Control with the configuration, the journal and the fleet. An error is about the configuration.
func (c *console) control(a cli.Acting) (*actions.Control, error) {
	verbs, err := operatorVerbs(a.Config)
	if err != nil {
		return nil, err
	}
	o := actions.Options{Environment: a.Config.Environment, Production: a.Config.Production, ReadOnly: a.ReadOnly, StateDir: a.StateDir,
		Feed: a.Feed, Now: c.sys.now, Spawn: c.sys.spawn, Fingerprint: causeOf, Who: whoIs(), Shared: sharedAccount(),
		Tell: func(events []backend.Event) {
			_ = a.Desk.Record(events...) // the journal has it; the timeline is for looking
		}}
	if a.StateDir != "" {
		journal, err := newAuditJournal(a.StateDir, a.Config.Digest)
		if err == nil {
			err = journal.Usable()
		}
		if err != nil {
			o.JournalProblem = backend.Clean(err.Error(), backend.MaxTextRunes)
		} else {
			o.Journal = journal
			o.WriteNew = func(path string, content []byte) error {
				ctx, cancel := context.WithTimeout(context.Background(), roomWithin)
				defer cancel()
				return journal.WriteNew(ctx, path, content)
			}
			o.EvidenceSaved = func(ctx context.Context, since time.Time, keys []backend.Key) bool {
				missing, err := journal.EvidenceSaved(ctx, since, keys)
				return err == nil && len(missing) == 0
			}
		}
	}
	var wrong config.Errors
	for _, s := range a.Sources {
		more, err := c.abilities(s, a, verbs)
		if err != nil {
			var errs config.Errors
			if !errors.As(err, &errs) {
				errs = config.Errors{{File: a.Config.File, What: s.Config.ID + ": " + err.Error()}}
			}
			wrong = append(wrong, errs...)
		}
		o.Abilities = append(o.Abilities, more...)
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return actions.NewControl(o), nil
}

func operatorVerbs(c *config.Config) ([]*operator.Verb, error) {
	var verbs []*operator.Verb
	var wrong config.Errors
	for _, b := range c.Actions {
		v, err := operator.NewVerb(b.Name, b.Options)
		var errs config.Errors
		switch {
		case errors.As(err, &errs):
			wrong = append(wrong, errs...)
		case err != nil:
			wrong = append(wrong, config.Errors{{File: c.File, What: "[[action]] " + b.Name + ": " + err.Error()}}...)
		default:
			verbs = append(verbs, v)
		}
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return verbs, nil
}

// abilities are the verbs of one source: those that the configuration allows with what performs them, the others with
// how to allow them. Nothing that could act is made for a source that allows nothing.
func (c *console) abilities(s cli.Source, a cli.Acting, verbs []*operator.Verb) ([]actions.Ability, error) {
	kind := actions.Kind{Name: s.Config.Kind}
	for _, k := range actionKinds() {
		if k.Name == s.Config.Kind {
			kind = k
		}
	}
	kind = operator.Custom(kind, causeOf, verbs...)
	var allowed []actions.Verb
	for _, v := range s.Config.Actions {
		allowed = append(allowed, actions.Verb(v))
	}
	var parts map[actions.Verb]actions.Part
	var missing map[actions.Verb]backend.Safe
	distrusted := distrust(s, a)
	if len(allowed) > 0 && !a.ReadOnly && distrusted.IsEmpty() {
		var err error
		if parts, missing, err = kind.Build(c.site(s, a, allowed)); err != nil {
			return nil, err
		}
	}
	var out []actions.Ability
	for _, spec := range kind.Specs {
		x := actions.Ability{Source: s.Config.ID, SourceKind: s.Config.Kind, Spec: spec}
		part, built := parts[spec.Verb]
		switch {
		case built:
			x.Part = part
		case !slices.Contains(allowed, spec.Verb) && a.Config.Local:
			x.Denied = backend.Textf("it is not allowed here: add %s", howToAllow(spec))
		case !slices.Contains(allowed, spec.Verb):
			x.Denied = backend.Textf("the configuration does not allow it: add %q to actions of the source %s", string(spec.Verb), backend.Clean(s.Config.ID, 80))
		case !distrusted.IsEmpty():
			x.Denied = distrusted
		case !missing[spec.Verb].IsEmpty():
			x.Denied = missing[spec.Verb]
		default:
			x.Denied = backend.Text("there is nothing that could do it")
		}
		out = append(out, x)
	}
	return out, nil
}

// howToAllow are the flags that allow a verb on a machine without a configuration.
func howToAllow(spec actions.Spec) string {
	if spec.Of == backend.KindTmpdir {
		return "--allow clean --session-lifetime 168h, where 168h is the longest time for which a session here lies still and is continued"
	}
	return "--allow " + string(spec.Verb)
}

// distrust says why the superuser does not remove files by a configuration: somebody else, who called sudo excepted,
// could have written it, and would decide what root removes.
func distrust(s cli.Source, a cli.Acting) backend.Safe {
	if s.Config.Kind != tmpdiract.Kind().Name || os.Geteuid() != 0 || a.Config.File == "" {
		return backend.Safe{}
	}
	var also []uint32
	if id, err := strconv.ParseUint(os.Getenv("SUDO_UID"), 10, 32); err == nil {
		also = append(also, uint32(id))
	}
	f, err := hostfs.TrustedPath(a.Config.File, also...)
	if err != nil {
		return backend.Clean("as root nothing is removed by a configuration that others can write: "+err.Error(), 500)
	}
	_ = f.Close() // opened for reading
	return backend.Safe{}
}

func (c *console) site(s cli.Source, a cli.Acting, allowed []actions.Verb) actions.Site {
	p := c.program
	site := actions.Site{Options: s.Config.ActionOptions, Source: s.Source, Allowed: allowed, StateDir: a.StateDir, Root: os.Geteuid() == 0,
		Deps: backend.Deps{ID: s.Config.ID, Interval: s.Config.Interval, Deadline: s.Config.Deadline, Now: p.Now, Spawn: p.Spawn,
			Cleaner: p.Cleaner, Dial: p.Dial, Command: p.Command, Getenv: p.Getenv}}
	if a.Config != nil && a.Config.File != "" {
		if path, err := filepath.Abs(a.Config.File); err == nil {
			site.Config = path
		}
	}
	for _, x := range a.Sources {
		site.Peers = append(site.Peers, actions.Peer{ID: x.Config.ID, Kind: x.Config.Kind, Source: x.Source})
	}
	return site
}

// newAuditJournal makes the journal of a state directory. digest is that of the configuration with which this process
// writes, empty without one.
func newAuditJournal(dir, digest string) (*audit.Journal, error) {
	j, err := audit.New(audit.Options{Dir: dir, Sockets: audit.SystemSockets(),
		Origin: audit.Origin{Host: whoIs().Host, BootID: backend.Clean(alerts.ReadSystemClock().Boot, 80), ConfigDigest: digest}})
	if err != nil {
		return nil, fmt.Errorf("there is no journal: %w", err)
	}
	return j, nil
}

// whoIs is the person at this program, as far as the system knows.
func whoIs() audit.Who {
	who := audit.Who{User: backend.Text("unknown"), Host: backend.Text("unknown"), SSHClient: sshClient(),
		Claimed: backend.Clean(os.Getenv("SANDGLASS_USER"), 100), SudoUser: backend.Clean(os.Getenv("SUDO_USER"), 100)}
	if name := systemUser(); name != "" {
		who.User = backend.Clean(name, 100)
	}
	if host, err := os.Hostname(); err == nil {
		who.Host = backend.Clean(host, 100)
	}
	return who
}

// sharedAccount reports whether the account says little about who uses it: the superuser without sudo, and the accounts
// that images of cloud machines come with.
func sharedAccount() bool {
	switch systemUser() {
	case "", "root":
		return os.Getenv("SUDO_USER") == ""
	case "admin", "ubuntu", "debian", "ec2-user", "azureuser", "centos", "deploy", "ops", "core", "opc", "fedora":
		return true
	}
	return false
}
