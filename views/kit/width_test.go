package kit

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// The short way to measure agrees with the terminal library about every character that it knows, alone and between others.
func TestWidth(t *testing.T) {
	for r := rune(' '); r < 0x3100; r++ {
		for _, s := range []string{string(r), "a" + string(r) + "–", "e" + string(r) + "\u0301"} {
			if got, want := Width(s), ansi.StringWidth(s); got != want {
				t.Errorf("%q (%U) is %d cells wide, want %d", s, r, got, want)
			}
		}
	}
}
