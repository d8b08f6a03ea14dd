package kit

import "testing"

func TestPagerSaysWhetherMoreIsBelow(t *testing.T) {
	var p Pager
	if p.More() {
		t.Error("nothing was shown, and more is below")
	}
	lines := []string{"a", "b", "c"}
	if p.Window(lines, 2); !p.More() {
		t.Error("one line is below")
	}
	if p.End(); p.More() {
		t.Error("the last page has more below")
	}
}
