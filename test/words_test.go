package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// wordsPage is the vocabulary. Its table "Words not to use" says what is refused, and what to write.
const wordsPage = "docs/words.md"

// shownIn are the folders whose string literals users read, on a screen, in a pipe, or as an error.
var shownIn = []string{"actions", "alerts", "app", "backend", "cli", "config", "ui", "views"}

// notShown are folders below them that print nothing for users: they play stories, or serve tests.
var notShown = []string{"alerts/scenario", "alerts/cause", "backend/backendtest"}

// A banned word: a regular expression and what to write instead.
type bannedWord struct {
	pattern *regexp.Regexp
	instead string
}

// bannedWords reads the table of the page.
func bannedWords(t *testing.T) (banned []bannedWord) {
	t.Helper()
	page, err := os.ReadFile(wordsPage)
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "\n## Words not to use\n")
	if !ok {
		t.Fatalf("%s has no table of words not to use", wordsPage)
	}
	for line := range strings.SplitSeq(table, "\n") {
		words, instead, ok := strings.Cut(strings.TrimPrefix(line, "- "), ": ")
		if !ok || !strings.HasPrefix(line, "- ") {
			continue
		}
		for word := range strings.SplitSeq(words, ", ") {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.ToLower(strings.Trim(word, "`"))), " … ", `(?:\s+[^\s.,;:]+){1,6}\s+`)
			banned = append(banned, bannedWord{regexp.MustCompile(`(?i)(^|[^\pL\pN_-])` + pattern + `($|[^\pL\pN_-])`), instead})
		}
	}
	if len(banned) < 20 {
		t.Fatalf("%s bans only %d words", wordsPage, len(banned))
	}
	return banned
}

// code is what stands in backquotes in Markdown, and blocks of code: names and examples keep their words.
var code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|<!--.*?-->|\\[[^\\]\n]*\\]\\([^)]*\\)")

// TestPlainWords holds that no text that users read has a word that the vocabulary bans.
func TestPlainWords(t *testing.T) {
	t.Parallel()
	banned := bannedWords(t)
	check := func(where, text string) {
		for _, b := range banned {
			if at := b.pattern.FindStringIndex(text); at != nil {
				t.Errorf("%s: %q: write %s\n\t%s", where, strings.TrimSpace(text[at[0]:at[1]]), b.instead, excerpt(text, at[0]))
			}
		}
	}
	texts, strs := 0, 0
	for _, root := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "alerts/rules", "alerts/runbook", "cli/export", "actions"} {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !slices.Contains([]string{".md", ".tmpl"}, filepath.Ext(p)) || p == wordsPage || strings.Contains(p, "testdata") {
				return err
			}
			b, err := os.ReadFile(p)
			texts++
			check(p, code.ReplaceAllString(string(b), "`"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, root := range shownIn {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			p = filepath.ToSlash(p)
			switch {
			case err != nil:
				return err
			case d.IsDir() && slices.Contains(notShown, p):
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
				return nil
			}
			strs += stringsOf(t, p, check)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if texts < 50 || strs < 3000 {
		t.Errorf("read only %d pages and %d strings", texts, strs)
	}
}

// stringsOf gives every string literal of a file that holds words, and the text behind `doc:` in tags.
func stringsOf(t *testing.T, file string, check func(where, text string)) (n int) {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok {
			if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "panic" {
				return false // read by developers, in a crash file
			}
		}
		lit, ok := node.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, " ") && text != strings.ToUpper(text) {
			return true // a key, a name, a part of a word; capitals are a column's title
		}
		n++
		check(set.Position(lit.Pos()).String(), text)
		return true
	})
	return n
}

// excerpt is the text around a place, on one line.
func excerpt(text string, at int) string {
	from, to := max(at-50, 0), min(at+60, len(text))
	return strings.Join(strings.Fields(strings.ToValidUTF8(text[from:to], "")), " ")
}
