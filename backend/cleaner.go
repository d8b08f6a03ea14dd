package backend

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Cleaner makes Safe text and masks secrets in it: the exact values of our own credentials (also URL-encoded, base64
// and JSON-escaped), and what looks like an agent's: `KEY=value` environment prefixes with a secret-like name,
// well-known token shapes, Authorization headers and credentials in URLs. A Cleaner is immutable; With adds secrets.
type Cleaner struct {
	own *strings.Replacer
	all []string
}

const masked = "‹masked›"

// minSecret is the shortest configured secret that can be replaced without tearing ordinary text apart.
const minSecret = 6

// NewCleaner makes a Cleaner for the given configured secrets; those shorter than 6 bytes cannot be masked safely and
// are ignored.
func NewCleaner(secrets ...string) *Cleaner {
	return (&Cleaner{}).With(secrets...)
}

// With returns a Cleaner that masks these secrets too.
func (c *Cleaner) With(secrets ...string) *Cleaner {
	all := slices.Clone(c.all)
	for _, s := range secrets {
		if len(s) >= minSecret && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	var pairs []string
	for _, s := range all {
		quoted := QuoteJSON(s)
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), quoted[1 : len(quoted)-1],
			base64.StdEncoding.EncodeToString([]byte(s)), base64.URLEncoding.EncodeToString([]byte(s)),
			base64.RawStdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s))} {
			pairs = append(pairs, form, masked)
		}
		for _, form := range within64(s) {
			pairs = append(pairs, form, masked)
		}
	}
	return &Cleaner{own: strings.NewReplacer(pairs...), all: all}
}

// within64 are the characters that a secret has within the base64 of a longer text, such as "user:" before it: by where
// it begins there.
func within64(s string) []string {
	var out []string
	for before, shared := range []int{0, 2, 3} { // characters that the text before it has a part in
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			form := enc.EncodeToString(append(make([]byte, before), s...))
			if (before+len(s))%3 != 0 {
				form = form[:len(form)-1]
			}
			out = append(out, form[shared:])
		}
	}
	return out
}

// Mask replaces secrets; the result is not yet safe to draw. Use Clean for that; Mask alone serves JSON output.
func (c *Cleaner) Mask(raw string) string {
	if c.own != nil && len(c.all) > 0 {
		raw = c.own.Replace(raw)
	}
	if plain, hidden := withoutIgnorable(raw); len(hidden) > 0 {
		if clean := maskShapes(plain); clean != plain { // a character that is not drawn kept a name apart
			return withIgnorable(clean, plain, hidden)
		}
	}
	return maskShapes(raw)
}

// hiddenText is what terminals do not draw, and where it stood.
type hiddenText struct {
	at   int // in the text without it
	text string
}

// withoutIgnorable leaves out what terminals do not draw, as it can stand in the middle of a name.
func withoutIgnorable(s string) (plain string, hidden []hiddenText) {
	if !strings.Contains(s, `\u`) && !strings.ContainsFunc(s, ignorable) {
		return s, nil
	}
	var b strings.Builder
	for at := 0; at < len(s); {
		r, size := utf8.DecodeRuneInString(s[at:])
		if r == '\\' {
			if e := escapedRune.FindString(s[at:]); e != "" {
				size = len(e)
				n, err := strconv.ParseUint(e[len(e)-4:], 16, 32)
				if r = 0; err == nil {
					r = rune(n)
				}
			}
		}
		if ignorable(r) && r != utf8.RuneError {
			hidden = append(hidden, hiddenText{b.Len(), s[at : at+size]})
		} else {
			b.WriteString(s[at : at+size])
		}
		at += size
	}
	return b.String(), hidden
}

// withIgnorable puts what is not drawn back into what was not masked, so that it is marked there as everywhere.
func withIgnorable(clean, plain string, hidden []hiddenText) string {
	parts := strings.Split(clean, masked)
	var b strings.Builder
	at := 0 // in plain; a part that is found too early shows the same characters
	for i, part := range parts {
		if i > 0 {
			b.WriteString(masked)
		}
		found := strings.Index(plain[at:], part)
		if found < 0 {
			b.WriteString(part)
			continue
		}
		from := at + found
		if at = from + len(part); i == len(parts)-1 {
			from, at = len(plain)-len(part), len(plain)+1
		}
		written := 0
		for _, h := range hidden {
			if h.at >= from && h.at < at {
				b.WriteString(part[written:h.at-from] + h.text)
				written = h.at - from
			}
		}
		b.WriteString(part[written:])
		at = min(at, len(plain))
	}
	return b.String()
}

// escapedRune is a character as JSON writes it, in a string within a string too.
var escapedRune = regexp.MustCompile(`^\\+u[0-9a-fA-F]{4}`)

func ignorable(r rune) bool { return r > 0x7f && r != '\u00a0' && Unsafe(r) }

// maskShapes masks what looks like a secret.
func maskShapes(raw string) string {
	if !mayHoldSecret(raw) {
		return raw
	}
	raw = secretHeader.ReplaceAllString(raw, "${1}"+masked) // before the next, which would mask "Bearer" and leave the token
	raw = secretCookie.ReplaceAllString(raw, "${1}"+masked)
	raw = secretNested.ReplaceAllString(raw, "${1}"+masked)
	raw = secretAssign.ReplaceAllString(raw, "${1}${2}${3}${4}"+masked)
	raw = secretPercent.ReplaceAllString(raw, "${1}"+masked)
	raw = secretWord.ReplaceAllString(raw, "${1}"+masked)
	raw = secretQuery.ReplaceAllString(raw, "${1}"+masked)
	raw = secretTag.ReplaceAllString(raw, "${1}"+masked)
	raw = secretFlag.ReplaceAllString(raw, "${1}"+masked)
	raw = secretArg.ReplaceAllString(raw, "${1}"+masked)
	raw = secretUser.ReplaceAllString(raw, "${1}"+masked)
	raw = secretJar.ReplaceAllString(raw, "${1}"+masked)
	raw = secretShort.ReplaceAllString(raw, "${1}"+masked)
	raw = maskEnvironment(raw)
	raw = secretURL.ReplaceAllString(raw, "${1}${2}"+masked+"@")
	raw = secretStream.ReplaceAllString(raw, masked)
	return secretShape.ReplaceAllString(raw, masked)
}

// Clean masks secrets and makes drawable text of at most limit characters.
func (c *Cleaner) Clean(raw string, limit int) Safe {
	if len(raw) > 8*limit+4096 {
		raw = raw[:8*limit+4096] // the rest is cut anyway, and masking it would cost time
	}
	return Clean(c.Mask(raw), limit)
}

// secretName is the part of a name that says that its value is a secret.
const secretName = `(?:api[_-]?key|token|secret|passw(?:or)?d|passphrase|passcode|credential|(?:private|access|account)[_-]?key|signature|(?-i:[A-Z0-9]_KEY))`

// quoteMark is the end of a quoted name: plain, escaped, or as HTML and JSON write it.
const quoteMark = `(?:\\*["']|\\+u0022|&quot;|&#34;)`

// The shapes follow the providers' documented token prefixes; see docs/security.md.
var (
	secretAssign  = regexp.MustCompile(`(?i)\b([A-Z0-9_.-]*` + secretName + `[A-Z0-9_.-]*` + quoteMark + `?\s*(?:=>|:=|[=:])\s*)(?:(\\*")(?:[^"\\]|\\[^"\\]){4,}|(')[^']{4,}|(\\+u0022|&quot;|&#34;)[^\s"'&\\]{4,}|[^\s"'&,;}\\]{4,})`)
	secretNested  = regexp.MustCompile(`(?i)(["'][A-Z0-9_.-]*` + secretName + `[A-Z0-9_.-]*` + quoteMark + `\s*:\s*)(?:\[\s*\\*["'][^\]]*\]?|\{[^{}]*:\s*\\*["'][^}]*\}?)`)
	secretPercent = regexp.MustCompile(`(?i)\b([A-Z0-9_.-]*` + secretName + `[A-Z0-9_.-]*(?:%22)?(?:%20)*%3[ad](?:%20)*(?:%22)?)(?:[^\s"'&%]|%(?:[013-689a-f][0-9a-f]|2[013-57-9abdef]|7[0-9abcef])){4,}`)
	secretWord    = regexp.MustCompile(`(?i)((?:\b|_)(?:pass|pw)=["']?|["'](?:pass|pwd|pw)\\*["']\s*:\s*\\*["'])[^\s"'&,;}\\]{4,}`)
	secretQuery   = regexp.MustCompile(`(?i)([?&](?:sig|sas|hmac)=)[^\s"'&#\\]{6,}`)
	secretTag     = regexp.MustCompile(`(?i)(<[a-z0-9_:.-]*` + secretName + `[a-z0-9_.-]*>\s*)[^<\s][^<]{3,}`)
	secretFlag    = regexp.MustCompile(`(?i)((?:^|[\s"'])--?(?:[a-z0-9-]*(?:` + secretName + `|oauth2-bearer)[a-z0-9-]*|(?:[a-z0-9]+-)*(?:pass|pwd|pw))\s+)(?:"[^"]+"|'[^']+'|[^\s"'-][^\s"']*)`)
	secretArg     = regexp.MustCompile(`(?i)(\\*["']--?(?:[a-z0-9-]*` + secretName + `[a-z0-9-]*|(?:[a-z0-9]+-)*(?:pass|pwd|pw))\\*["']\s*,\s*\\*["'])[^"'\\]+`)
	secretUser    = regexp.MustCompile(`(?i)(\bcurl\b[^\n|]*?\s(?:-[a-z]*u|--user|--proxy-user)[\s=]*(?:\\*["'][^"':\n]{1,200}|[^\s"':]{1,200}):)[^\s"'\\]+`)
	secretJar     = regexp.MustCompile(`(?i)(\bcurl\b[^\n|]*?\s(?:-[a-z]*b|--cookie)[\s=]*\\*["']?[^\s"'=]{1,200}=)[^\s"'\\]+`)
	secretShort   = regexp.MustCompile(`(?i)(\blogin\b[^\n|]*?\s-p\s*|\bsshpass\s+-p\s*|\bredis-cli\b[^\n|]*?\s-a\s+|\b(?:mysql|mysqldump|mariadb)\b[^\n|]*?\s-p|-pass(?:in|out)?\s+pass:|(?:\b|_)pwd\s*[=:]\s*)[^\s"'/\\][^\s"'\\]{3,}`)
	secretCookie  = regexp.MustCompile(`(?i)\b((?:set-)?cookie(?:\\*["']?\s*[:=]\s*(?:\[\s*)?|\\*["']\s*,\s*)\\*["']?)[^"'\r\n\\]{3,}(?:(?:\r?\n|(?:\\+r)?\\+n)[ \t][^"'\r\n\\]*)*`)
	secretHeader  = regexp.MustCompile(`(?i)\b((?:proxy-)?authorization(?:\\*["']?\s*[:=]\s*(?:\[\s*)?|\\*["']\s*,\s*)\\*["']?(?:bearer|basic|token|digest|negotiate|ntlm|dpop|hmac|apikey|aws4-hmac-sha256)?\s*|\bbearer\s+)(?:(?:[a-z0-9_-]+=(?:\\*"[^"\\]*\\*"|[^\s,"'\\]+)(?:,\s*)?)+|[A-Za-z0-9._~+/=-]{6,})`)
	secretURL     = regexp.MustCompile(`(?i)\b(?:([a-z][a-z0-9+.-]{1,20}://)[^\s/@:]*:[^\s/@]+|(https?://)[^\s/?#@]+)@`)
	// Who has the address of an Agentuity stream reads what a sandbox prints (L:utils/stream-url.ts).
	secretStream = regexp.MustCompile(`(?i)https?://(?:[a-z0-9.-]*[.-])?streams?[-.][^\s"'<>/]+/[^\s"'<>\\]+`)
	secretShape  = regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{8,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|xox[abprs]-[A-Za-z0-9-]{8,}|(?:AKIA|ASIA)[A-Z0-9]{16}|glpat-[A-Za-z0-9_-]{16,}|npm_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|AIza[A-Za-z0-9_-]{30,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)
)

// mayHoldSecret is a cheap test that keeps the expressions off the many texts that cannot match any of them: each of
// them needs one of these words. The expressions cost some 100 ns a byte, this one or two.
func mayHoldSecret(s string) bool {
	for i := 0; i+2 < len(s); i++ {
		rest := s[i:]
		switch s[i] | 0x20 {
		case 'k':
			if begins(rest, "key") {
				return true
			}
		case 't':
			if begins(rest, "token") {
				return true
			}
		case 's':
			if begins(rest, "secret") || begins(rest, "signature") || begins(rest, "sig=") || begins(rest, "sk-") || begins(rest, "sas=") || begins(rest, "stream") {
				return true
			}
		case 'p':
			if begins(rest, "pass") || begins(rest, "pw") || begins(rest, "pypi-") {
				return true
			}
		case 'c':
			if begins(rest, "credential") || begins(rest, "cookie") || begins(rest, "curl") {
				return true
			}
		case 'a':
			if begins(rest, "authorization") || begins(rest, "akia") || begins(rest, "asia") || begins(rest, "aiza") {
				return true
			}
		case 'l':
			if begins(rest, "login") {
				return true
			}
		case 'r':
			if begins(rest, "redis-cli") {
				return true
			}
		case 'm':
			if begins(rest, "mysql") || begins(rest, "mariadb") {
				return true
			}
		case 'b':
			if begins(rest, "bearer") {
				return true
			}
		case 'g':
			if begins(rest, "gh") && len(rest) > 3 && rest[3] == '_' || begins(rest, "github_pat_") || begins(rest, "glpat-") {
				return true
			}
		case 'n':
			if begins(rest, "npm_") {
				return true
			}
		case 'h':
			if begins(rest, "hf_") || begins(rest, "hmac=") {
				return true
			}
		case 'x':
			if begins(rest, "xox") {
				return true
			}
		case 'e':
			if begins(rest, "eyj") || begins(rest, "env") && strings.IndexByte(rest, '=') > 0 {
				return true
			}
		case ':':
			if begins(rest, "://") && strings.IndexByte(rest, '@') > 0 {
				return true
			}
		case '-':
			if begins(rest, "-----begin") {
				return true
			}
		case 0xe5, 0xe2: // U+017F and U+212A fold to s and k, which the expressions know
			if strings.HasPrefix(rest, "\u017f") || strings.HasPrefix(rest, "\u212a") {
				return true
			}
		}
	}
	return false
}

// begins reports whether s begins with the word, which is in lower case and ASCII.
func begins(s, word string) bool {
	if len(s) < len(word) || s[1]|0x20 != word[1] && s[1] != word[1] {
		return false
	}
	return strings.EqualFold(s[:len(word)], word)
}
