package logview

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// literal is a text of a regular expression. To look for it is ten times as fast as the expression.
type literal struct {
	need term // what holds none of these does not match
	is   term // what holds one of these matches; empty: not known
}

// mostLiterals bounds how many texts are looked for in each line.
const mostLiterals = 8

// literalsOf are texts of which every match of an expression holds at least one; nil: none are known.
func literalsOf(expr string) []literal {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	if l := literalsIn(re.Simplify()); len(l) <= mostLiterals {
		return l
	}
	return nil
}

func literalsIn(re *syntax.Regexp) []literal {
	switch op := re.Op; {
	case op == syntax.OpLiteral:
		return literalOf(re)
	case op == syntax.OpCapture, op == syntax.OpPlus:
		return literalsIn(re.Sub[0])
	case op == syntax.OpConcat:
		var best []literal
		for _, sub := range re.Sub {
			if l := literalsIn(sub); shortest(l) > shortest(best) {
				best = l
			}
		}
		for i := range best {
			best[i].is = term{} // there is more around it
		}
		return best
	case op == syntax.OpAlternate:
		var union []literal
		for _, sub := range re.Sub {
			l := literalsIn(sub)
			if l == nil {
				return nil
			}
			union = append(union, l...)
		}
		return union
	}
	return nil // what may be empty, or is one of several signs
}

// literalOf is a text as it is looked for. Where case does not count, a part of it must be there that has only ASCII letters of which
// no other sign is a variant: k and s have one.
func literalOf(re *syntax.Regexp) []literal {
	text := string(re.Rune)
	if re.Flags&syntax.FoldCase == 0 {
		t := term{[]byte(text), false}
		return []literal{{t, t}}
	}
	text = strings.ToLower(text)
	longest := ""
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return r >= 0x80 || r == 'k' || r == 's' }) {
		if len(run) > len(longest) {
			longest = run
		}
	}
	if longest == "" {
		return nil
	}
	l := literal{need: term{[]byte(longest), true}}
	if ascii([]byte(text)) {
		l.is = term{[]byte(text), true}
	}
	return []literal{l}
}

// shortest is the length of the shortest text, 0 where none is known.
func shortest(l []literal) int {
	if l == nil {
		return 0
	}
	return len(slices.MinFunc(l, func(a, b literal) int { return len(a.need.word) - len(b.need.word) }).need.word)
}

// judgeLiterals says whether a line matches, where its literals tell that.
func judgeLiterals(all []literal, text []byte) (known, matches bool) {
	if all == nil {
		return false, false
	}
	known = true
	for i := range all {
		l := &all[i]
		if !l.need.holds(text) {
			continue
		}
		known = false
		if len(l.is.word) > 0 && l.is.holds(text) {
			return true, true
		}
	}
	return known, false
}
