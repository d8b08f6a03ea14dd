// Package app is the composition root: it joins what main names into one running Sandglass. A Station is its core, with or
// without a screen; console and demo put a screen on one, commands read one.
package app

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"sandglass/actions"
	"sandglass/actions/operator"
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/config"
	"sandglass/ui"
	"sandglass/views/keys"
	"sandglass/views/theme"
)

// App is the program before it has a configuration: what it can read and do, and the machine it runs on.
type App struct {
	Machine
	Version string
	Kinds   []backend.SourceKind // what it can read
	Effects []actions.Kind       // what it can do, by kind of source
	Cleaner *backend.Cleaner     // masks what is secret in foreign text
	// Cleaning is what the command clean needs besides its verbs; nil where scratch directories cannot be cleaned.
	Cleaning *Cleaning
	// Sent keeps what adapters and actions sent last; nil: nothing is kept.
	Sent *backend.SentLog
	// Crash learns of the screen that a crash has to restore; nil: there is no screen.
	Crash *Crash
}

// New makes the program of this process.
func New(kinds []backend.SourceKind, effects []actions.Kind) *App {
	crash := &Crash{Version: Version()}
	return &App{Machine: NewMachine(crash.Handle), Version: crash.Version, Kinds: kinds, Effects: effects,
		Cleaner: backend.NewCleaner(), Sent: &backend.SentLog{}, Cleaning: TmpdirCleaning(), Crash: crash}
}

// Unused are variables of the environment for platforms of which no source is configured, in words: what they name is not watched.
// A configuration file says itself what is watched.
func (a *App) Unused(c *config.Config) (said []backend.Safe) {
	if !c.Local {
		return nil
	}
	for _, k := range a.Kinds {
		if at := slices.IndexFunc(k.Env, func(name string) bool { return a.Getenv(name) != "" }); at >= 0 {
			said = append(said, backend.Textf("%s is set, and no source of kind %s is configured: sandglass config init --for %s", backend.Clean(k.Env[at], 60),
				backend.Clean(k.Name, 40), backend.Clean(k.Name, 40)))
		}
	}
	return said
}

// Version is the one that the build recorded.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "unreleased"
}

// Signals returns a context that ends on SIGINT, SIGTERM and SIGHUP.
func Signals() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// CauseOf names the cause in an error text, as alerts do.
func CauseOf(text backend.Safe) string { return alerts.ErrorFingerprint(text.String()) }

// Known is what a configuration file may name.
func (a *App) Known() config.Catalog {
	return config.Catalog{Kinds: a.Kinds, Rules: RuleKinds(), Actions: a.actionKinds(), Operator: operatorKeys(), KeyPlaces: keyPlaces(), BadKey: keys.BadKey, Themes: theme.Palettes(),
		CheckView: func(v config.View) (key, why string) { return ui.CheckView(viewOf(v)) }}
}

// Verbs are all that can be done. Known costs more than the commands that need only these.
func (a *App) Verbs() []string { return config.Catalog{Actions: a.actionKinds()}.Verbs() }

func (a *App) actionKinds() (kinds []config.ActionKind) {
	for _, e := range a.Effects {
		x := config.ActionKind{Kind: e.Name, Defaults: e.Defaults}
		for _, s := range e.Specs {
			x.Verbs = append(x.Verbs, string(s.Verb))
		}
		kinds = append(kinds, x)
	}
	return kinds
}

// keyPlaces are the keys of the console, as a configuration can change them.
func keyPlaces() []config.KeyPlace {
	var out []config.KeyPlace
	table := ui.KeyTable()
	for _, c := range keys.Contexts() {
		at := config.KeyPlace{Name: c.Place(), Summary: c.Name(), Typing: c.Typing()}
		for _, b := range table {
			if b.Context == c {
				at.Intents = append(at.Intents, config.KeyIntent{Name: b.Name(), Help: b.Help().Desc, Keys: b.Keys(), InPalette: b.Command != "", Twice: b.Twice()})
			}
		}
		out = append(out, at)
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

// Source is a source that was built from the configuration.
type Source struct {
	backend.Source
	Config config.Source
	Inputs []backend.Input // what its kind can deliver
}

// Build makes the sources and rules of a configuration. It opens no connection. Everything that the adapters refuse
// is returned at once.
func (a *App) Build(c *config.Config) ([]Source, []alerts.Rule, error) {
	var sources []Source
	var wrong config.Errors
	for _, s := range c.Sources {
		for _, k := range a.Kinds {
			if k.Name != s.Kind {
				continue
			}
			deps := a.deps(s)
			deps.Declare = c.DeclarationsFor(s.ID)
			src, err := k.New(s.Options, deps)
			if err != nil {
				wrong = append(wrong, refusals(c, s.ID, err)...)
				continue
			}
			sources = append(sources, Source{Source: src, Config: s, Inputs: k.Inputs})
		}
	}
	conditions, refused := MakeRules(c)
	if wrong = append(wrong, refused...); len(wrong) > 0 {
		for _, s := range sources {
			if c, ok := s.Source.(backend.Closer); ok {
				_ = c.Close() // nothing was read from it yet
			}
		}
		return nil, nil, wrong
	}
	return sources, conditions, nil
}

// deps are what the adapter and the effects of a source get of the machine.
func (a *App) deps(s config.Source) backend.Deps {
	return backend.Deps{ID: s.ID, Interval: s.Interval, Deadline: s.Deadline, Now: a.Now, Spawn: a.Spawn, Cleaner: a.Cleaner,
		Dial: a.Dial, Command: a.Command, Getenv: a.Getenv, Sent: a.Sent}
}

// refusals are the single errors in err; one without a place in the file gets the name of what was to be built.
func refusals(c *config.Config, what string, err error) config.Errors {
	var wrong config.Errors
	if errors.As(err, &wrong) {
		return wrong
	}
	file := c.File
	if file == "" {
		file = "without a configuration file"
	}
	return config.Errors{{File: file, What: what + ": " + err.Error()}}
}
