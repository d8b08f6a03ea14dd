package config

import (
	"fmt"
	"slices"
	"strings"
)

// KeyPlace is a place of the console with the keys that work there, as [keys.NAME] can change them.
type KeyPlace struct {
	Name, Summary string
	Typing        bool // keys are text there, so that the keys of the first place do not work
	Intents       []KeyIntent
}

// KeyIntent is what a key asks for in a place.
type KeyIntent struct {
	Name, Help string
	Keys       []string // as they are without a configuration
	InPalette  bool     // it needs no key
	Twice      bool     // a second press of its key confirms
}

// boundKey is a key of a place.
type boundKey struct {
	intent string
	set    *node // where the file says so; nil: it is as it was
}

// keys reads [keys.PLACE]. The keys of an intent replace those that it has.
func (p *parser) keys(root *node) {
	keys := root.child("keys")
	if keys == nil {
		return
	}
	if keys.shape != shapeTable {
		p.errorf(keys.value, "\"keys\" must be a table, not %s; write [keys.PLACE]", keys.shape)
		return
	}
	p.config.Keys = map[string]map[string][]string{}
	var places []string
	for _, at := range p.known.KeyPlaces {
		places = append(places, at.Name)
	}
	for _, n := range keys.kids {
		i := slices.Index(places, n.key)
		switch {
		case i < 0:
			p.errorf(n.at, "there is no place %q for keys%s", n.key, suggest(n.key, places))
		case n.shape != shapeTable:
			p.errorf(n.value, "%q must be a table, not %s; write [keys.%s]", n.key, n.shape, n.key)
		default:
			p.config.Keys[n.key] = p.placeKeys(p.known.KeyPlaces[i], n)
		}
	}
	p.clashes(keys)
}

func (p *parser) placeKeys(place KeyPlace, table *node) map[string][]string {
	out := map[string][]string{}
	var names []string
	for _, in := range place.Intents {
		names = append(names, in.Name)
	}
	for _, n := range table.kids {
		i := slices.Index(names, n.key)
		if i < 0 {
			p.errorf(n.at, "there is no intent %q in [keys.%s]%s", n.key, place.Name, suggest(n.key, names))
			continue
		}
		if n.shape != shapeList {
			p.errorf(n.value, "%q in [keys.%s] must be a list of keys, not %s", n.key, place.Name, n.shape)
			continue
		}
		if len(n.kids) == 0 && !place.Intents[i].InPalette {
			p.errorf(n.value, "%q in [keys.%s] needs a key: the palette does not have it", n.key, place.Name)
		}
		out[n.key] = []string{}
		for _, k := range n.kids {
			why := ""
			if k.shape != shapeText {
				why = fmt.Sprintf("a key must be text, not %s", k.shape)
			} else {
				why = p.known.BadKey(k.text, place.Typing, place.Intents[i].Twice)
			}
			if why != "" {
				p.errorf(k.value, "%q in [keys.%s]: %s", n.key, place.Name, why)
			}
			out[n.key] = append(out[n.key], k.text)
		}
	}
	return out
}

// clashes refuses a key that asks for two things in one place, unless it does without the file.
func (p *parser) clashes(keys *node) {
	var everywhere map[string]boundKey
	for i, place := range p.known.KeyPlaces {
		here := p.bound(place, keys.child(place.Name))
		if i == 0 {
			everywhere = here
			continue
		}
		if place.Typing {
			continue
		}
		for k, b := range here {
			e, both := everywhere[k]
			switch {
			case !both:
			case b.set != nil && !slices.Contains(place.defaults(b.intent), k):
				p.errorf(b.set.value, "%q is the key of %q in [keys.%s] already: a key has one meaning in a place", k, e.intent, p.known.KeyPlaces[0].Name)
			case e.set != nil && !slices.Contains(p.known.KeyPlaces[0].defaults(e.intent), k):
				p.errorf(e.set.value, "%q is the key of %q in [keys.%s] already: a key has one meaning in a place", k, b.intent, place.Name)
			}
		}
	}
}

func (at KeyPlace) defaults(intent string) []string {
	for _, in := range at.Intents {
		if in.Name == intent {
			return in.Keys
		}
	}
	return nil
}

// bound are the keys of a place as they take effect; clashes within it are refused.
func (p *parser) bound(place KeyPlace, table *node) map[string]boundKey {
	out := map[string]boundKey{}
	add := func(k, intent string, set *node) {
		old, twice := out[k]
		if !twice {
			out[k] = boundKey{intent, set}
			return
		}
		other := old.intent
		if set == nil { // the file set the first of the two
			set, other = old.set, intent
		}
		p.errorf(set.value, "%q is the key of %q in [keys.%s] already: a key has one meaning in a place", k, other, place.Name)
	}
	for _, in := range place.Intents {
		var n *node
		if table != nil && table.shape == shapeTable {
			n = table.child(in.Name)
		}
		if n == nil {
			for _, k := range in.Keys {
				add(k, in.Name, nil)
			}
			continue
		}
		for _, k := range n.kids {
			add(k.text, in.Name, k)
		}
	}
	return out
}

// keys prints all keys as they are without a configuration, switched off.
func (w *writer) keys(places []KeyPlace) {
	w.off = true
	for i, at := range places {
		w.blankLine()
		if i == 0 {
			w.comment("The keys of the console, by place and intent. A list replaces the keys that the intent has. A key has one meaning in a place.")
			w.comment("An intent of the palette needs no key: [].")
		}
		w.comment("%s", at.Summary)
		w.line("[keys.%s]", at.Name)
		for _, in := range at.Intents {
			w.comment("%s", in.Help)
			w.keyLine(in.Name, in.Keys)
		}
	}
	w.off = false
}

func (w *writer) keyLine(name string, keys []string) {
	quoted := make([]string, len(keys))
	for i, k := range keys {
		quoted[i] = quoteKey(k)
	}
	w.line("%s = [%s]", bareKey(name), strings.Join(quoted, ", "))
}

// keysSet prints the keys that a file sets.
func (w *writer) keysSet(places []KeyPlace, set map[string]map[string][]string) {
	for _, at := range places {
		if len(set[at.Name]) == 0 {
			continue
		}
		w.blankLine()
		w.line("[keys.%s]", at.Name)
		for _, in := range at.Intents {
			if keys, is := set[at.Name][in.Name]; is {
				w.keyLine(in.Name, keys)
			}
		}
	}
}
