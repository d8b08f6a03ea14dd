package backend

import "strings"

// HoldsWord reports whether text has the phrase as whole words: "ref" is not in "refused". Both are lower case.
func HoldsWord(text, phrase string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], phrase)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(phrase)
		if (i == 0 || !wordByte(text[i-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = i + 1
	}
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
