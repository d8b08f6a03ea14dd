package alerts

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sandglass/alerts/cause"
	"sandglass/backend"
	"sandglass/internal/stable"
)

// Variants are the subjects of one cause by the values in their errors that differ, such as an exit code or a binding.
type Variants struct {
	Count int       `json:"count,omitempty"` // of all variants; 0: the errors do not differ
	List  []Variant `json:"list,omitempty"`  // the most frequent first, at most 20
}

// Variant is one set of values that differ between the errors of one cause.
type Variant struct {
	Values   []VariantValue `json:"values"`
	Subjects int            `json:"subjects"`
}

// VariantValue is one value, with the word or key before it. An empty Value: this error has none.
type VariantValue struct {
	Label backend.Safe `json:"label"`
	Value backend.Safe `json:"value"`
}

// IsZero reports whether there are no variants.
func (v Variants) IsZero() bool { return v.Count == 0 }

// maxVariants bounds the variants that are listed.
const maxVariants = 20

// ShownVariants is how many variants a line names.
const ShownVariants = 4

// Text is as in "2 variants: binding 'SANDBOX' 5, 'FILES' 5"; empty when there are none.
func (v Variants) Text() backend.Safe {
	if v.Count == 0 {
		return backend.Safe{}
	}
	var parts []string
	for i, x := range v.List[:min(len(v.List), ShownVariants)] {
		parts = append(parts, x.Text(i == 0).String()+" "+strconv.Itoa(x.Subjects))
	}
	more := ""
	if n := v.Count - len(parts); n > 0 {
		more = ", " + strconv.Itoa(n) + " more"
	}
	return backend.Clean(strconv.Itoa(v.Count)+" variants: "+strings.Join(parts, ", ")+more, 400)
}

// Text is as in "binding 'SANDBOX'"; labelled says that the words before the values stand in it.
func (v *Variant) Text(labelled bool) backend.Safe {
	words := make([]string, 0, 4)
	for _, x := range v.Values {
		if labelled && !x.Label.IsEmpty() {
			words = append(words, x.Label.String())
		}
		words = append(words, cmp.Or(x.Value.String(), absentValue(x.Label.String())))
	}
	return backend.Clean(strings.Join(words, " "), 400)
}

// absentValue is what stands for a value that an error does not have.
func absentValue(label string) string {
	if v := (cause.Value{Label: label}); v.Tells() == cause.TellsNumber {
		return "no " + label
	}
	return "others"
}

// place is where a value is in the texts of one cause: which one behind its label.
type place struct {
	label string
	nth   int
}

func (p place) compare(q place) int {
	return cmp.Or(strings.Compare(p.label, q.label), cmp.Compare(p.nth, q.nth))
}

// spread is how the values of one cause differ.
type spread struct {
	total int
	at    []place        // where they differ, in order
	by    map[string]int // subjects by the values there, as combine writes them
	of    map[string]string
}

// maxSpread bounds the different lists of values that are looked at.
const maxSpread = 20_000

// spreadOf finds the places where values tell variants apart: a name that each subject has of its own tells nothing.
func spreadOf(counts map[string]int) spread {
	s := spread{by: map[string]int{}, of: map[string]string{}}
	if len(counts) < 2 || len(counts) > maxSpread {
		return s
	}
	texts := make(map[string]*valued, len(counts))
	values, present, telling := map[place]map[string]int{}, map[place]int{}, map[place]cause.Telling{}
	for v, n := range counts {
		s.total += n
		texts[v] = readValues(v)
		for p, x := range texts[v].at {
			how := cause.Value{Label: p.label, Text: x}.Tells()
			if values[p] == nil {
				values[p], telling[p] = map[string]int{}, how
			}
			telling[p] = min(telling[p], how)
			values[p][x] += n
			present[p] += n
		}
	}
	for p, different := range values { // a name is at another place where an identifier before it is left out
		n, most := len(different), 0
		for _, k := range different {
			most = max(most, k)
		}
		others := present[p] < s.total
		if telling[p] == cause.TellsThing {
			left := 0
			left, others = leaveSingles(texts, p, different, others)
			n -= left
		}
		if others {
			n++
		}
		seldom := 10*present[p] < s.total && n > 2 // noise of a few texts
		shifted := telling[p] == cause.TellsName && (present[p] < s.total || 5*most > 4*s.total)
		if !seldom && !shifted && tells(telling[p], n, s.total) {
			s.at = append(s.at, p)
		}
	}
	names := naming{counts: counts, texts: texts, total: s.total}
	s.at = append(s.at, names.columns()...)
	stable.Sort(s.at, place.compare)
	for v, n := range counts {
		c := s.combine(texts[v].at)
		s.of[v] = c
		s.by[c] += n
	}
	if len(s.by) < 2 {
		return spread{}
	}
	return s
}

// leaveSingles leaves out the values of a place that one subject each has, and returns how many: several of them are the subjects' own. Beside a
// form of which an identifier is left out they are of that form. others says that some texts have no value there.
func leaveSingles(texts map[string]*valued, p place, different map[string]int, others bool) (int, bool) {
	singles, form := 0, ""
	for x, k := range different {
		switch starred := strings.Contains(x, "*"); {
		case starred && (k > different[form] || k == different[form] && x < form):
			form = x
		case !starred && k == 1:
			singles++
		}
	}
	if singles == 0 || form == "" && (singles < 3 || len(different) <= 3) {
		return 0, others
	}
	for _, text := range texts {
		x, is := text.at[p]
		switch {
		case !is || different[x] > 1 || strings.Contains(x, "*"):
		case form != "":
			text.at[p] = form
		default:
			delete(text.at, p)
		}
	}
	return singles, others || form == ""
}

// tells reports whether values with n different forms among the subjects say more than which subject it is.
func tells(how cause.Telling, n, subjects int) bool {
	often := 2*n <= subjects
	switch {
	case n < 2:
		return false
	case how == cause.TellsAll:
		return true
	case how == cause.TellsNumber:
		return n <= maxVariants || often
	case how == cause.TellsThing:
		return n <= 3 || n <= 8 && n < subjects || n <= 50 && often
	}
	return n <= maxVariants && often
}

// combine writes the values where they differ; an absent one is left out.
func (s *spread) combine(values map[place]string) string {
	var b strings.Builder
	for _, p := range s.at {
		if v := values[p]; v != "" {
			b.WriteString(p.label + "#" + strconv.Itoa(p.nth) + "\x1f" + v + "\x1e")
		}
	}
	return b.String()
}

// VariantsOf are the variants of subjects by what Env.Values says of their errors.
func VariantsOf(counts map[string]int) Variants {
	s := spreadOf(counts)
	if len(s.at) == 0 {
		return Variants{}
	}
	out := Variants{Count: len(s.by)}
	all := stable.Sorted(maps.Keys(s.by), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.by[b], s.by[a]), strings.Compare(a, b))
	})
	for _, c := range all[:min(len(all), maxVariants)] {
		has := combined(c)
		x := Variant{Subjects: s.by[c]}
		for _, p := range s.at {
			x.Values = append(x.Values, VariantValue{backend.Clean(p.shown(), 40), backend.Clean(has[p], 80)})
		}
		out.List = append(out.List, x)
	}
	return out
}

// combined reads what combine wrote.
func combined(c string) map[place]string {
	out := map[place]string{}
	for item := range strings.SplitSeq(strings.TrimSuffix(c, "\x1e"), "\x1e") {
		head, v, _ := strings.Cut(item, "\x1f")
		label, nth, _ := strings.Cut(head, "#")
		n, err := strconv.Atoi(nth)
		if err == nil {
			out[place{label, n}] = v
		}
	}
	return out
}

// Lines of their own: variants of at least apartSubjects live subjects each whose onsets lie more than apartBy after all onsets
// of the variants before; of one cause at most maxApart.
const (
	apartSubjects = 5
	apartBy       = 10 * time.Minute
	maxApart      = 8
)

// apartID is a cause at a source whose variants have lines of their own.
type apartID struct{ source, fingerprint string }

// apartFingerprint identifies a variant's own line.
func apartFingerprint(base, combination string) string {
	_, digits, _ := strings.Cut(fingerprint(combination), ":")
	return base + "." + digits[:6]
}

// baseFingerprint is the cause of a line, also of a variant's own.
func baseFingerprint(whole string) string {
	base, _, _ := strings.Cut(whole, ".")
	return base
}

// lined puts a verdict on the line of its variant, where that has one.
func (l *ruleState) lined(v *Verdict) {
	if len(l.apart) == 0 || v.Outcome != True || v.Values == "" {
		return
	}
	combinations := l.apart[apartID{v.Source, v.Fingerprint}]
	if len(combinations) == 0 {
		return
	}
	has := readValues(v.Values)
	for _, c := range combinations {
		if has.holds(c) {
			v.Fingerprint = apartFingerprint(v.Fingerprint, c)
			return
		}
	}
}

// onsets are the first and last onset of a variant's live subjects.
type onsets struct {
	combination string
	first, last time.Time
	n           int
}

// secede finds the members of a group that become lines of their own, and notes their variants.
func (re *ruleEvaluation) secede(g *group) []change {
	counts := g.count.live.values
	if counts.same(g.valued) || g.id.fingerprint != baseFingerprint(g.id.fingerprint) || len(counts.by) < 2 || g.count.live.n < 2*apartSubjects {
		return nil
	}
	id := apartID{g.id.source, g.id.fingerprint}
	s := spreadOf(counts.by)
	var own []string
	for _, x := range later(s.onsets(g.members)) {
		if len(re.apart[id])+len(own) < maxApart && x.combination != "" {
			own = append(own, x.combination)
		}
	}
	if len(own) == 0 {
		return nil
	}
	re.apart = maps.Clone(re.apart)
	if re.apart == nil {
		re.apart = map[apartID][]string{}
	}
	re.apart[id] = slices.Concat(re.apart[id], own)
	var out []change
	for _, r := range g.members {
		if c := s.of[r.Values]; r.State != StateEnded && slices.Contains(own, c) {
			n := r.clone()
			n.Fingerprint = apartFingerprint(r.Fingerprint, c)
			out = append(out, change{r, n})
		}
	}
	return out
}

// valueCounts are subjects by the values of their errors. Immutable once it is in a group.
type valueCounts struct{ by map[string]int }

// same reports whether two counts say the same, without looking into them where nothing changed.
func (v *valueCounts) same(w *valueCounts) bool {
	return v == w || v != nil && w != nil && maps.Equal(v.by, w.by)
}

// onsets lists the variants of enough live members, the earliest first.
func (s *spread) onsets(members []*record) []onsets {
	if len(s.at) == 0 {
		return nil
	}
	by := map[string]*onsets{}
	for _, r := range members {
		if r.State == StateEnded {
			continue
		}
		c, at := s.of[r.Values], onset(r)
		x := by[c]
		if x == nil {
			x = &onsets{combination: c, first: at, last: at}
			by[c] = x
		}
		x.first, x.last = earliest(x.first, at), latest(x.last, at)
		x.n++
	}
	var out []onsets
	for _, x := range by {
		if x.n >= apartSubjects {
			out = append(out, *x)
		}
	}
	stable.Sort(out, func(a, b onsets) int {
		return cmp.Or(a.first.Compare(b.first), strings.Compare(a.combination, b.combination))
	})
	return out
}

// later are the variants that began more than apartBy after the last onset of those that stay.
func later(all []onsets) []onsets {
	var out []onsets
	var last time.Time
	for i, x := range all {
		if i > 0 && x.first.Sub(last) > apartBy {
			out = append(out, x)
			continue
		}
		last = latest(last, x.last)
	}
	return out
}

// stillApart forgets the variants that have no line any more.
func (re *ruleEvaluation) stillApart(groups map[groupID]*group) map[apartID][]string {
	if len(re.apart) == 0 {
		return nil
	}
	has := map[apartID]bool{}
	for id := range groups {
		has[apartID{id.source, id.fingerprint}] = true
	}
	out := map[apartID][]string{}
	for id, combinations := range re.apart {
		for _, c := range combinations {
			if has[apartID{id.source, apartFingerprint(id.fingerprint, c)}] {
				out[id] = append(out[id], c)
			}
		}
	}
	return out
}
