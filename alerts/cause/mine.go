package cause

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sandglass/internal/stable"
)

// Template is a form that texts of few listed words share. It keeps the identity of the text that it was made of.
type Template struct {
	ID    string    `json:"id"`
	Words string    `json:"words"` // without those that differ
	Seen  time.Time `json:"seen"`
	Texts int       `json:"texts,omitempty"` // how many were read, at most maxTexts
}

const (
	// maxTemplates bounds what is kept; the ones that were not seen for the longest time are forgotten first, of equals the rarest.
	maxTemplates = 512
	// maxMined bounds the templates while texts are mined. Further texts of their own have none.
	maxMined = 4 * maxTemplates
	maxTexts = 1000
)

// Templates are mined as Drain and Spell do (He et al., ICWS 2017; Du and Li, ICDM 2016): the listed words lead to a few templates, of which
// the one with the longest common subsequence takes the text. Templates are immutable.
type Templates struct {
	list []Template // by ID
	by   map[string]*kinship
}

// kinship are the templates of texts with the same listed words.
type kinship struct {
	forms    []form
	postings map[string][]int32 // of a word, in forms
}

type form struct {
	at     int // in the list
	words  []string
	weight int
}

// NewTemplates takes up templates that were kept.
func NewTemplates(list []Template) *Templates {
	t := &Templates{list: slices.Clone(list), by: map[string]*kinship{}}
	stable.Sort(t.list, func(a, b Template) int { return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Words, b.Words)) })
	t.list = slices.CompactFunc(t.list, func(a, b Template) bool { return a.ID == b.ID })
	for i := range t.list {
		words, listed := split(t.list[i].Words)
		t.kin(listed).add(i, words)
	}
	return t
}

// List returns the templates, to be kept.
func (t *Templates) List() []Template {
	if t == nil {
		return nil
	}
	return t.list
}

func (t *Templates) kin(listed string) *kinship {
	k := t.by[listed]
	if k == nil {
		k = &kinship{postings: map[string][]int32{}}
		t.by[listed] = k
	}
	return k
}

func (k *kinship) add(at int, words []string) {
	f := int32(len(k.forms))
	k.forms = append(k.forms, form{at, words, weigh(words)})
	for i, w := range words {
		if !slices.Contains(words[:i], w) {
			k.postings[w] = append(k.postings[w], f)
		}
	}
}

// Find is the id of the template that a text is of, empty when there is none.
func (t *Templates) Find(loose string) string {
	if t == nil {
		return ""
	}
	words, listed := split(loose)
	k := t.by[listed]
	if k == nil {
		return ""
	}
	var m matcher
	if i, _ := m.best(k, words); i >= 0 {
		return t.list[k.forms[i].at].ID
	}
	return ""
}

// Mine finds the templates of texts, making what is missing, and returns all templates. The order of the texts does not matter.
// identity names a template after the text that it is made of.
func (t *Templates) Mine(texts []string, now time.Time, identity func(string) string) *Templates {
	next := NewTemplates(t.List())
	index := make(map[string]bool, len(next.list))
	for i := range next.list {
		index[next.list[i].ID] = true
	}
	var m matcher
	for _, x := range slices.Compact(slices.Sorted(slices.Values(texts))) {
		words, listed := split(x)
		k := next.kin(listed)
		if i, common := m.best(k, words); i >= 0 {
			next.join(&k.forms[i], common, now)
			continue
		}
		if id := identity(x); !index[id] && len(next.list) < maxMined && len(words) > 0 {
			index[id] = true
			k.add(len(next.list), words)
			next.list = append(next.list, Template{id, strings.Join(words, " "), now, 1})
		}
	}
	if len(next.list) > maxTemplates {
		stable.Sort(next.list, func(a, b Template) int {
			return cmp.Or(b.Seen.Compare(a.Seen), cmp.Compare(b.Texts, a.Texts), strings.Compare(a.ID, b.ID))
		})
		next.list = next.list[:maxTemplates]
	}
	return NewTemplates(next.list)
}

// join leaves of a form what a further text has in common with it.
func (t *Templates) join(f *form, common []string, now time.Time) {
	x := &t.list[f.at]
	x.Seen, x.Texts = now, min(x.Texts+1, maxTexts)
	if len(common) < len(f.words) {
		f.words, f.weight = common, weigh(common)
		x.Words = strings.Join(common, " ")
	}
}
