package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sandglass/backend"
)

// blocks returns the tables of `[[name]]`.
func (p *parser) blocks(root *node, name string) []*node {
	n := root.child(name)
	switch {
	case n == nil:
		return nil
	case n.shape == shapeTables:
		return n.kids
	case n.shape == shapeList && !slices.ContainsFunc(n.kids, func(k *node) bool { return k.shape != shapeTable }):
		return n.kids
	}
	p.errorf(n.at, "%q must be a list of tables, not %s; write [[%s]]", name, n.shape, name)
	return nil
}

func (p *parser) sources(root *node) {
	lines := make(map[string]int)
	for i, b := range p.blocks(root, "source") {
		if b.raw != nil {
			p.inlined(b)
			continue
		}
		p.source("[[source]]", i, b, lines)
	}
	for _, short := range shortBlocks() {
		for i, b := range p.blocks(root, short.kind) {
			if b.raw != nil {
				p.inlined(b)
				continue
			}
			if k := b.child("kind"); k != nil {
				p.errorf(k.at, "unknown key \"kind\" in [[%s]]: that is what the table is; write [[source]] for another kind", short.kind)
				continue
			}
			p.source("[["+short.kind+"]]", i, short.complete(i, b), lines)
		}
	}
	for i, s := range p.config.Sources {
		for j, about := range s.About {
			if _, ok := lines[about]; ok {
				continue
			}
			ids := make([]string, 0, len(lines))
			for id := range lines {
				ids = append(ids, id)
			}
			if o, ok := p.config.Sources[i].Options.(*options); ok {
				n, _ := o.block.find(fmt.Sprintf("about[%d]", j))
				p.errorf(n.value, "\"about\" in %s: there is no source %q%s", o.where, about, suggest(about, ids))
			}
		}
	}
}

// inlined refuses `source = [{…}]`, for which the positions inside would be those of the whole list.
func (p *parser) inlined(b *node) {
	p.errorf(b.at, "write this table under a header of its own, for example [[source]]")
}

// shortBlock is the name of tables that are short for sources of the kind of that name.
type shortBlock struct {
	kind     string
	interval string // where the table gives none; empty: that of every source
}

func shortBlocks() []shortBlock { return []shortBlock{{"changes", ""}, {"check", "30s"}} }

// complete makes a source of such a table: its kind is given, and it needs no id of its own.
func (s shortBlock) complete(i int, b *node) *node {
	c := *b
	c.kids = slices.Clone(b.kids)
	set := func(key, text string) {
		if c.child(key) == nil {
			c.kids = append(c.kids, &node{shape: shapeText, key: key, at: b.at, value: b.value, raw: []byte(quoteKey(text)), text: text, line: b.line})
		}
	}
	set("kind", s.kind)
	set("id", fmt.Sprintf("%s-%d", s.kind, i+1))
	if s.interval != "" {
		set("interval", s.interval)
	}
	return &c
}

func (p *parser) source(header string, i int, b *node, lines map[string]int) {
	c := commonDefaults()
	where := header + " number " + strconv.Itoa(i+1)
	if id := b.child("id"); id != nil && id.shape == shapeText && id.text != "" {
		where = fmt.Sprintf("%s %q", header, id.text)
	}
	kind, kindKnown := p.kindOf(b, where)
	acts := p.known.actionsOf(kind.Name)
	ours := keysOf(typeOf(c))
	head := &options{file: p.file, block: subset(b, ours), where: where}
	// The keys of the adapter and of the actions stand in one table; each reads its own and knows the other's names.
	elsewhere := p.known.elsewhere(kind.Name)
	rest := &options{file: p.file, block: b, where: where, taken: slices.Concat(ours, optionKeys(acts.Defaults)), elsewhere: elsewhere}
	doing := &options{file: p.file, block: b, where: where, taken: slices.Concat(ours, optionKeys(kind.Defaults)), elsewhere: elsewhere}
	if kindKnown {
		p.collect(rest.check(kind.Defaults()))
	}
	if kindKnown && acts.Defaults != nil {
		p.collect(doing.check(acts.Defaults()))
	}
	if !p.decode(head, c) {
		return
	}
	if kindKnown {
		p.allowed(head, c.Actions, acts)
	}
	if why := badName(c.ID); why != "" {
		p.collect(head.Refuse("id", "%s", why))
	} else if line, twice := lines[c.ID]; twice {
		p.collect(head.Refuse("id", "the source in line %d has this id already", line))
	}
	if _, twice := lines[c.ID]; !twice {
		lines[c.ID], _ = p.file.position(b.at)
	}
	if c.Interval.Std() < minInterval {
		p.collect(head.Refuse("interval", "must be at least %s", minInterval))
	}
	if c.Deadline <= 0 {
		p.collect(head.Refuse("deadline", "must be longer than 0s"))
	}
	p.config.Sources = append(p.config.Sources, Source{ID: c.ID, Kind: c.Kind, Interval: c.Interval.Std(),
		Deadline: c.Deadline.Std(), About: c.About, Options: rest, Actions: c.Actions, ActionOptions: doing})
}

// elsewhere are the keys that sources of other kinds have, each with a sentence that says which.
func (k Catalog) elsewhere(kind string) map[string]string {
	kinds, verbs := map[string][]string{}, map[string]string{}
	for _, other := range k.Kinds {
		acts := k.actionsOf(other.Name)
		for _, v := range acts.Verbs {
			verbs[v] = other.Name
		}
		for _, key := range slices.Concat(optionKeys(other.Defaults), optionKeys(acts.Defaults)) {
			if other.Name != kind && !slices.Contains(kinds[key], other.Name) {
				kinds[key] = append(kinds[key], other.Name)
			}
		}
	}
	for _, key := range slices.Concat(optionKeys(k.actionsOf(kind).Defaults), k.defaultKeys(kind)) {
		delete(kinds, key)
	}
	said := map[string]string{}
	for key, of := range kinds {
		what := "a key"
		if verbs[key] != "" {
			what = "a verb"
		}
		said[key] = fmt.Sprintf("%s is %s of %s, not of %s", key, what, strings.Join(of, ", "), kind)
	}
	return said
}

func (k Catalog) defaultKeys(kind string) []string {
	for _, x := range k.Kinds {
		if x.Name == kind {
			return optionKeys(x.Defaults)
		}
	}
	return nil
}

func (p *parser) kindOf(b *node, where string) (backend.SourceKind, bool) {
	var names []string
	for _, k := range p.known.Kinds {
		names = append(names, k.Name)
	}
	n := b.child("kind")
	switch {
	case n == nil:
		p.errorf(b.at, "%s needs a \"kind\"%s", where, suggest("", names))
		return backend.SourceKind{}, false
	case n.shape != shapeText:
		return backend.SourceKind{}, false // said by the check of the common keys
	}
	for _, k := range p.known.Kinds {
		if k.Name == n.text {
			return k, true
		}
	}
	p.errorf(n.value, "unknown kind %q in %s%s", n.text, where, suggest(n.text, names))
	return backend.SourceKind{}, false
}

// subset is a copy of a table with only some of its keys.
func subset(n *node, keys []string) *node {
	c := *n
	c.kids = slices.DeleteFunc(slices.Clone(n.kids), func(k *node) bool { return !slices.Contains(keys, k.key) })
	return &c
}

// Credentials says for each credential that the source reads with where it comes from: "Authorization from the
// environment variable HELIX_TOKEN". It never reads one. The acting credential is not among them, see ActCredential.
func (s Source) Credentials() []string {
	o, ok := s.Options.(*options)
	if !ok {
		return nil
	}
	var all []string
	for _, t := range o.block.kids {
		if from := origin(t); from != "" && !slices.Contains(o.taken, t.key) {
			all = append(all, from)
		}
	}
	return all
}

// origin says where the credential that a table describes comes from; empty when the table describes none.
func origin(t *node) string {
	if t.shape != shapeTable {
		return ""
	}
	header := "Authorization"
	if h := t.child("header"); h != nil && h.text != "" {
		header = h.text
	}
	for _, from := range []struct{ key, what string }{{"env", "the environment variable "}, {"file", "the file "}, {"command", "the command "}} {
		if n := t.child(from.key); n != nil && (n.text != "" || len(n.kids) > 0) {
			text := n.text
			for i, k := range n.kids {
				if i > 0 {
					text += " "
				}
				text += k.text
			}
			return header + " from " + from.what + text
		}
	}
	return ""
}
