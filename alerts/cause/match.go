package cause

import (
	"slices"
	"strings"
	"unicode"

	"sandglass/internal/stable"
)

// maxCompared bounds the words of a text that are compared with templates.
const maxCompared = 96

// split takes a text of few listed words apart: into its words, in scripts without blanks into characters, and the listed words that make the
// cause. What stands for a value is left out.
func split(loose string) (words []string, listed string) {
	words = make([]string, 0, 16)
	var says []byte
	for w := range strings.FieldsSeq(loose) {
		if len(words) >= maxCompared {
			break
		}
		if is := lexicon[w]; (is == content || is == outcome) && !roles[w] {
			says = append(append(says, w...), ' ')
		}
		if isASCII(w) {
			if w != "*" {
				words = append(words, w)
			}
			continue
		}
		words = splitScripts(words, strings.ToLower(w))
	}
	return words, string(says)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// splitScripts takes what has no blanks between words apart into characters.
func splitScripts(words []string, w string) []string {
	from := 0
	for i, r := range w {
		if !unicode.In(r, blankless...) {
			continue
		}
		if i > from {
			words = append(words, w[from:i])
		}
		from = i + len(string(r))
		words = append(words, w[i:from])
	}
	if from < len(w) {
		words = append(words, w[from:])
	}
	return words
}

// blankless are the scripts that are written without blanks between words.
var blankless = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// weigh adds up what words count in a comparison: a character is a part of a word only.
func weigh(words []string) int {
	n := 0
	for _, w := range words {
		n += weight(w)
	}
	return n
}

func weight(w string) int {
	switch {
	case w[0] < 0x80 || len(w) > 4:
		return 4
	case w[0] >= 0xe4 && w[0] <= 0xe9: // Han
		return 3
	case w[0] == 0xe3: // kana
		return 1
	}
	return 2
}

// matcher compares texts with templates, and uses its memory again.
type matcher struct {
	shared []int32 // by form: the weight of the words that it shares, whatever their order
	hit    []int32 // forms that share some
	rows   []int32
	common []string
}

// maxCandidates bounds the templates that are compared word by word.
const maxCandidates = 8

// best is the template that has most in common with a text, with what that is; -1: none has enough.
func (m *matcher) best(k *kinship, words []string) (found int, common []string) {
	if len(m.shared) < len(k.forms) {
		m.shared = make([]int32, 2*len(k.forms))
	}
	for _, f := range m.hit {
		m.shared[f] = 0
	}
	m.hit = m.hit[:0]
	for i, w := range words {
		if w == anyName || slices.Contains(words[:i], w) {
			continue
		}
		for _, f := range k.postings[w] {
			if m.shared[f] == 0 {
				m.hit = append(m.hit, f)
			}
			m.shared[f] += int32(weight(w))
		}
	}
	stable.Sort(m.hit, func(a, b int32) int {
		if m.shared[a] != m.shared[b] {
			return int(m.shared[b] - m.shared[a])
		}
		return int(a - b)
	})
	total, most := weigh(words), 0
	found = -1
	for _, f := range m.hit[:min(len(m.hit), maxCandidates)] {
		x := &k.forms[f]
		same := m.sequence(x.words, words)
		n := weigh(same)
		if n > most && alike(n, x.weight, total) {
			found, most, common = int(f), n, slices.Clone(same)
		}
	}
	return found, common
}

// alike reports whether what two texts have in common is at least half of each of them.
func alike(common, a, b int) bool { return 2*common >= a && 2*common >= b }

// sequence is the longest common subsequence of two lists of words by weight.
func (m *matcher) sequence(a, b []string) []string {
	width := len(b) + 1
	if need := (len(a) + 1) * width; cap(m.rows) < need {
		m.rows = make([]int32, need)
	}
	rows := m.rows[:(len(a)+1)*width]
	clear(rows[len(a)*width:])
	for i := len(a) - 1; i >= 0; i-- {
		rows[i*width+len(b)] = 0
		for k := len(b) - 1; k >= 0; k-- {
			n := max(rows[(i+1)*width+k], rows[i*width+k+1])
			if a[i] == b[k] && a[i] != anyName {
				n = max(n, rows[(i+1)*width+k+1]+int32(weight(a[i])))
			}
			rows[i*width+k] = n
		}
	}
	m.common = m.common[:0]
	for i, k := 0, 0; i < len(a) && k < len(b); {
		switch {
		case a[i] == b[k] && a[i] != anyName:
			m.common = append(m.common, a[i])
			i, k = i+1, k+1
		case rows[(i+1)*width+k] >= rows[i*width+k+1]:
			i++
		default:
			k++
		}
	}
	return m.common
}
