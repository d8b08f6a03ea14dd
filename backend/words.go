package backend

import "strings"

// HoldsWord reports whether text has the phrase as whole words: "ref" is not in "refused". Both are lower case. An end of
// the phrase other than a letter, digit or underscore may be beside anything. An empty phrase matches nowhere.
func HoldsWord(text, phrase string) bool {
	for from := 0; phrase != ""; {
		i := strings.Index(text[from:], phrase)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(phrase)
		if (i == 0 || !wordByte(text[i-1]) || !wordByte(phrase[0])) &&
			(end == len(text) || !wordByte(text[end]) || !wordByte(phrase[len(phrase)-1])) {
			return true
		}
		from = i + 1
	}
	return false
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
}

// HoldsPath reports whether a text names a path or something below it, and not only a longer name that begins alike.
func HoldsPath(text, path string) bool {
	for path != "" {
		_, rest, found := strings.Cut(text, path)
		if !found {
			return false
		}
		if rest == "" || strings.IndexByte("/'\"`,;: )", rest[0]) >= 0 {
			return true
		}
		text = rest
	}
	return false
}

// Plural is the plural of an English noun that forms it by rule: "sandboxes", "directories", "scratch directories".
func Plural(noun string) string {
	stem, y := strings.CutSuffix(noun, "y")
	switch {
	case y && !strings.ContainsAny(stem[max(len(stem)-1, 0):], "aeiou"):
		return stem + "ies"
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"):
		return noun + "es"
	}
	return noun + "s"
}
