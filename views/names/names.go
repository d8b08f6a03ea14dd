// Package names replaces the names of subjects in texts by hashes, for a screen that others see.
package names

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"sort"
	"strings"
	"sync"
)

// Set is the names that are hidden. Its methods can be called from several goroutines. One name has one hash wherever it is, as long as the Set lives. A nil Set hides nothing.
type Set struct {
	mu      sync.Mutex // lines of logs are searched beside the screen
	salt    []byte
	hashes  map[string]string
	lengths [256][]int // of names, by their first byte, the longest first
	words   map[string]bool
	begins  []string // the names in order, to find one of which a text shows the beginning
	ends    []string // the same, each written backwards
	sorted  bool
}

// New makes an empty Set. The salt keeps others from trying names out; without it the same names have other hashes.
func New(salt []byte) *Set {
	return &Set{salt: salt, hashes: map[string]string{}, words: map[string]bool{}}
}

const (
	shortest = 2 // characters of a name: a single one says nothing
	// shortestCut is how many bytes of a name beside an ellipsis count as a part of it.
	shortestCut = 4
	// shortestNumber is how many digits make a name: shorter ones are counts.
	shortestNumber = 7
	// HashWidth is how many cells a hash takes.
	HashWidth = 8
)

// Add hides a name. A short number is not hidden: it would be one of our counts.
func (s *Set) Add(name string) { s.AddAs(name, name) }

// AddWord hides a name that may be an ordinary word, such as box or build. One of small letters alone is hidden only where it is all of
// a text, stands behind a slash or in quotes: our own sentences stay as they are.
func (s *Set) AddWord(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hashes[name] == "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == "" {
		s.words[name] = true
	}
	s.add(name, name)
}

// AddAs hides a name behind the hash of another one: its short form has the hash of the whole.
func (s *Set) AddAs(name, whole string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(name, whole)
}

func (s *Set) add(name, whole string) {
	if len(name) < shortest || len(name) < shortestNumber && strings.Trim(name, "0123456789.-") == "" || s.hashes[name] != "" {
		return
	}
	sum := hmac.New(sha256.New, s.salt)
	sum.Write([]byte(whole))
	s.hashes[name] = "#" + strings.ToLower(base32.StdEncoding.EncodeToString(sum.Sum(nil)))[:HashWidth-1]
	of := &s.lengths[name[0]]
	if at, has := slices.BinarySearchFunc(*of, len(name), func(have, n int) int { return n - have }); !has {
		*of = slices.Insert(*of, at, len(name))
	}
	s.begins, s.ends, s.sorted = append(s.begins, name), append(s.ends, backwards(name)), false
}

// Len is the number of names.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.hashes)
}

// Text is a text with hashes for the names in it. What is left of a name beside an ellipsis is replaced too.
func (s *Set) Text(text string) string {
	if s == nil || text == "" {
		return text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h, whole := s.hashes[strings.TrimSpace(text)]; whole {
		return strings.Replace(text, strings.TrimSpace(text), h, 1)
	}
	var out strings.Builder
	from := 0
	for i := 0; i < len(text); i++ {
		if i > 0 && inName(text[i-1]) {
			continue
		}
		if n := s.nameAt(text, i); n > 0 {
			out.WriteString(text[from:i])
			out.WriteString(s.hashes[text[i:i+n]])
			from, i = i+n, i+n-1
		}
	}
	if from > 0 {
		text = out.String() + text[from:]
	}
	if strings.Contains(text, ellipsis) {
		return s.cut(text)
	}
	return text
}

// nameAt is the length of the longest name that begins at a place of a text, 0: none does.
func (s *Set) nameAt(text string, at int) int {
	for _, n := range s.lengths[text[at]] {
		end := at + n
		if end > len(text) || end < len(text) && inName(text[end]) && inName(text[end-1]) {
			continue
		}
		if name := text[at:end]; s.hashes[name] != "" && (!s.words[name] || at > 0 && (text[at-1] == '/' || text[at-1] == '"' && end < len(text) && text[end] == '"')) {
			return n
		}
	}
	return 0
}

const ellipsis = "…"

// cut replaces what is left of a name before or behind an ellipsis.
func (s *Set) cut(text string) string {
	s.order()
	parts := strings.Split(text, ellipsis)
	for i := range parts {
		if i+1 < len(parts) {
			parts[i] = s.withoutHead(parts[i])
		}
		if i > 0 {
			parts[i] = backwards(s.withoutTail(backwards(parts[i])))
		}
	}
	return strings.Join(parts, ellipsis)
}

// withoutHead replaces the beginning of a name at the end of a text.
func (s *Set) withoutHead(text string) string {
	for i := 0; i+shortestCut <= len(text); i++ {
		if i > 0 && inName(text[i-1]) {
			continue
		}
		if name := beginsWith(s.begins, text[i:]); name != "" {
			return text[:i] + s.hashes[name]
		}
	}
	return text
}

// withoutTail replaces the end of a name at the beginning of a text; both are written backwards.
func (s *Set) withoutTail(text string) string {
	for i := 0; i+shortestCut <= len(text); i++ {
		if i > 0 && inName(text[i-1]) {
			continue
		}
		if name := beginsWith(s.ends, text[i:]); name != "" {
			return text[:i] + backwards(s.hashes[backwards(name)])
		}
	}
	return text
}

// beginsWith is the first of sorted texts that begins with a part; empty: none does.
func beginsWith(sorted []string, part string) string {
	if at := sort.SearchStrings(sorted, part); at < len(sorted) && strings.HasPrefix(sorted[at], part) {
		return sorted[at]
	}
	return ""
}

func (s *Set) order() {
	if !s.sorted {
		sort.Strings(s.begins)
		sort.Strings(s.ends)
		s.sorted = true
	}
}

func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// inName reports whether a byte goes on with a word of a name: names end where it is false.
func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80 && c != ellipsis[0] && c != ellipsis[1] && c != ellipsis[2]
}
