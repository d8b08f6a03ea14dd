package alerts

import (
	"sandglass/alerts/cause"
	"sandglass/backend"
)

const (
	// maxCauses is how many causes have lines of their own. Where a fleet has more, the rarest of the new ones share a line.
	maxCauses = 80
	// frequentCause is how many subjects give a new cause a line of its own, up to twice as many lines.
	frequentCause = 16
)

// otherTexts identifies the causes that have no line of their own.
var otherTexts = fingerprint("\x00other error texts")

// amongOthers puts a text on the line of those that have none of their own.
func (c *causeText) amongOthers() {
	c.fingerprint, c.values = otherTexts, cause.WholeText(c.raw.String())
	c.text = backend.Text("other error texts, each too rare for a line of its own")
}

// mine identifies the texts of few listed words by templates, and finds the causes without lines of their own. What the rules read later
// changes neither.
func (e *Env) mine(old map[string]*ruleState) {
	e.mined = true
	if len(e.weak) > 0 {
		texts := make([]string, len(e.weak))
		for i, w := range e.weak {
			texts[i] = w.loose
		}
		e.templates = e.templates.Mine(texts, e.Now, looseFingerprint)
		for _, w := range e.weak {
			e.causes.list[w.at].fingerprint = looseIn(e.templates, w.loose)
		}
		e.weak = nil
	}
	e.rare(old)
}

// rare finds the rarest new causes where there are too many. What is among the others stays there.
func (e *Env) rare(old map[string]*ruleState) {
	most := 0 // causes that there can be
	for _, r := range old {
		most += len(r.groups)
	}
	if most+len(e.causes.list) <= maxCauses && !hasOthers(old) {
		return
	}
	known, among := haveLines(old)
	subjects := map[string]int{} // of new causes
	for i := range e.causes.list {
		c := &e.causes.list[i]
		switch {
		case known[c.fingerprint]:
		case len(among) > 0 && among[cause.WholeText(c.raw.String())]:
			c.amongOthers()
		default:
			subjects[c.fingerprint] += c.subjects
		}
	}
	e.others = fewest(subjects, len(known), len(among))
	for i := range e.causes.list {
		if c := &e.causes.list[i]; e.others[c.fingerprint] {
			c.amongOthers()
		}
	}
}

// fewest are the new causes that get no line of their own. known is how many have lines, among how many are among the others.
func fewest(subjects map[string]int, known, among int) map[string]bool {
	least, own := 1, known+among+len(subjects)
	for (own > 2*maxCauses || own > maxCauses && least < frequentCause) && least < 1<<30 {
		least *= 2
		own = known
		for _, n := range subjects {
			if n >= least {
				own++
			}
		}
	}
	out := map[string]bool{}
	for fp, n := range subjects {
		if n < least {
			out[fp] = true
		}
	}
	return out
}

// haveLines are the causes that have lines, and the texts that share one.
func haveLines(rules map[string]*ruleState) (known, among map[string]bool) {
	known, among = map[string]bool{}, map[string]bool{}
	for _, r := range rules {
		for id, g := range r.groups {
			fp := baseFingerprint(id.fingerprint)
			if fp != otherTexts {
				known[fp] = true
				continue
			}
			for _, x := range g.members {
				if x.Values != "" {
					among[x.Values] = true
				}
			}
		}
	}
	return known, among
}

func hasOthers(rules map[string]*ruleState) bool {
	for _, r := range rules {
		for id := range r.groups {
			if baseFingerprint(id.fingerprint) == otherTexts {
				return true
			}
		}
	}
	return false
}
