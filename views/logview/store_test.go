package logview

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

func store(limit int) *Store { return NewStore(limit, 1, backend.NewCleaner("our-own-secret")) }

// put takes lines a second apart.
func put(s *Store, lines ...string) {
	for _, l := range lines {
		s.Line(0, backend.LogLine{At: time.Unix(1795800000, 0).Add(time.Duration(s.Counts().Next) * time.Second), Text: []byte(l)})
	}
	search(s)
}

func search(s *Store) {
	for !s.Step() {
	}
}

func shown(s *Store, kind Kind) (out []string) {
	s.Each(kind, func(l Line) bool {
		out = append(out, l.Raw)
		return true
	})
	return out
}

// Whatever comes, a store keeps to its bytes, forgets the oldest lines first, and counts them.
func TestStoreIsBounded(t *testing.T) {
	for name, line := range map[string]string{"long": strings.Repeat("x", 5000), "short": "y", "empty": "", "longest": strings.Repeat("z", backend.MaxLogLine)} {
		s := store(4 << 20)
		const lines = 300_000
		n := min(lines, 256<<20/(len(line)+1))
		for range n {
			s.Line(0, backend.LogLine{Text: []byte(line)})
		}
		c := s.Counts()
		s.mu.Lock()
		held := s.held()
		s.mu.Unlock()
		if held > 4<<20 || c.Dropped == 0 || uint64(c.Kept())+c.Dropped != uint64(n) || c.Next != uint64(n)+1 {
			t.Errorf("%s: %d bytes are held, %d of %d lines kept, %d dropped", name, held, c.Kept(), n, c.Dropped)
		}
		if l, ok := s.Seek(0, false, Any); !ok || l.N != c.First || l.Raw != line {
			t.Errorf("%s: the oldest is %d, want %d", name, l.N, c.First)
		}
		if l, ok := s.Seek(^uint64(0), true, Any); !ok || l.N != uint64(n) {
			t.Errorf("%s: the newest is %d, want %d", name, l.N, n)
		}
	}
}

// A filter is applied to lines that are there and to those that come; errors are found beside it.
func TestFilterAndErrors(t *testing.T) {
	s := store(1 << 20)
	all := []string{"GET /a 200", "ERROR: timeout on b", `{"level":"info","msg":"no error: timeout is 5s"}`, "get /c 500", "ValueError: timeout on d"}
	put(s, all[:4]...)
	for i, c := range []struct {
		text string
		want []int
	}{
		{"", []int{0, 1, 2, 3}},
		{"timeout !level", []int{1}},
		{"timeout !level", []int{1, 4}},
		{"get", []int{0, 3}},
		{"GET", []int{0}},
		{"~get /[ac] [45]", []int{3}},
		{"timeout ~\\bon [bd]$", []int{1, 4}},
		{"~timeout ~on", []int{1, 4}},
		{"~timeout !on", []int{2}},
		{"!~on [bd]$ timeout", []int{0, 1, 2, 3, 4}}, // up to the next ! or ~
		{"timeout !~on [bd]$", []int{2}},
		{"timeout !~ ! ~", []int{1, 2, 4}}, // while it is typed
		{"timeout on", []int{1, 4}},
		{"nothing", nil},
	} {
		f, err := NewFilter(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if s.SetFilter(f); i == 2 {
			put(s, all[4])
		}
		search(s)
		var want []string
		for _, i := range c.want {
			want = append(want, all[i])
		}
		if got := shown(s, Matching); !slices.Equal(got, want) || s.Counts().Matched != len(got) {
			t.Errorf("%q: %q, want %q; counted %d", c.text, got, want, s.Counts().Matched)
		}
	}
	if got := shown(s, Errors); !slices.Equal(got, []string{all[1], all[4]}) || len(got) != s.Counts().Errors {
		t.Errorf("errors: %q, counted %d", got, s.Counts().Errors)
	}
	for text, where := range map[string]string{"~a(": "column 1: no regular", "é  b !~a( ": "column 6: no regular", "~a ~[": "column 4: "} {
		if _, err := NewFilter(text); err == nil || !strings.HasPrefix(err.Error(), where) {
			t.Errorf("%s: %v, want %s", text, err, where)
		}
	}
}

// What a line of JSON is drawn as is found, and marked there, though its text reads otherwise.
func TestFieldsAreFoundAsTheyAreDrawn(t *testing.T) {
	s := store(1 << 20)
	all := []string{`{"level":30,"msg":"tick","nested":{"a":1,"b":"no room"}}`, `{"level": 50, "msg":"tock","err":{"code":"E1","message":"x\/y"},"token":"abcdefghijkl"}`, `level=30 of plain text`, `{"Level":30}`}
	put(s, all...)
	for text, want := range map[string][]int{"level=30": {0, 2, 3}, "level=": {0, 1, 2, 3}, "Level=30": {3}, "level=3 tick": {0}, "!level=30": {1}, "nested.a=1": {0}, "nested.": {0}, "err.co": {1},
		"nested.a=2": nil, "a.b": nil, `nested.b="no`: {0}, "err=x/y": {1}, "~level=[45]0": {1}, "tock !~level=[45]0": nil, "token=abc": nil, "~token=‹": {1}, "~^level=": {2, 3}} {
		f, err := NewFilter(text)
		if err != nil {
			t.Fatal(err)
		}
		s.SetFilter(f)
		search(s)
		var lines []string
		for _, i := range want {
			lines = append(lines, all[i])
		}
		if got := shown(s, Matching); !slices.Equal(got, lines) {
			t.Errorf("%s: %q, want %q", text, got, lines)
		}
	}
}

// What is marked is in order, apart, and within the text, also where letters are longer in lower case.
func TestWhatIsMarked(t *testing.T) {
	for _, c := range []struct {
		filter, text string
		want         [][2]int
	}{{"aba ~b.", "ababax", [][2]int{{0, 5}}}, {"!a ~x$", "ababax", [][2]int{{5, 6}}}, {"é", "ȺȺȺé", [][2]int{{6, 8}}}} {
		f, err := NewFilter(c.filter)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Spans(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.filter, got, c.want)
		}
	}
}

// What is masked is drawn nowhere, and a filter that only it holds finds nothing.
func TestSecretsStayMasked(t *testing.T) {
	s := store(1 << 20)
	put(s, "login with API_KEY=sk-abcdefghijklmnop", "sent our-own-secret to x", "plain\x1b[31m red\x1b[0m \x1b]0;title\x07 \u202ebad")
	for _, l := range []uint64{1, 2, 3} {
		line, _ := s.Seek(l, false, Any)
		if text := s.Text(&line, 1000).String(); strings.Contains(text, "abcdef") || strings.Contains(text, "our-own") || strings.ContainsAny(text, "\x1b\x07\u202e") || strings.Contains(text, "[31m") {
			t.Errorf("drawn: %q", text)
		}
	}
	for text, want := range map[string]int{"abcdefghij": 0, "our-own-secret": 0, "login": 1, "sent": 1} {
		f, _ := NewFilter(text)
		s.SetFilter(f)
		search(s)
		if n := s.Counts().Matched; n != want {
			t.Errorf("%q is found in %d lines, want %d", text, n, want)
		}
	}
}

// The changed channel never blocks whoever reads a log.
func TestAStoreNeverBlocks(t *testing.T) {
	s := store(1 << 20)
	for i := range 10 {
		s.Line(0, backend.LogLine{Text: fmt.Append(nil, i)})
	}
	<-s.Changed()
	select {
	case <-s.Changed():
		t.Error("told twice of the same lines")
	default:
	}
}

func TestFoldedSearch(t *testing.T) {
	for _, c := range []struct {
		text, word string
		want       int
	}{{"abcABC", "bc", 1}, {"xxABC", "abc", 2}, {"ab", "abc", -1}, {"aabaabaac", "aabaac", 3}, {"A-B", "-b", 1}, {"", "a", -1}, {"@`", "`", 1}} {
		if got := indexFold([]byte(c.text), []byte(c.word)); got != c.want {
			t.Errorf("%q in %q: %d, want %d", c.word, c.text, got, c.want)
		}
	}
}
