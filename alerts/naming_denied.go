package alerts

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// denials are what a text says that did not happen, in lower case and without contractions.
var denials = regexp.MustCompile(`\b(?:not|never) (?:been |an? |the |due to |because of |caused by |a case of )*` +
	`(?:out of (?:memory|disk space|capacity|instances)|oom\b[a-z-]*|heap out of memory|missing|undefined|undeclared|unknown|unsupported|unset|unbound|unavailable|unimplemented|` +
	`no such|disk full|full|evicted|replaced|quota|e(?:nospc|acces|rofs|nomem|noent|dquot|pipe|connreset|connrefused|timedout|notfound))\b|` +
	`\bno (?:out of memory|oom\b[a-z-]*|enospc|sign of [a-z ]+)`)

// unmet are clauses about a limit that was not met, or about what was not to blame.
var unmet = regexp.MustCompile(`[^,;:.()]*(?:\b(?:max_instances|maxinstances|maximum|limit|limits|quota|capacity)\b[^,;:.()]*?\bnot (?:yet |been |yet been )*(?:reached|exceeded|exhausted|hit|met|used up|full)|` +
	`\b(?:not|was) (?:the (?:cause|reason|problem)|to blame|ruled out))\b[^,;:.()]*`)

// inUse is a limit with its use behind it, without a word that it was reached.
var inUse = regexp.MustCompile(`\b(?:max_instances|maxinstances|(?:instance|container|sandbox) (?:limit|quota))\s*[:=(]?\s*\(?(\d+) ?(?:/|of) ?(\d+)`)

// said are the words behind which an error text quotes what others said.
var said = regexp.MustCompile("\\b(?:tool (?:output|result)s?|(?:user|agent|model|tool) (?:typed|said|wrote|asked|printed))\\b[^'\"`:]{0,20}:?\\s*['\"`][^'\"`]*")

// files are names of files, and of settings of a process: their parts are words that errors of platforms also have.
var files = regexp.MustCompile(`\b(?:[\w-]+\.(?:png|jpe?g|gif|webp|svg|ico|bmp|tiff?|pdf|md|txt|csv|html?|css|json|webmanifest|gyp|[cm]?jsx?|[cm]?tsx?|py|rb|go|rs|sh)\b|(?:process|import\.meta)\.env\b)`)

// asserted is a text in lower case without what it denies and without what it quotes of tools, agents and users.
func asserted(text string) string {
	if strings.Contains(text, ".") {
		text = files.ReplaceAllString(text, "document")
	}
	if strings.Contains(text, "output") || strings.Contains(text, "result") || strings.Contains(text, "typed") || strings.Contains(text, "said") || strings.Contains(text, "wrote") || strings.Contains(text, "asked") {
		text = said.ReplaceAllString(text, "")
	}
	if strings.Contains(text, "max") || strings.Contains(text, "limit") || strings.Contains(text, "quota") {
		text = inUse.ReplaceAllStringFunc(text, func(s string) string {
			m := inUse.FindStringSubmatch(s)
			used, errUsed := strconv.Atoi(m[1])
			limit, errLimit := strconv.Atoi(m[2])
			if errUsed == nil && errLimit == nil && used < limit {
				return ""
			}
			if errUsed == nil && errLimit == nil {
				return s + " reached "
			}
			return s
		})
	}
	if !strings.Contains(text, "not ") && !strings.Contains(text, "n't ") && !strings.Contains(text, "no ") && !strings.Contains(text, "never ") && !strings.Contains(text, "ruled out") {
		return text
	}
	text = contractions.Replace(text)
	return denials.ReplaceAllString(unmet.ReplaceAllString(text, ""), "")
}

// mayBeUnmet reports whether the listed words of a text are about a limit and do not say that it was met.
func mayBeUnmet(words []byte) bool {
	for _, w := range [...]string{"reach", "exceed", "exhaust"} {
		if bytes.Contains(words, []byte(w)) {
			return false
		}
	}
	for _, w := range [...]string{"max_instances", "maxinstances", "limit", "quota"} {
		if bytes.Contains(words, []byte(w)) {
			return true
		}
	}
	return false
}
