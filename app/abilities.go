package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sandglass/actions"
	"sandglass/actions/operator"
	"sandglass/backend"
	"sandglass/config"
)

// roomWithin bounds how long a plan waits for the journal's lock on a full disk.
const roomWithin = 5 * time.Second

// control makes what carries actions out, for effects that keep what they must in stateDir. An error is about the configuration.
func (s *Station) control(stateDir string) (*actions.Control, error) {
	a := s.app
	able, err := a.Abilities(s.Config, s.Sources, stateDir, s.ReadOnly)
	if err != nil {
		return nil, err
	}
	o := s.controlOptions()
	o.Abilities, o.Feed = able, s.Feed
	if s.StateDir == "" {
		return actions.NewControl(o), nil
	}
	err = s.NoJournal
	if err == nil {
		err = s.Journal.Usable()
	}
	if err != nil {
		o.JournalProblem = backend.Clean(err.Error(), backend.MaxTextRunes)
		return actions.NewControl(o), nil
	}
	s.journalOptions(&o)
	return actions.NewControl(o), nil
}

// controlOptions are what every Control of the Station needs.
func (s *Station) controlOptions() actions.Options {
	a := s.app
	return actions.Options{Environment: s.Config.Environment, Production: s.Config.Production, ReadOnly: s.ReadOnly, StateDir: s.StateDir,
		Now: a.Now, Spawn: a.Spawn, Fingerprint: CauseOf, Process: a.Process, Self: a.self(), Alive: a.alive, NewID: newID,
		Tell: func(events []backend.Event) {
			_ = s.Alerts.Record(events...) // the journal has it; the timeline is for looking
		}}
}

// journalOptions are those that need the journal.
func (s *Station) journalOptions(o *actions.Options) {
	o.Journal = s.Journal
	o.WriteNew = func(path string, content []byte) error {
		ctx, cancel := context.WithTimeout(context.Background(), roomWithin)
		defer cancel()
		return s.Journal.WriteNew(ctx, path, content)
	}
	o.EvidenceSaved = func(ctx context.Context, since time.Time, keys []backend.Key) bool {
		missing, err := s.Journal.EvidenceSaved(ctx, since, keys)
		return err == nil && len(missing) == 0
	}
}

// Abilities are the verbs of every source, as far as the configuration tells: those that it allows with what performs
// them, the others with how to allow them. It contacts nothing.
func (a *App) Abilities(c *config.Config, sources []Source, stateDir string, readOnly bool) ([]actions.Ability, error) {
	verbs, err := operatorVerbs(c)
	if err != nil {
		return nil, err
	}
	sites := &sites{App: a, config: c, sources: sources, stateDir: stateDir, readOnly: readOnly}
	var out []actions.Ability
	var wrong config.Errors
	for _, s := range sources {
		more, err := sites.abilities(s, verbs)
		if err != nil {
			var errs config.Errors
			if !errors.As(err, &errs) {
				errs = config.Errors{{File: c.File, What: s.Config.ID + ": " + err.Error()}}
			}
			wrong = append(wrong, errs...)
		}
		out = append(out, more...)
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return out, nil
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
func (x *sites) abilities(s Source, verbs []*operator.Verb) ([]actions.Ability, error) {
	kind := actions.Kind{Name: s.Config.Kind}
	for _, k := range x.Effects {
		if k.Name == s.Config.Kind {
			kind = k
		}
	}
	kind = operator.Custom(kind, CauseOf, verbs...)
	allowed := allowedVerbs(s)
	var parts map[actions.Verb]actions.Part
	var missing map[actions.Verb]backend.Safe
	distrusted := x.distrust(x.config)
	if len(allowed) > 0 && !x.readOnly && distrusted.IsEmpty() {
		var err error
		if parts, missing, err = kind.Build(x.site(s)); err != nil {
			return nil, err
		}
	}
	var out []actions.Ability
	for _, spec := range kind.Specs {
		able := actions.Ability{Source: s.Config.ID, SourceKind: s.Config.Kind, Spec: spec}
		part, built := parts[spec.Verb]
		unsafe := x.unsafe(s, spec.Verb, distrusted)
		switch {
		case built && unsafe.IsEmpty():
			able.Part = part
		case !slices.Contains(allowed, spec.Verb) && x.config.Local:
			able.Denied = backend.Textf("it is not allowed here: add %s", howToAllow(spec))
		case !slices.Contains(allowed, spec.Verb):
			able.Denied = backend.Textf("the configuration does not allow it: add %q to actions of the source %s", string(spec.Verb), backend.Clean(s.Config.ID, 80))
		case !unsafe.IsEmpty():
			able.Denied = unsafe
		case !missing[spec.Verb].IsEmpty():
			able.Denied = missing[spec.Verb]
		default:
			able.Denied = backend.Text("there is nothing that could do it")
		}
		out = append(out, able)
	}
	return out, nil
}

// howToAllow are the flags that allow a verb on a machine without a configuration.
func howToAllow(spec actions.Spec) string {
	if spec.Of == backend.KindTmpdir {
		return "--allow clean --session-lifetime 168h, where 168h is the longest time for which a session here is paused and continued"
	}
	return "--allow " + string(spec.Verb)
}

// unsafe says why a verb of a source is not done by this configuration, although it allows it.
func (x *sites) unsafe(s Source, verb actions.Verb, distrusted backend.Safe) backend.Safe {
	credential, host := any(s.Config.ActionOptions), s.Config.ActsInPlain()
	if a := x.config.Action(string(verb)); a != nil && a.ActCredential() != "" {
		credential, host = a.Options, a.ActsInPlain()
	}
	switch {
	case !distrusted.IsEmpty():
		return distrusted
	case host != "":
		return inPlain(s.Config.ID, "acting", host)
	}
	if name := config.UnsetActing(credential, x.Getenv); name != "" {
		return backend.Textf("the environment variable %s of the acting credential is not set", backend.Clean(name, 80))
	}
	return backend.Safe{}
}

func allowedVerbs(s Source) []actions.Verb {
	var allowed []actions.Verb
	for _, v := range s.Config.Actions {
		allowed = append(allowed, actions.Verb(v))
	}
	return allowed
}

// sites makes what the actions of a source see of it.
type sites struct {
	*App
	config   *config.Config
	sources  []Source
	stateDir string
	readOnly bool
}

func (x *sites) site(s Source) actions.Site {
	site := actions.Site{Options: s.Config.ActionOptions, Source: s.Source, Allowed: allowedVerbs(s), StateDir: x.stateDir,
		Root: os.Geteuid() == 0, Deps: x.deps(s.Config)}
	if x.config.File != "" {
		if path, err := filepath.Abs(x.config.File); err == nil {
			site.Config = path
		}
	}
	for _, p := range x.sources {
		site.Peers = append(site.Peers, actions.Peer{ID: p.Config.ID, Kind: p.Config.Kind, Source: p.Source})
	}
	return site
}
