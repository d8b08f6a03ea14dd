package kit

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"sandglass/views/theme"
)

// Whatever is laid out at whatever width: every line has exactly that width, and no character is lost.
func TestLayoutLosesNothing(t *testing.T) {
	th := theme.New(theme.TwoFiftySix, theme.Unicode)
	rng := rand.New(rand.NewPCG(3, 4))
	words := []string{"a", "workspace", "codesess_9100/box", "–", "…", "名前", "é", "  two", "x y", "/a/very/long/path/without/any/space/in/it/at/all", "412 ×", " "}
	for range 3000 {
		d := &Doc{}
		var want strings.Builder
		for range 1 + rng.IntN(3) {
			var spans []Span
			for range 1 + rng.IntN(6) {
				s := words[rng.IntN(len(words))] + strings.Repeat(" ", rng.IntN(2)) + words[rng.IntN(len(words))]
				spans = append(spans, Span{Tone: theme.Tone(rng.IntN(4)), Text: s})
				want.WriteString(s)
			}
			d.Field("", spans...)
		}
		w := 12 + rng.IntN(90)
		var got strings.Builder
		for _, l := range d.Layout(th, w) {
			if n := ansi.StringWidth(l); n != w {
				t.Fatalf("line of %d cells on %d: %q", n, w, l)
			}
			got.WriteString(ansi.Strip(l))
		}
		if g, x := squeeze(got.String()), squeeze(want.String()); g != x {
			t.Fatalf("width %d\n got %q\nwant %q", w, g, x)
		}
	}
}

func squeeze(s string) string { return strings.ReplaceAll(s, " ", "") }

func TestSparkline(t *testing.T) {
	th := theme.New(theme.NoColours, theme.Unicode)
	for _, c := range []struct {
		values []float64
		width  int
		want   string
	}{{[]float64{0, 0}, 5, "▁▁"}, {[]float64{0, 5, 10}, 5, "▁▄█"}, {[]float64{9, 1, 2, 4}, 3, "▂▄█"}, {nil, 5, ""}, {[]float64{-1, 1}, 2, "▁█"}} {
		if got := Sparkline(th, c.values, c.width); got != c.want {
			t.Errorf("%v in %d: %q, want %q", c.values, c.width, got, c.want)
		}
	}
}

func TestBlocksKeepTheirSize(t *testing.T) {
	th := theme.New(theme.TwoFiftySix, theme.Unicode)
	base := NewBlock(40, 12, []string{NewLine(th, 40).Put(theme.Bad, strings.Repeat("x", 60)).String()})
	box := Frame(th, 20, "a title that is too long for it", []string{NewLine(th, 16).Put(theme.Normal, "inside").String()})
	for _, b := range []Block{Overlay(base, box, 5, 2), Overlay(base, box, 0, 11), Beside(th, NewBlock(20, 12, nil), NewBlock(17, 12, nil))} {
		if len(b.Lines) != 12 {
			t.Errorf("%d lines", len(b.Lines))
		}
		for _, l := range b.Lines {
			if ansi.StringWidth(l) != 40 {
				t.Errorf("line of %d cells: %q", ansi.StringWidth(l), l)
			}
		}
	}
}

// What is to be kept is drawn however few lines there are.
func TestFitKeepsWhatMatters(t *testing.T) {
	th := theme.New(theme.NoColours, theme.Unicode)
	d := &Doc{}
	for range 10 {
		d.Field("evidence", Span{Text: "something"})
	}
	d.Field("next", Span{Text: "do this"})
	d.Keep(1)
	d.Head("Subjects")
	for range 10 {
		d.Line(Span{Text: "subject"})
	}
	for h := 2; h < 30; h++ {
		lines, more := d.Fit(th, 40, h)
		if len(lines) > h || len(lines)+more != 23 {
			t.Errorf("%d lines and %d more in %d", len(lines), more, h)
		}
		if n := strings.Count(strings.Join(lines, ""), "do this"); n != 1 {
			t.Errorf("kept line is there %d times in %d lines", n, h)
		}
	}
}

// Where room is short, parts of a higher rank stay before those of a lower one, in the order of the document. Each stays whole
// or goes; only foreign text is shortened.
func TestFitGoesByRank(t *testing.T) {
	th := theme.New(theme.NoColours, theme.Unicode)
	d := &Doc{}
	d.Field("evidence", Span{Text: "something"})
	d.Field("do", Span{Text: "free what is not used any more"})
	d.Keep(1)
	d.Field("don't", Span{Text: "reset it: that only adds opens, and each of them fails again at once"})
	d.Keep(2)
	text := func(h int) string {
		lines, _ := d.Fit(th, 40, h)
		for i := range lines {
			lines[i] = strings.TrimSpace(ansi.Strip(lines[i]))
		}
		return strings.Join(lines, "|")
	}
	for h, want := range map[int]string{
		0: "",
		1: "evidence  something",
		2: "do        free what is not used any|more",
		3: "don't     reset it: that only adds|opens, and each of them|fails again at once",
		4: "evidence  something|don't     reset it: that only adds|opens, and each of them|fails again at once",
		5: "do        free what is not used any|more|don't     reset it: that only adds|opens, and each of them|fails again at once",
		6: "evidence  something|do        free what is not used any|more|don't     reset it: that only adds|opens, and each of them|fails again at once",
	} {
		if got := text(h); got != want {
			t.Errorf("%d lines:\n%s\nwant\n%s", h, got, want)
		}
	}
}

func TestCutLeavesWordsWhole(t *testing.T) {
	for _, c := range []struct {
		text string
		w    int
		want string
	}{
		{"one sandbox behind sessions", 22, "one sandbox behind …"},
		{"helix-eu: capability snapshot", 15, "helix-eu: capa…"},
		{"one sandbox behind sessions", 19, "one sandbox behind…"},
		{"a averyveryverylongword", 12, "a averyvery…"},
		{"codesess_3541d0", 8, "codeses…"},
		{"short", 5, "short"},
	} {
		if got := Cut(c.text, c.w); got != c.want || Width(got) > c.w {
			t.Errorf("%q in %d: got %q, want %q", c.text, c.w, got, c.want)
		}
	}
}

func TestWrapKeepsIdsWhole(t *testing.T) {
	got := Wrap("left out: s-0af0104479f5/repo, s-5511d1deb9d6/docs", 34)
	if want := []string{"left out: s-0af0104479f5/repo,", "s-5511d1deb9d6/docs"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Wrap("abcdefghij", 4); !slices.Equal(got, []string{"abcd", "efgh", "ij"}) {
		t.Errorf("a word longer than a line: %q", got)
	}
}

// Foreign text may lose its middle, and our own text its last sentences, so that they do not push out an instruction.
func TestFitShortensForeignText(t *testing.T) {
	th := theme.New(theme.NoColours, theme.Unicode)
	d := &Doc{}
	d.Field("cause", Span{Text: "an error of a provider that is longer than two lines of this narrow pane"})
	d.KeepMiddleCut(2, 1)
	d.Field("first", Span{Text: "free an instance"})
	d.Keep(1)
	for h, want := range map[int]string{1: "an error of a p…arrow pane", 2: "free an instance", 4: "pane"} {
		lines, _ := d.Fit(th, 36, h)
		if text := ansi.Strip(strings.Join(lines, "|")); !strings.Contains(text, want) {
			t.Errorf("%d lines: %q", h, text)
		}
	}
}

// TestPrintCutsNothing: a command's output has every word, also where a line or a word is wider than the page.
func TestPrintCutsNothing(t *testing.T) {
	word := strings.Repeat("x", 90)
	d := &Doc{}
	d.Line(Span{Text: "a line " + word})
	d.Field("field", Span{Text: "some text and then " + word})
	text := strings.Join(d.Print(theme.New(theme.NoColours, theme.Unicode), 40), "\n")
	if strings.Contains(text, "…") || strings.Count(strings.Join(strings.Fields(text), ""), word) != 2 {
		t.Error(text)
	}
	if cut := strings.Join(d.Layout(theme.New(theme.NoColours, theme.Unicode), 40), "\n"); !strings.Contains(cut, "…") {
		t.Errorf("a screen is wider than 40 cells: %s", cut)
	}
}

func TestFitLeavesOutWholeSentences(t *testing.T) {
	th := theme.New(theme.NoColours, theme.Unicode)
	d := &Doc{}
	d.Field("first", Span{Text: "Free an instance. Then limit opens, e.g. per session. This is the third sentence of the field."})
	d.KeepSentences(1)
	for h, want := range map[int]string{1: "Free an instance.", 2: "Free an instance. Then limit opens, e.g. per session.", 4: "Free an instance. Then limit opens, e.g. per session. This is the third sentence of the field."} {
		lines, _ := d.Fit(th, 46, h)
		if text := strings.Join(strings.Fields(ansi.Strip(strings.Join(lines, " "))), " "); text != "first "+want {
			t.Errorf("%d lines: %q", h, text)
		}
	}
}

func TestCutMiddle(t *testing.T) {
	for _, c := range []struct {
		in   string
		w    int
		want string
	}{
		{"tmpdirRoot /srv/agents/tmp does not exist", 34, "tmpdirRoot …/tmp does not exist"},
		{"max_instances reached (60/60 in use, request 44) today", 40, "max_instances reached (…44) today"},
		{"short", 10, "short"},
		{"abcdefghijklmnopqrstuvwxyz", 11, "abcdef…xyz"},
	} {
		if got := CutMiddle(c.in, c.w); got != c.want || Width(got) > c.w {
			t.Errorf("%d %q: %q, want %q", c.w, c.in, got, c.want)
		}
	}
}

// Where a text is shortened to its first sentences, as many of them stay as fit in its lines.
func TestShortenedTextsFillTheirLines(t *testing.T) {
	d := &Doc{}
	d.Field("", Span{Text: "Raise the limit and deploy it again. Then wait. After that look at the list of all workspaces and end each one that is not used."})
	d.KeepSentences(1)
	lines, more := d.Fit(theme.New(theme.NoColours, theme.ASCII), 30, 2)
	if got := strings.Join(strings.Fields(strings.Join(lines, " ")), " "); got != "Raise the limit and deploy it again. Then wait." || more == 0 {
		t.Errorf("%q, %d more", got, more)
	}
}
