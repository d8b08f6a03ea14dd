package cli

import (
	"fmt"
	"slices"
	"strings"

	"sandglass/actions"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/config"
)

// columnWidth bounds a route or its reason in characters.
const columnWidth = 1000

// warnOfSharedCredentials names the sources that act with what they read with: whoever may look may then also act.
func (p *Program) warnOfSharedCredentials(b *strings.Builder, c *config.Config) {
	for _, s := range c.Sources {
		if s.SharesCredential() {
			fmt.Fprintf(b, "Warning: %s acts with the credential that it reads with, %s: give [source.act] one of its own\n",
				p.clean(s.ID), p.clean(s.ActCredential()))
		}
	}
}

// explain lists what the configuration lets the program do, reading and acting apart.
func (p *Program) explain(b *strings.Builder, x *app.Station) {
	c, abilities := x.Config, x.Operator(actions.Everything()).All()
	b.WriteString("\nReading\n")
	if !c.Local {
		fmt.Fprintf(b, "  this machine: read %s\n      the configuration\n", p.clean(c.File))
	}
	for _, s := range x.Sources {
		e, ok := s.Source.(backend.Explainer)
		if !ok {
			fmt.Fprintf(b, "  %s: this kind does not list what it reads\n", p.clean(s.Config.ID))
		}
		for _, from := range s.Config.Credentials() {
			p.entry(b, s.Config.ID, from, "a credential; permission to read is enough")
		}
		if !ok {
			continue
		}
		for _, r := range e.Routes() {
			p.entry(b, s.Config.ID, r.Verb+" "+r.Target, r.Why)
		}
	}
	b.WriteString("\nActing\n")
	before := b.Len()
	for _, s := range c.Sources {
		p.explainActions(b, c, s, abilities)
	}
	if b.Len() == before {
		b.WriteString("  nothing: no source allows an action, and no client that could change a backend is made. Permission to read is enough everywhere.\n")
	}
	b.WriteString("  this machine: what the alerts remember, plans and the journal of actions are kept in the state directory\n")
}

// entry prints one line about a source and why.
func (p *Program) entry(b *strings.Builder, source, what, why string) {
	fmt.Fprintf(b, "  %s: %s\n      %s\n", p.clean(source), p.Cleaner.Clean(what, columnWidth), p.Cleaner.Clean(why, columnWidth))
}

// unavailable is what the configuration lacks for a verb that it allows; empty: nothing. Whether there is a journal is a matter
// of the run.
func unavailable(abilities []actions.Ability, source, verb string) backend.Safe {
	for _, a := range abilities {
		if a.Source == source && string(a.Spec.Verb) == verb && a.Part.Targets == nil {
			return a.Denied
		}
	}
	return backend.Safe{}
}

// explainActions prints what may be done to a source, by which route, and where the acting credential comes from.
func (p *Program) explainActions(b *strings.Builder, c *config.Config, s config.Source, abilities []actions.Ability) {
	const held = "the acting credential; read only while a confirmed plan runs"
	own := false // whether a verb other than the operator's is allowed
	for _, verb := range s.Actions {
		what, how := verb, "only by a confirmed plan"
		at := slices.IndexFunc(abilities, func(a actions.Ability) bool { return a.Source == s.ID && string(a.Spec.Verb) == verb })
		if at >= 0 {
			spec := abilities[at].Spec
			what, how = fmt.Sprintf("%s of a %s", verb, spec.Of), spec.Effect
			if why := unavailable(abilities, s.ID, verb); !why.IsEmpty() {
				how = "allowed, but not available: " + why.String()
			}
		}
		routes := s.ActionRoutes()
		credential := ""
		if a := c.Action(verb); a != nil {
			routes, credential = a.ActionRoutes(), a.ActCredential()
		} else {
			own = true
		}
		for _, r := range routes {
			if r.Why == verb {
				what += ", " + r.Verb + " " + r.Target
			}
		}
		p.entry(b, s.ID, what, how)
		if credential != "" {
			p.entry(b, s.ID, credential, held+", for "+verb)
		}
	}
	if from := s.ActCredential(); from != "" && own {
		p.entry(b, s.ID, from, held)
	}
}
