package cause

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Template is a form that texts of few listed words share. It keeps the identity of the text that it was made of.
type Template struct {
	ID    string    `json:"id"`
	Words string    `json:"words"` // * stands for what differs
	Seen  time.Time `json:"seen"`
}

// maxTemplates bounds what is kept; the ones that were not seen for the longest time are forgotten first.
const maxTemplates = 256

// Templates are mined as Drain does (He et al., ICWS 2017): a tree of fixed depth leads from the number of words and the
// first listed word to a few templates, of which the most similar one takes the text. Templates are immutable.
type Templates struct {
	list   []Template // by ID
	leaves map[leaf][]mined
}

// leaf is where the tree ends.
type leaf struct {
	words int
	first string
}

type mined struct {
	id    string
	words []string
}

// NewTemplates takes up templates that were kept.
func NewTemplates(list []Template) *Templates {
	t := &Templates{list: slices.Clone(list), leaves: map[leaf][]mined{}}
	slices.SortFunc(t.list, func(a, b Template) int { return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Words, b.Words)) })
	t.list = slices.CompactFunc(t.list, func(a, b Template) bool { return a.ID == b.ID })
	for _, x := range t.list {
		words := strings.Fields(x.Words)
		at := leafOf(words)
		t.leaves[at] = append(t.leaves[at], mined{x.ID, words})
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

func leafOf(words []string) leaf {
	for _, w := range words {
		if is := lexicon[w]; is == content || is == outcome {
			return leaf{len(words), w}
		}
	}
	return leaf{words: len(words)}
}

// Find is the id of the template that a text is of, empty when there is none.
func (t *Templates) Find(loose string) string {
	if t == nil {
		return ""
	}
	words := strings.Fields(loose)
	if i := best(t.leaves[leafOf(words)], words); i >= 0 {
		return t.leaves[leafOf(words)][i].id
	}
	return ""
}

// best is the template of a leaf that is most like a text: at least half of all words are the same. -1: none is.
func best(in []mined, words []string) int {
	found, most := -1, 0
	for i := range in {
		same, fits := 0, true
		for k, w := range in[i].words {
			switch {
			case w == words[k]:
				if w != "*" {
					same++
				}
			case lexicon[w] != unlisted || lexicon[words[k]] != unlisted: // listed words make the cause
				fits = false
			}
		}
		if fits && same > most && 2*same >= len(words) {
			found, most = i, same
		}
	}
	return found
}

// Mine finds the templates of texts, making what is missing, and returns all templates and the template's id of each text. The order of the
// texts does not matter. identity names a template after the text that it is made of.
func (t *Templates) Mine(texts []string, now time.Time, identity func(string) string) (*Templates, map[string]string) {
	next := NewTemplates(t.List())
	index := make(map[string]int, len(next.list))
	for i := range next.list {
		index[next.list[i].ID] = i
	}
	ids := make(map[string]string, len(texts))
	for _, text := range slices.Compact(slices.Sorted(slices.Values(texts))) {
		words := strings.Fields(text)
		at := leafOf(words)
		in := next.leaves[at]
		i := best(in, words)
		if i < 0 {
			if len(next.list) >= 2*maxTemplates || len(words) == 0 {
				continue // it is a cause by itself
			}
			id := identity(text)
			if _, taken := index[id]; !taken {
				index[id] = len(next.list)
				next.list = append(next.list, Template{id, text, now})
				next.leaves[at] = append(in, mined{id, words})
			}
			ids[text] = id
			continue
		}
		x := &next.list[index[in[i].id]]
		general := slices.Clone(in[i].words)
		for k := range general {
			if general[k] != words[k] {
				general[k] = "*"
			}
		}
		x.Words, x.Seen = strings.Join(general, " "), now
		in[i].words = general
		ids[text] = x.ID
	}
	if len(next.list) > maxTemplates {
		slices.SortFunc(next.list, func(a, b Template) int { return cmp.Or(b.Seen.Compare(a.Seen), strings.Compare(a.ID, b.ID)) })
		next.list = next.list[:maxTemplates]
	}
	return NewTemplates(next.list), ids
}
