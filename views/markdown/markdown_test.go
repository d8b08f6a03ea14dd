package markdown

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"sandglass/views/theme"
)

func sample(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("testdata/sample.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPlain(t *testing.T) {
	for _, w := range []int{60, 80, 120} {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			text := Plain(sample(t), w)
			for l := range strings.Lines(text) {
				if n := ansi.StringWidth(strings.TrimRight(l, "\n")); n > w {
					t.Errorf("line of %d cells: %q", n, l)
				}
			}
			golden.RequireEqual(t, text)
		})
	}
}

func TestRenderFillsItsLines(t *testing.T) {
	for _, c := range []theme.Colours{theme.NoColours, theme.Sixteen, theme.TwoFiftySix} {
		for _, g := range []theme.Glyphs{theme.Unicode, theme.ASCII} {
			for _, w := range []int{20, 60, 80, 120} {
				lines := Render(theme.New(c, g), sample(t), w)
				if len(lines) < 40 {
					t.Fatalf("%d lines", len(lines))
				}
				for _, l := range lines {
					if n := ansi.StringWidth(l); n != w {
						t.Errorf("colours %d, glyphs %d: %d cells instead of %d: %q", c, g, n, w, l)
					}
					if text := ansi.Strip(l); g == theme.ASCII && strings.ContainsFunc(text, func(r rune) bool { return r > 0x7e }) {
						t.Errorf("not ASCII: %q", text)
					}
				}
			}
		}
	}
}

func TestTonesSayWhatMarksSay(t *testing.T) {
	lines := Render(theme.New(theme.TwoFiftySix, theme.Unicode), "# T\n\nplain **strong** `code` [x](y)", 40)
	strong := theme.New(theme.TwoFiftySix, theme.Unicode).Open(theme.Strong, false)
	body := lines[3]
	for _, want := range []string{strong + "strong", strong + "code"} {
		if !strings.Contains(body, want) {
			t.Errorf("%q lacks %q", body, want)
		}
	}
	if strings.ContainsAny(ansi.Strip(body), "*`") || !strings.Contains(ansi.Strip(body), "x (y)") {
		t.Errorf("marks on the screen, or no address: %q", ansi.Strip(body))
	}
}

func TestSmallThings(t *testing.T) {
	for src, want := range map[string]string{
		"":                          "",
		"#":                         "",
		"a\nb":                      "  a b\n",
		"a  \nb":                    "  a\n  b\n",
		"[u](u)":                    "  u\n",
		"[](https://x.example)":     "  https://x.example\n",
		`[a\]b](<https\://x>)`:      "  a]b (https://x)\n",
		"\\* &lt; &#65; & &x":       "  * < A & &x\n",
		"`a  \\* b`":                "  `a \\* b`\n",
		"*a*, **b**":                "  *a*, **b**\n",
		"- ":                        "  -\n",
		"3) x\n4) y":                "  3. x\n  4. y\n",
		"> a\n>\n> b":               "  │ a\n  │\n  │ b\n",
		"### h\n\nt":                "  h\n  t\n",
		"## h\n\nt":                 "h\n  t\n",
		"```\n\n```":                "  │\n",
		"a b\xff":                   "  a b\uFFFD\n",
		"| a | b |\n|--|--|\n| c |": "  a  b\n  ────\n  c\n",
	} {
		if got := Plain(src, 60); got != want {
			t.Errorf("%q:\n got %q\nwant %q", src, got, want)
		}
	}
}

func TestNarrowTableIsListed(t *testing.T) {
	got := Plain("| first | second | third |\n|--|--|--|\n| alpha beta | gamma delta | epsilon |\n| 1 | 2 | 3 |", 20)
	if want := "  first: alpha beta\n  second: gamma\n  delta\n  third: epsilon\n\n  first: 1\n  second: 2\n  third: 3\n"; got != want {
		t.Errorf("got %q", got)
	}
}

// hostile is what a site's text or link might carry by accident or on purpose.
var hostile = []string{
	"\x1b]0;pwned\x07 and \u009b31m and \u202e right to left \u200b",
	"[click\x1b[2J](https://x.example/\x1b]8;;evil\x07)",
	"&#27;[31m &#x9b;31m &#x202e;",
	"`\x1b[31m`", "```\n\x1b[31m\r\x00\n```", "<b \x1b[31m>", "<!-- \x1b[31m\n-->\n", "<\x1b[31m@x>",
	"| \x1b[1m |\n|--|\n| &#27;[1m |",
	strings.Repeat(">", 3000) + " deep", strings.Repeat("- ", 3000) + "deep", strings.Repeat("*", 5000) + "a", strings.Repeat("[", 5000),
	strings.Repeat("x", 70000), strings.Repeat("`", 9001) + "a", "![" + strings.Repeat("a](", 2000),
	strings.Repeat("|a", 300) + "\n" + strings.Repeat("|-", 300) + "\n" + strings.Repeat("|b", 300),
	"a\u0301\u0301\u0301\u0301\u0301", strings.Repeat("界", 100),
}

func TestHostileTextIsHarmless(t *testing.T) {
	for _, src := range hostile {
		harmless(t, src)
	}
	if got := Plain(hostile[0], 120); !strings.Contains(got, "␛]0;pwned␇") || !strings.Contains(got, "<U+202E>") {
		t.Errorf("controls are not shown: %q", got)
	}
	if got := Plain(strings.Repeat("word ", 20000), 80); !strings.Contains(got, "cut here") {
		t.Error("a long text is cut without a word")
	}
}

func harmless(t *testing.T, src string) {
	t.Helper()
	for _, w := range []int{1, 30, 80} {
		for _, l := range strings.Split(Plain(src, w), "\n") {
			for _, r := range l {
				if r < 0x20 || r >= 0x7f && r <= 0x9f || r == 0x202e || r == 0x200b {
					t.Fatalf("%.60q at %d: %U is drawn in %.200q", src, w, r, l)
				}
			}
			if n := ansi.StringWidth(l); w >= minWidth && n > w {
				t.Fatalf("%.60q: a line of %d cells at %d: %.200q", src, n, w, l)
			}
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add(sample(f))
	for _, s := range hostile[:9] {
		f.Add(s)
	}
	f.Fuzz(harmless)
}

func BenchmarkRender(b *testing.B) {
	src, t := sample(b), theme.New(theme.TwoFiftySix, theme.Unicode)
	for b.Loop() {
		Render(t, src, 80)
	}
}
