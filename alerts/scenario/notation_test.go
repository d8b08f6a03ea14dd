package scenario

import (
	"fmt"
	"strings"
	"testing"
)

func TestSeriesNotation(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "",
		"4":                 "4",
		"1x2":               "1 1 1",
		"0+2x3":             "0 2 4 6",
		"9-2x3":             "9 7 5 3",
		"-2+1x2":            "-2 -1 0",
		"_ 1 _x2 3":         "_ 1 _ _ 3",
		"1.5+0.5x1":         "1.5 2",
		"1e3+1e3x1":         "1000 2000",
		"1 stale 2":         "1 _ 2",
		"  1\t2\n3  ":       "1 2 3",
		"_x0 7":             "7",
		"1e-3x1":            "0.001 0.001",
		"x":                 "error",
		"1+2":               "error",
		"1+2x":              "error",
		"1+2x-1":            "error",
		"_x":                "error",
		"nan":               "error",
		"inf":               "error",
		"1x99999999":        "error",
		"1x150000 1x150000": "error",
	} {
		got, err := parseSeries(text)
		var parts []string
		for _, s := range got {
			if s.there {
				parts = append(parts, fmt.Sprint(s.n))
			} else {
				parts = append(parts, "_")
			}
		}
		out := strings.Join(parts, " ")
		if err != nil {
			out = "error"
		}
		if out != want {
			t.Errorf("%q gives %q (%v), want %q", text, out, err, want)
		}
	}
}

func TestWordNotation(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "",
		"open":               "open",
		"openx2 failed":      "open open open failed",
		"open _ _x2 stale":   "open _ _ _ stale",
		`"mix4" "mix4"x1`:    "mix4 mix4 mix4",
		`"two words"x1 open`: "two words|two words|open",
		"box boxx1":          "box box box",
		`"x3" "failedx-3"x1`: "x3 failedx-3 failedx-3",
		"failed x3":          "error",
		"failedx-3":          "error",
		"failedx3y":          "error",
		"failedx3.5":         "error",
		"failedX3":           "error",
		"failedx-":           "error",
		"fix unix7th linux":  "error",
		"fix linux X xfail":  "fix linux X xfail",
		"read-only v2-beta":  "read-only v2-beta",
		`"open`:              "error",
		`""`:                 "error",
		"_xopen":             "error",
		`"a"y`:               "error",
		"ax999999":           "error",
	} {
		got, err := parseWords(text, mistyped)
		sep := " "
		if strings.Contains(want, "|") {
			sep = "|"
		}
		out := strings.Join(got, sep)
		if err != nil {
			out = "error"
		}
		if out != want {
			t.Errorf("%q gives %q (%v), want %q", text, out, err, want)
		}
	}
}

func FuzzNotation(f *testing.F) {
	for _, s := range []string{"1x2 _ 0+1x3", `open "mix4"x3 stale`, "_x3", "1e+5x2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if out, err := parseSeries(s); err == nil && len(out) > maxSteps+maxSteps+2 {
			t.Errorf("%d samples", len(out))
		}
		out, err := parseWords(s, mistyped)
		for _, w := range out {
			if err == nil && w == "" {
				t.Errorf("%q has an empty word", s)
			}
		}
	})
}
