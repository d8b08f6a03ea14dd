package alerts

import (
	"slices"
	"strconv"
	"strings"

	"sandglass/alerts/cause"
)

// valued are the values of one text: by their place, and the bare names in their order. Names have no place of their own, since an identifier
// before them may look like one or not.
type valued struct {
	at    map[place]string
	names []cause.Value
}

// readValues reads the values of one text.
func readValues(values string) *valued {
	out := &valued{}
	all := cause.Values(values)
	out.names = all[:0]
	for _, v := range all {
		if v.Bare {
			out.names = append(out.names, v)
			continue
		}
		p := place{v.Label, 0}
		for out.at[p] != "" {
			p.nth++
		}
		out.set(p, v.Text)
	}
	return out
}

func (v *valued) set(p place, value string) {
	if v.at == nil {
		v.at = make(map[place]string, 2)
	}
	v.at[p] = value
}

// nameMark begins the label of a column of names.
const nameMark = "\x1d"

// shown is the word before the values.
func (p place) shown() string { return p.label[strings.LastIndex(p.label, nameMark)+1:] }

func (p place) isName() bool { return strings.HasPrefix(p.label, nameMark) }

// holds reports whether a text has all values of a combination.
func (v *valued) holds(combination string) bool {
	for p, want := range combined(combination) {
		if !p.isName() {
			if v.at[p] != want {
				return false
			}
			continue
		}
		for w := range strings.FieldsSeq(want) {
			if !slices.ContainsFunc(v.names, func(x cause.Value) bool { return x.Text == w }) {
				return false
			}
		}
	}
	return true
}

// naming finds what tells variants apart among the bare names of texts. The names that all texts share divide them; between two of those, names of
// equal number stand in columns, and of a different number those that many texts have are taken together.
type naming struct {
	counts map[string]int // subjects by their values
	texts  map[string]*valued
	list   []*valued
	by     []int // subjects, of each in the list
	total  int
	have   map[string]int // subjects by name
}

func (n *naming) columns() []place {
	n.have = make(map[string]int, len(n.texts))
	for v, k := range n.counts {
		x := n.texts[v]
		n.list, n.by = append(n.list, x), append(n.by, k)
		for _, name := range x.names {
			n.have[name.Text] += k
		}
	}
	shared := n.shared()
	slots := make([][][]cause.Value, len(n.list)) // by text
	for i, v := range n.list {
		slots[i] = divide(v.names, shared)
	}
	var out []place
	for s := range len(shared) + 1 {
		width := len(slots[0][s])
		for i := range slots {
			if len(slots[i][s]) != width {
				width = -1
				break
			}
		}
		if width < 0 {
			out = n.together(out, func(i int) []cause.Value { return slots[i][s] })
			continue
		}
		for c := range width {
			out = n.column(out, func(i int) cause.Value { return slots[i][s][c] })
		}
	}
	return out
}

// shared are the names that all texts have, in their order; none where that differs.
func (n *naming) shared() []string {
	var out, has []string
	for i, v := range n.list {
		has = has[:0]
		for _, x := range v.names {
			if n.have[x.Text] == n.total {
				has = append(has, x.Text)
			}
		}
		if i == 0 {
			out = slices.Clone(has)
		}
		if !slices.Equal(has, out) {
			return nil
		}
	}
	return out
}

// divide takes the names of a text apart at those that all texts share.
func divide(names []cause.Value, shared []string) [][]cause.Value {
	out := make([][]cause.Value, len(shared)+1)
	at, from := 0, 0
	for i, x := range names {
		if at < len(shared) && x.Text == shared[at] {
			out[at] = names[from:i]
			at, from = at+1, i+1
		}
	}
	out[at] = names[from:]
	return out
}

// column adds a column of one name in each text, where the names tell variants apart.
func (n *naming) column(out []place, name func(i int) cause.Value) []place {
	labels, values := map[string]int{}, map[string]bool{}
	how := cause.TellsAll
	for i := range n.list {
		x := name(i)
		labels[x.Label] += n.by[i]
		values[x.Text] = true
		how = min(how, x.Tells())
	}
	if !tells(how, len(values), n.total) {
		return out
	}
	p := n.place(labels, len(out))
	for i, v := range n.list {
		v.set(p, name(i).Text)
	}
	return append(out, p)
}

// together adds a column of the names that many texts have, as far as they stand there.
func (n *naming) together(out []place, names func(i int) []cause.Value) []place {
	labels, values := map[string]int{}, map[string]int{}
	texts := make([]string, len(n.list))
	var words []string
	for i := range n.list {
		words = words[:0]
		for _, x := range names(i) {
			if k := n.have[x.Text]; k > 2 && k < n.total && k*maxVariants >= n.total {
				words = append(words, x.Text)
				labels[x.Label] += n.by[i]
			}
		}
		texts[i] = strings.Join(words, " ")
		values[texts[i]] += n.by[i]
	}
	most := 0
	for _, k := range values {
		most = max(most, k)
	}
	if rest := n.total - most; rest < 2 || rest*maxVariants < n.total || !tells(cause.TellsName, len(values), n.total) {
		return out
	}
	p := n.place(labels, len(out))
	for i, v := range n.list {
		v.set(p, texts[i])
	}
	return append(out, p)
}

// place is a column of names, with the label that most of them have.
func (n *naming) place(labels map[string]int, nth int) place {
	best := ""
	for l, k := range labels {
		if k > labels[best] || k == labels[best] && l < best {
			best = l
		}
	}
	return place{nameMark + strconv.Itoa(nth) + nameMark + best, 0}
}
