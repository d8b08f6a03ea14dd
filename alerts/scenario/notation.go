package scenario

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// maxSteps bounds how many steps a scenario has, and so how long one repetition can be.
const maxSteps = 200_000

// sample is one step of a series of numbers. there is false at a step without a count.
type sample struct {
	n     float64
	there bool
}

// parseSeries reads numbers in promtool's notation, separated by spaces: `4` is one sample, `4x3` the same and three
// more, `0+2x3` 0 2 4 6, `9-2x3` 9 7 5 3, `_` one missing sample, `_x3` three missing ones. After its end a series has no
// more samples. `stale` is a missing sample too: a count that is missing and one that is over are the same.
func parseSeries(text string) ([]sample, error) {
	var out []sample
	for _, tok := range strings.Fields(text) {
		if missing, n, err := missingToken(tok); err != nil {
			return nil, err
		} else if missing {
			out = append(out, make([]sample, n)...)
			continue
		}
		if tok == "stale" {
			out = append(out, sample{})
			continue
		}
		more, err := expand(tok)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
		if len(out) > maxSteps {
			return nil, fmt.Errorf("more than %d steps", maxSteps)
		}
	}
	return out, nil
}

// missingToken reads `_` and `_xN`.
func missingToken(tok string) (missing bool, n int, err error) {
	if tok == "_" {
		return true, 1, nil
	}
	times, ok := strings.CutPrefix(tok, "_x")
	if !ok {
		return false, 0, nil
	}
	n, err = repeats(times)
	return true, n, err
}

func repeats(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxSteps {
		return 0, fmt.Errorf("%q is no number of repetitions from 0 to %d", text, maxSteps)
	}
	return n, nil
}

// expand reads `a`, `axN`, `a+bxN` and `a-bxN`.
func expand(tok string) ([]sample, error) {
	value, times, repeated := strings.Cut(tok, "x")
	n := 0
	if repeated {
		var err error
		if n, err = repeats(times); err != nil {
			return nil, fmt.Errorf("%q: %w", tok, err)
		}
	}
	base, step := value, ""
	if i := strings.LastIndexAny(value, "+-"); i > 0 && value[i-1] != 'e' && value[i-1] != 'E' {
		base, step = value[:i], value[i:]
		if !repeated {
			return nil, fmt.Errorf("%q has a step and no number of repetitions; write for example 0+2x10", tok)
		}
	}
	from, err := finite(base)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", tok, err)
	}
	by := 0.0
	if step != "" {
		if by, err = finite(step); err != nil {
			return nil, fmt.Errorf("%q: %w", tok, err)
		}
	}
	out := make([]sample, 0, n+1)
	for i := range n + 1 {
		out = append(out, sample{from + float64(i)*by, true})
	}
	return out, nil
}

func finite(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("%q is no number", text)
	}
	return f, nil
}

// The marks among words: a reading that failed, and the end of what was read.
const (
	wordMissing = "_"
	wordStale   = "stale"
)

// Words are states, and other words from a list, in the notation of parseWords.
type Words struct{ list []string }

// UnmarshalText refuses a wrong notation, so that the error has its position in the file. It also refuses a word that
// ends in a mistyped repetition, which would become a state that no platform has.
func (w *Words) UnmarshalText(text []byte) (err error) {
	w.list, err = parseWords(string(text), mistyped)
	return err
}

// or returns the words, or a default where there are none.
func (w Words) or(fallback string) []string {
	if len(w.list) == 0 {
		return []string{fallback}
	}
	return w.list
}

// mistyped finds failedx-3, failedx3y, failedX3, and an x3 that is separated from its word.
func mistyped(word string) error {
	if !regexp.MustCompile(`x[+-]*[0-9][^x]*$|x[+-]+$|X[0-9]+$`).MatchString(word) {
		return nil
	}
	return fmt.Errorf("%q is no state with its repetitions, as failedx3 is; a state that is written like this stands in quotes", word)
}

// parseWords reads states, one a step: `open` is one, `openx3` the same and three more, `_` a step at which it could not
// be read, `_x3` three of them, `stale` its end. A word that itself ends in x and digits is quoted: `"mix4"x3`. It
// returns the error of check for a word without quotes and without a repetition.
func parseWords(text string, check func(word string) error) ([]string, error) {
	var out []string
	rest := strings.TrimSpace(text)
	for rest != "" {
		var word, tail string
		if rest[0] == '"' {
			end := strings.IndexByte(rest[1:], '"')
			if end < 1 {
				return nil, fmt.Errorf("%q: a quoted word has no end or is empty", rest)
			}
			word, rest = rest[1:end+1], rest[end+2:]
			tail, rest = cutField(rest)
		} else {
			word, rest = cutField(rest)
			if missing, n, err := missingToken(word); err != nil {
				return nil, err
			} else if missing {
				for range n {
					out = append(out, wordMissing)
				}
				continue
			}
			if i := strings.LastIndexByte(word, 'x'); i > 0 && digits(word[i+1:]) {
				word, tail = word[:i], word[i:]
			} else if err := check(word); err != nil {
				return nil, err
			}
		}
		n := 0
		if tail != "" {
			var err error
			if n, err = repeats(strings.TrimPrefix(tail, "x")); err != nil {
				return nil, fmt.Errorf("%s%s: %w", word, tail, err)
			}
		}
		for range n + 1 {
			out = append(out, word)
		}
		if len(out) > maxSteps {
			return nil, fmt.Errorf("more than %d steps", maxSteps)
		}
	}
	return out, nil
}

func cutField(s string) (field, rest string) {
	i := strings.IndexAny(s, " \t\r\n")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
