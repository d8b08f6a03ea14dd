package config

import (
	"crypto/sha256"
	"fmt"
)

// part is what the file says under one name: a key, a table, one [[source]], or all tables of another list.
type part struct {
	name   string // as messages write it
	digest [sha256.Size]byte
}

// partsOf are the parts of a file, in its order.
func partsOf(root *node) (out []part) {
	add := func(name string, n *node) {
		text := n.raw
		if n.shape == shapeTable || n.shape == shapeTables {
			text = (&node{shape: shapeTable, kids: []*node{n}}).document(nil)
		}
		out = append(out, part{name, sha256.Sum256(text)})
	}
	for _, n := range root.kids {
		switch {
		case n.key == "source" && n.shape == shapeTables:
			for _, s := range n.kids {
				name := "[[source]]"
				if id := s.child("id"); id != nil {
					name = fmt.Sprintf("[[source]] %q", id.text)
				}
				add(name, s)
			}
		case n.key == "rules" && n.shape == shapeTable:
			for _, r := range n.kids {
				add("[rules."+r.key+"]", r)
			}
		case n.shape == shapeTables:
			add("[["+n.key+"]]", n)
		case n.shape == shapeTable:
			add("["+n.key+"]", n)
		default:
			add(n.key, n)
		}
	}
	return out
}

// Differs names the parts of the file that say something else than in another reading of it: keys, [tables], [rules.NAME] and
// [[source]] "ID". Comments between them do not count.
func (c *Config) Differs(from *Config) (names []string) {
	was := map[string][sha256.Size]byte{}
	for _, p := range from.parts {
		was[p.name] = p.digest
	}
	for _, p := range c.parts {
		digest, there := was[p.name]
		if !there || digest != p.digest {
			names = append(names, p.name)
		}
		delete(was, p.name)
	}
	for _, p := range from.parts {
		if _, gone := was[p.name]; gone {
			names = append(names, p.name)
		}
	}
	return names
}
