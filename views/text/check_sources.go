package text

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// writeSources writes how each source does, what is not evaluated there, and what nothing watches.
func (c *Check) writeSources(b *strings.Builder) {
	fmt.Fprintf(b, "\nSources of %s\n", c.Environment)
	if len(c.Sources) == 0 {
		b.WriteString(c.pasted("  none is configured; see sandglass config check\n"))
	}
	for _, s := range c.Sources {
		status := s.Status
		if s.Absent {
			status = string(fleet.StatusAbsent)
		}
		fmt.Fprintf(b, "  %-9s %s (%s)", status, s.ID, s.Kind)
		if s.AgeSeconds != nil {
			fmt.Fprintf(b, ", read %s ago", backend.Age(time.Duration(*s.AgeSeconds*float64(time.Second))))
		} else {
			b.WriteString(", never read")
		}
		if s.Error != nil {
			fmt.Fprintf(b, ": %s", *s.Error)
		}
		b.WriteByte('\n')
		for _, note := range c.whyNothing(s.ID.String()) {
			fmt.Fprintf(b, "            %s\n", note)
		}
		if !s.Unread.IsEmpty() {
			fmt.Fprintf(b, "            %s\n", s.Unread)
		}
		for _, part := range s.Denied {
			fmt.Fprintf(b, "            not permitted: %s\n", part)
		}
		c.writeLeftOut(b, s.ID.String())
		for _, g := range byReason(c.blind, s.ID.String()) {
			word := "not evaluated"
			if g.part {
				word = "evaluated in part"
			}
			fmt.Fprintf(b, "            %s: %s (%s)\n", word, strings.Join(g.rules, ", "), g.why)
		}
		if !s.Undated.IsEmpty() {
			fmt.Fprintf(b, "            %s\n", s.Undated)
		}
	}
	nowhere := byReason(c.blind, "")
	if len(c.Unused)+len(nowhere) > 0 {
		b.WriteString("\nNot watched\n")
	}
	for _, u := range c.Unused {
		fmt.Fprintf(b, "  %s\n", u)
	}
	for _, g := range nowhere {
		fmt.Fprintf(b, "  %s: %s\n", g.why, strings.Join(g.rules, ", "))
	}
}

// blindRules are rules that are not evaluated for one reason.
type blindRules struct {
	why   string
	rules []string
	part  bool // some subjects are judged
}

// byReason groups the rules that are not evaluated on a source by reason; of the source "" those that no configured source serves.
func byReason(blind []alerts.Blindness, source string) (groups []blindRules) {
	at := map[string]int{}
	for _, x := range blind {
		if x.Source != source {
			continue
		}
		why := x.Why.String()
		i, known := at[why]
		if !known {
			i, groups = len(groups), append(groups, blindRules{why: why, part: x.Part})
			at[why] = i
		}
		groups[i].rules = append(groups[i].rules, x.Rule)
	}
	return groups
}

// mostInvalid is how many invalid references are named.
const mostInvalid = 5

// writeLeftOut says which lines of a log belong to nothing that is known, and names the first stored references, and sandboxes of which
// something cannot be used, that a source left out, each by itself, and counts them.
func (c *Check) writeLeftOut(b *strings.Builder, source string) {
	if h := c.snapshot.State.Source(source); h != nil {
		if said := c.snapshot.State.Unattributed(h); !said.IsEmpty() {
			fmt.Fprintf(b, "            %s\n", said)
		}
	}
	st := c.snapshot.State
	all := slices.Concat(st.InvalidRefs(source), st.Source(source).InvalidBoxes())
	for _, p := range all[:min(len(all), mostInvalid)] {
		fmt.Fprintf(b, "            invalid: %s: %s\n", p.Where, p.What)
	}
	if len(all) > mostInvalid {
		fmt.Fprintf(b, "            %s in all; %s\n", plural(len(all), "invalid part"), c.pasted("sandglass config check names each"))
	}
}
