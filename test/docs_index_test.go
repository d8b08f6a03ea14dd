package test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mostWords bounds all pages below docs/ together. A backend or screen that comes later may add 900.
const mostWords = 29900

// Whoever begins with the README finds every page, and no link of a page leads nowhere.
func TestEveryPageIsLinked(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)
	pages := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	if words := len(strings.Fields(string(readme))); words > 1100 {
		t.Errorf("README.md has %d words, at most 1,100 are read", words)
	}
	err = filepath.WalkDir("docs", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(p) != ".md" {
			return err
		}
		pages = append(pages, p)
		if text, err := os.ReadFile(p); err != nil || !strings.Contains(string(text[:min(len(text), 500)]), "\n\nAfter this page") {
			t.Errorf("%s does not begin with what the reader can do after it (%v)", p, err)
		}
		if !strings.Contains(string(readme), "("+filepath.ToSlash(p)+")") {
			t.Errorf("README.md does not link %s: add it to its list of pages", p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, p := range pages {
		if text, err := os.ReadFile(p); err == nil && strings.HasPrefix(filepath.ToSlash(p), "docs/") {
			total += len(strings.Fields(string(text)))
		}
	}
	if total > mostWords {
		t.Errorf("docs/ has %d words, at most %d are allowed: shorten a page", total, mostWords)
	}
	if len(pages) < 20 {
		t.Fatalf("found only %d pages", len(pages))
	}
	for _, p := range pages {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(p), m[1])); err != nil {
				t.Errorf("%s links %s, which is not there", p, m[1])
			}
		}
	}
}
