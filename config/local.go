package config

import (
	"fmt"
	"slices"
	"time"
)

// Permit is what the command line allows on a machine without a configuration.
type Permit struct {
	Verbs []string
	// SessionLifetime is the longest life of a session, after which a scratch directory without a holder has no owner.
	// 0: it is not given, and directories are not cleaned.
	SessionLifetime time.Duration
}

// lifetimeKey is the key of a source's actions that holds SessionLifetime.
const lifetimeKey = "session_lifetime"

// allContainersKey is the key of a source that makes it watch every container of its engine.
const allContainersKey = "all_containers"

// LocalKeys are the keys that a machine without a configuration has set, so that a starter for it sets them too.
func LocalKeys() []string { return []string{allContainersKey} }

// WithAllContainers is the configuration with every container watched, for looking only.
func (c *Config) WithAllContainers(known Catalog) *Config {
	out := *c
	out.Sources = slices.Clone(c.Sources)
	for i := range out.Sources {
		s := &out.Sources[i]
		if o, ok := s.Options.(*options); ok && known.has(s.Kind, allContainersKey) {
			s.Options = o.with(allContainersKey, &node{shape: shapeBool, raw: []byte("true"), text: "true"})
		}
	}
	return &out
}

// cleanVerb is the verb that needs SessionLifetime.
const cleanVerb = "clean"

// Permitted is a configuration without a file that allows more. A file says itself what may be done, so that the command
// line cannot.
func (c *Config) Permitted(p Permit, known Catalog) (*Config, error) {
	if len(p.Verbs) == 0 && p.SessionLifetime == 0 {
		return c, nil
	}
	if !c.Local {
		return nil, fmt.Errorf("--allow and --session-lifetime are for a machine without a configuration; here %s says what may be done: "+
			"write actions = [...] into its [[source]]", c.File)
	}
	var all []string
	for _, s := range c.Sources {
		all = append(all, known.actionsOf(s.Kind).Verbs...)
	}
	for _, v := range p.Verbs {
		if !slices.Contains(all, v) {
			return nil, fmt.Errorf("--allow: there is no verb %q on this machine%s", v, suggest(v, all))
		}
	}
	switch {
	case p.SessionLifetime < 0:
		return nil, fmt.Errorf("--session-lifetime must be longer than 0s")
	case p.SessionLifetime == 0 && slices.Contains(p.Verbs, cleanVerb):
		return nil, fmt.Errorf("--allow clean needs --session-lifetime: which sessions still live is not known on this machine, so say how " +
			"long one can live at most, for example --session-lifetime 24h; nothing younger is touched")
	}
	out := *c
	out.Sources = slices.Clone(c.Sources)
	for i := range out.Sources {
		s := &out.Sources[i]
		kind := known.actionsOf(s.Kind)
		for _, v := range kind.Verbs {
			if slices.Contains(p.Verbs, v) && !slices.Contains(s.Actions, v) {
				s.Actions = append(slices.Clip(s.Actions), v)
			}
		}
		if p.SessionLifetime > 0 && slices.Contains(optionKeys(kind.Defaults), lifetimeKey) {
			text := p.SessionLifetime.String()
			s.ActionOptions = empty("", fmt.Sprintf("[[source]] %q", s.ID)).with(lifetimeKey, &node{shape: shapeText, raw: []byte(quoteKey(text)), text: text})
		}
	}
	return &out, nil
}
