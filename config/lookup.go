package config

import (
	"bytes"
	"strconv"
	"strings"
)

// find follows a key such as "read.env" or "pattern[1].class" as far as the file has it; exact says whether all of it
// was there. Keys that hold dots themselves (header names) are found too.
func (n *node) find(path string) (found *node, exact bool) {
	path = strings.TrimLeft(path, ".")
	if path == "" {
		return n, true
	}
	var best *node
	rest := ""
	for i, k := range n.kids {
		key := k.key
		if n.shape != shapeTable {
			key = "[" + strconv.Itoa(i) + "]"
		}
		tail, ok := strings.CutPrefix(path, key)
		if ok && (tail == "" || tail[0] == '.' || tail[0] == '[') && (best == nil || len(tail) < len(rest)) {
			best, rest = k, tail
		}
	}
	if best == nil {
		return n, false
	}
	return best.find(rest)
}

// document writes the node's keys, without those to skip, as a TOML document of its own for the library to decode.
// Values keep the spelling of the file. Tables get headers, however the file wrote them, because the library replaces
// a map by an inline table and adds to it under a header: what the file leaves out keeps its default.
func (n *node) document(skip func(key string) bool) []byte {
	var b bytes.Buffer
	n.write(&b, "", skip)
	return b.Bytes()
}

func (n *node) write(b *bytes.Buffer, path string, skip func(key string) bool) {
	var below []*node
	for _, k := range n.kids {
		switch {
		case skip != nil && skip(k.key):
		case k.shape == shapeTable || k.shape == shapeTables:
			below = append(below, k)
		default:
			b.WriteString(quoteKey(k.key))
			b.WriteString(" = ")
			b.Write(k.raw)
			b.WriteByte('\n')
		}
	}
	for _, k := range below {
		name := path + quoteKey(k.key)
		if k.shape == shapeTable {
			b.WriteString("[" + name + "]\n")
			k.write(b, name+".", nil)
			continue
		}
		for _, row := range k.kids {
			b.WriteString("[[" + name + "]]\n")
			row.write(b, name+".", nil)
		}
	}
}
