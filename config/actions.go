package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sandglass/backend"
)

// ActionKind is what can be done to the sources of one kind.
type ActionKind struct {
	Kind  string   // of the source
	Verbs []string // what `actions = [...]` may name
	// Defaults returns a pointer to the option struct of its actions: further keys of the same [[source]]. nil: none.
	Defaults func() any
}

// OperatorKind describes [[action]], the verbs that operators define.
type OperatorKind struct {
	// Defaults returns a pointer to the option struct of an [[action]], beside its name. nil: there are no such keys.
	Defaults func() any
	// Examples are printed switched off.
	Examples []ActionExample
}

// ActionExample is one [[action]] of the example configuration.
type ActionExample struct {
	Name    string
	Summary string
	Options any // what OperatorKind.Defaults returns, filled in
}

// Action is one [[action]] of the file. What it does is in its options; where it is allowed, the sources say.
type Action struct {
	Name    string
	Options backend.Options
}

// actionCommon are the keys of every [[action]] that this package reads.
type actionCommon struct {
	Name string `toml:"name" doc:"the verb; a [[source]] allows it by naming it in its actions"`
}

func (k OperatorKind) defaults() any {
	if k.Defaults == nil {
		return &struct{}{}
	}
	return k.Defaults()
}

// actionsOf is what can be done to sources of a kind.
func (k Catalog) actionsOf(kind string) ActionKind {
	if i := slices.IndexFunc(k.Actions, func(a ActionKind) bool { return a.Kind == kind }); i >= 0 {
		return k.Actions[i]
	}
	return ActionKind{Kind: kind}
}

// has reports whether the sources of a kind take a key.
func (k Catalog) has(kind, key string) bool {
	i := slices.IndexFunc(k.Kinds, func(s backend.SourceKind) bool { return s.Name == kind })
	return i >= 0 && slices.Contains(optionKeys(k.Kinds[i].Defaults), key)
}

// optionKeys are the keys of an option struct that a Defaults func returns; none for a nil func.
func optionKeys(defaults func() any) []string {
	if defaults == nil {
		return nil
	}
	return keysOf(structOf(defaults()).Type())
}

// actions reads the [[action]] blocks.
func (p *parser) actions(root *node) {
	ours := make(map[string]bool)
	for _, k := range p.known.Actions {
		for _, v := range k.Verbs {
			ours[v] = true
		}
	}
	lines := make(map[string]int)
	for i, b := range p.blocks(root, "action") {
		if b.raw != nil {
			p.inlined(b)
			continue
		}
		c := &actionCommon{}
		where := fmt.Sprintf("[[action]] number %d", i+1)
		if n := b.child("name"); n != nil && n.shape == shapeText && n.text != "" {
			where = fmt.Sprintf("[[action]] %q", n.text)
		}
		head := &options{file: p.file, block: subset(b, keysOf(typeOf(c))), where: where}
		rest := &options{file: p.file, block: b, where: where, taken: keysOf(typeOf(c))}
		p.collect(rest.check(p.known.Operator.defaults()))
		if !p.decode(head, c) {
			continue
		}
		line, twice := lines[c.Name]
		switch {
		case badVerb(c.Name):
			p.collect(head.Refuse("name", "a verb is written with a-z, 0-9 and -, begins with a letter and has at most 40 characters"))
		case ours[c.Name]:
			p.collect(head.Refuse("name", "this verb is Sandglass's own; choose another word"))
		case twice:
			p.collect(head.Refuse("name", "the [[action]] in line %d has this name already", line))
		}
		if !twice {
			lines[c.Name], _ = p.file.position(b.at)
		}
		p.config.Actions = append(p.config.Actions, Action{Name: c.Name, Options: rest})
	}
}

func badVerb(s string) bool {
	return s == "" || len(s) > 40 || s[0] < 'a' || s[0] > 'z' || strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}

// allowed checks the verbs that a source allows.
func (p *parser) allowed(head *options, verbs []string, kind ActionKind) {
	known := slices.Clone(kind.Verbs)
	for _, a := range p.config.Actions {
		known = append(known, a.Name)
	}
	for i, v := range verbs {
		n, _ := head.block.find(fmt.Sprintf("actions[%d]", i))
		switch {
		case !slices.Contains(known, v):
			p.errorf(n.value, "unknown verb %q in \"actions\" of %s, a source of kind %q%s", v, head.where, kind.Kind, p.verbElsewhere(v, known))
		case slices.Contains(verbs[:i], v):
			p.errorf(n.value, "%q is twice in \"actions\" of %s", v, head.where)
		}
	}
}

// verbElsewhere says whose verb it is, or suggests one.
func (p *parser) verbElsewhere(verb string, known []string) string {
	for _, k := range p.known.Actions {
		if slices.Contains(k.Verbs, verb) {
			return fmt.Sprintf("; %s is a verb of %s", verb, k.Kind)
		}
	}
	return suggest(verb, known)
}

// Action returns the [[action]] of that name, nil when there is none.
func (c *Config) Action(name string) *Action {
	for i := range c.Actions {
		if c.Actions[i].Name == name {
			return &c.Actions[i]
		}
	}
	return nil
}

// actKey is the table with the acting credential, in a [[source]] and in an [[action]].
const actKey = "act"

// ActCredential says where the credential for acting on the source comes from, in the words of Credentials; empty: none
// is configured. It never reads the credential.
func (s Source) ActCredential() string { return actCredential(s.ActionOptions) }

// ActCredential says the same of an [[action]].
func (a Action) ActCredential() string { return actCredential(a.Options) }

func actCredential(from backend.Options) string {
	o, ok := from.(*options)
	if !ok || slices.Contains(o.taken, actKey) {
		return ""
	}
	if t := o.block.child(actKey); t != nil {
		return origin(t)
	}
	return ""
}

// SharesCredential reports whether the source acts with the very credential that it reads with.
func (s Source) SharesCredential() bool {
	act := s.ActCredential()
	_, place, _ := strings.Cut(act, " from ")
	return act != "" && slices.ContainsFunc(s.Credentials(), func(read string) bool {
		_, other, _ := strings.Cut(read, " from ")
		return other == place
	})
}

// ActionRoutes says what the actions of the source would send or run, by the name of their table.
func (s Source) ActionRoutes() []backend.Route {
	o, ok := s.ActionOptions.(*options)
	if !ok {
		return nil
	}
	var all []backend.Route
	for _, t := range o.block.kids {
		if t.shape == shapeTable && t.key != actKey && !slices.Contains(o.taken, t.key) {
			all = append(all, actionRoute(t, t.key)...)
		}
	}
	return all
}

// ActionRoutes says what an [[action]] would send or run.
func (a Action) ActionRoutes() []backend.Route {
	if o, ok := a.Options.(*options); ok {
		return actionRoute(o.block, a.Name)
	}
	return nil
}

// actionRoute shows a request without its query, which may hold a secret, and of a command only what is started.
func actionRoute(t *node, verb string) []backend.Route {
	if n := t.child("url"); n != nil && n.text != "" {
		method := "POST"
		if m := t.child("method"); m != nil && m.text != "" {
			method = m.text
		}
		target, _, query := strings.Cut(n.text, "?")
		if query {
			target += "?…"
		}
		return []backend.Route{{Verb: method, Target: target, Why: verb, Acts: true}}
	}
	if n := t.child("command"); n != nil && len(n.kids) > 0 {
		return []backend.Route{{Verb: "run", Target: n.kids[0].text, Why: verb, Acts: true}}
	}
	return nil
}

// Overlap lists the keys of a kind that both its adapter and its actions claim. There must be none: each would be hidden
// from the other.
func (k Catalog) Overlap(kind backend.SourceKind) []string {
	claimed := make(map[string]bool)
	for _, key := range append(optionKeys(kind.Defaults), keysOf(typeOf(commonDefaults()))...) {
		claimed[key] = true
	}
	maps.DeleteFunc(claimed, func(key string, _ bool) bool {
		return !slices.Contains(optionKeys(k.actionsOf(kind.Name).Defaults), key)
	})
	return slices.Sorted(maps.Keys(claimed))
}
