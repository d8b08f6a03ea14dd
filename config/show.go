package config

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"sandglass/backend"
)

// secretKey matches the names of values that are always secrets. secretFlag matches the arguments that a secret follows.
var (
	secretKey  = regexp.MustCompile(`(?i)(?:^|[_.-])(?:api[_-]?key|token|secret|passw(?:or)?d|pwd|credential|private[_-]?key|access[_-]?key|signature|sig|authorization|cookie|auth)s?$|^x-(?:.*-)?(?:session|sid)$`)
	secretUser = regexp.MustCompile(`^(?:-[a-zA-Z]*u|--user|--proxy-user)$`)
	secretFlag = regexp.MustCompile(`(?i)^--?[a-z0-9_-]*(?:key|token|secret|passw(?:or)?d|credential|auth)$`)
)

const hidden = "‹masked›"

// Show prints the configuration as it takes effect: defaults filled in, secrets hidden. It shows the
// environment variable, file or command that a credential comes from, which is not a secret.
func (c *Config) Show(known Catalog, cleaner *backend.Cleaner) (string, error) {
	w := &writer{mask: func(key, value string) string {
		if value != "" && (secretKey.MatchString(key) || secretFlag.MatchString(key)) {
			return hidden
		}
		if user, _, both := strings.Cut(value, ":"); both && secretUser.MatchString(key) {
			return user + ":" + hidden
		}
		return cleaner.Clean(backend.MaskURL(value), backend.MaxTextRunes).String()
	}}
	switch {
	case c.Local:
		w.comment("no configuration file: what this machine has")
	default:
		w.comment("%s", cleaner.Clean(c.File, 200))
	}
	w.table("", nil, valueOf(&general{Environment: c.Environment, Production: c.Production, StateDir: c.StateDir,
		LongestOperation: backend.Duration(c.LongestOperation),
		LongestOrder:     backend.Duration(c.LongestOrder), Bell: c.Bell, Reopen: c.Reopen, Time: timeWord(c.LocalTime), DocsURL: c.DocsURL, References: c.References, UI: c.UI}))
	for _, s := range c.Sources {
		into, err := c.defaults(known, s)
		if err != nil {
			return "", err
		}
		if err := s.Options.Decode(into); err != nil {
			return "", err
		}
		structs := []reflect.Value{valueOf(&common{ID: s.ID, Kind: s.Kind, Interval: backend.Duration(s.Interval),
			Deadline: backend.Duration(s.Deadline), About: s.About, Actions: s.Actions}), structOf(into)}
		if acts := known.actionsOf(s.Kind); acts.Defaults != nil {
			doing := acts.Defaults()
			if err := s.ActionOptions.Decode(doing); err != nil {
				return "", err
			}
			structs = append(structs, structOf(doing))
		}
		w.blankLine()
		w.line("[[source]]")
		w.table("source", nil, structs...)
	}
	for _, a := range c.Actions {
		into := known.Operator.defaults()
		if err := a.Options.Decode(into); err != nil {
			return "", err
		}
		w.blankLine()
		w.line("[[action]]")
		w.table("action", nil, valueOf(&actionCommon{Name: a.Name}), structOf(into))
	}
	for i := range c.Declarations {
		w.blankLine()
		w.line("[[declare]]")
		w.table("declare", nil, valueOf(c.Declarations[i].written))
	}
	for i := range c.Views {
		w.blankLine()
		w.line("[[view]]")
		w.table("view", nil, valueOf(&c.Views[i]))
	}
	w.keysSet(known.KeyPlaces, c.Keys)
	for _, r := range known.Rules {
		into := r.Defaults()
		if err := c.Rule(r.Name).Decode(into); err != nil {
			return "", err
		}
		w.blankLine()
		w.line("[rules.%s]", bareKey(r.Name))
		w.table("rules."+bareKey(r.Name), nil, structOf(into))
	}
	return w.b.String(), nil
}

func (c *Config) defaults(known Catalog, s Source) (any, error) {
	for _, k := range known.Kinds {
		if k.Name == s.Kind {
			return k.Defaults(), nil
		}
	}
	return nil, fmt.Errorf("source %q: this program has no kind %q", s.ID, s.Kind)
}

func timeWord(local bool) string {
	if local {
		return "local"
	}
	return "utc"
}
