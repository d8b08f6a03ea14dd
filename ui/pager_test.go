package ui

import (
	"strings"
	"testing"
	"testing/synctest"
)

// In details / searches the page: what is typed is no key, n and N go on, the line is in sight, and esc ends the search, then the page.
func TestDetailsAreSearched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, incidentFeed(), look{w: 100, h: 14})
		s.press("3", keyEnter)
		d, _ := over[*details](s.model)
		if !strings.Contains(s.lines()[13], "/ search") {
			t.Errorf("not offered:\n%s", s.text())
		}
		if s.press("n"); !strings.Contains(s.text(), "nothing is sought: / searches this page") {
			t.Errorf("not said:\n%s", s.text())
		}
		s.press("/")
		s.typed("RuNning")
		if len(s.model.stack) != 2 || d.pager.sought != "running" || !strings.Contains(s.text(), "/running 1 of 3 lines") {
			t.Errorf("what was typed is not sought:\n%s", s.text())
		}
		s.press(keyEnter)
		all := d.pager.hits()
		if len(all) != 3 {
			t.Fatalf("not three lines have it:\n%s", strings.Join(d.pager.lines, "\n"))
		}
		for i, key := range []string{"n", "N", "N"} {
			want := []int{all[1], all[0], all[len(all)-1]}[i]
			if s.press(key); d.pager.at != want || d.pager.at < d.pager.Top() || !strings.Contains(strings.ToLower(strings.Join(s.rows(s.body())[2:], "\n")), "running") {
				t.Errorf("after %s on line %d, not %d:\n%s", key, d.pager.at, want, s.text())
			}
		}
		if styles := s.styles(area{0, s.body().y + 2 + d.pager.at - d.pager.Top(), s.w, 1}); !strings.Contains(styles, " bg ") {
			t.Errorf("not marked:\n%s", styles)
		}
		s.press("/", "\x03", "/")
		s.typed("no such text")
		if s.press(keyEnter, "n"); !strings.Contains(s.text(), "no line of this page has this") || !strings.Contains(s.text(), "/no such text 0 of 0 lines") {
			t.Errorf("not said:\n%s", s.text())
		}
		if s.press("\x1b[D"); d.pager.sought != "" || len(s.model.stack) != 1 {
			t.Errorf("the search did not end:\n%s", s.text())
		}
		if s.press("\x1b[D"); len(s.model.stack) != 0 {
			t.Errorf("the page did not end:\n%s", s.text())
		}
		s.press("?", "/")
		s.typed("clipboard")
		if s.press(keyEnter); !strings.Contains(s.text(), "/clipboard 0 of 0 lines") {
			t.Errorf("the help is not searched:\n%s", s.text())
		}
		s.close()
	})
}
