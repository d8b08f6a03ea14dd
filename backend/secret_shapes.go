package backend

import (
	"regexp"
	"strings"
)

// secretName is the part of a name that says that its value is a secret.
const secretName = `(?:api[_-]?key|token|secret|passw(?:or)?d|passphrase|passcode|credential|(?:private|access|account)[_-]?key|signature|(?-i:[A-Z0-9]_KEY))`

// passPrefix are names that end in PASS or PW without a line between: DBPASS. Others are words, such as BYPASS.
const passPrefix = `(?-i:\b(?:DB|PG|SQL|MYSQL|REDIS|MONGO|RABBIT|SMTP|MAIL|FTP|LDAP|SSH|SUDO|USER|ROOT|ADMIN|APP))`

// quoteMark is the end of a quoted name: plain, escaped, or as HTML and JSON write it.
const quoteMark = `(?:\\*["']|\\+u0022|&quot;|&#34;)`

// The shapes follow the providers' documented token prefixes; see docs/security.md.
var (
	secretAssign  = regexp.MustCompile(`(?i)\b([A-Z0-9_.-]*` + secretName + `[A-Z0-9_.-]*` + quoteMark + `?\s*(?:=>|:=|[=:])\s*)(?:(\\*")(?:[^"\\]|\\[^"\\]){4,}|(')[^']{4,}|(\\+u0022|&quot;|&#34;)[^\s"'&\\]{4,}|[^\s"'&,;}\\]{4,})`)
	secretNested  = regexp.MustCompile(`(?i)(["'][A-Z0-9_.-]*` + secretName + `[A-Z0-9_.-]*` + quoteMark + `\s*:\s*)(?:\[\s*\\*["'][^\]]*\]?|\{[^{}]*:\s*\\*["'][^}]*\}?)`)
	secretPercent = regexp.MustCompile(`(?i)\b([A-Z0-9_.-]*` + secretName + `[A-Z0-9_.-]*(?:%22)?(?:%20)*%3[ad](?:%20)*(?:%22)?)(?:[^\s"'&%]|%(?:[013-689a-f][0-9a-f]|2[013-57-9abdef]|7[0-9abcef])){4,}`)
	secretWord    = regexp.MustCompile(`(?i)((?:\b|_|` + passPrefix + `)(?:pass|pw)=["']?|["'](?:pass|pwd|pw)\\*["']\s*:\s*\\*["'])[^\s"'&,;}\\]{4,}`)
	secretWords   = regexp.MustCompile(`(?i)((?:\b|_|` + passPrefix + `)(?:pass|pw)=)(?:(\\*")[^"\\]{4,}|(')[^']{4,})`)
	secretSet     = regexp.MustCompile(`(?i)(\bconfig(?:ure)?\s+set\s+[a-z0-9_.-]*` + secretName + `[a-z0-9_.-]*\s+)(?:\\*"[^"\\]+|'[^']+'|[^\s"'\\]+)`)
	secretHere    = regexp.MustCompile(`(?i)((?:\s--with-token|\s--[a-z-]+-stdin|\bsecret\s+(?:put|set)|\bchpasswd)\b[^\n|]*?<<<\s*)(?:\\*"[^"\\]+|'[^']+'|[^\s"'\\]+)`)
	secretLiteral = regexp.MustCompile(`(?i)(--from-literal[=\s]+\\*["']?[^\s"'=]+=)[^\s"'\\]+`)
	secretPairs   = regexp.MustCompile(`(?i)\b(?:config:set|secrets(?::|\s+)set)\s[^\n|;&]+`)
	pairValue     = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_]*=)(?:\\*"[^"\\]+|'[^']+'|[^\s"'\\]+)`)
	secretQuery   = regexp.MustCompile(`(?i)([?&](?:sig|sas|hmac)=)[^\s"'&#\\]{6,}`)
	secretTag     = regexp.MustCompile(`(?i)(<[a-z0-9_:.-]*` + secretName + `[a-z0-9_.-]*>\s*)[^<\s][^<]{3,}`)
	secretFlag    = regexp.MustCompile(`(?i)((?:^|[\s"'])--?(?:[a-z0-9-]*(?:` + secretName + `|oauth2-bearer)[a-z0-9-]*|(?:[a-z0-9]+-)*(?:pass|pwd|pw))\s+|:_auth(?:token)?\s+|\blogin\s+\S+\s+password\s+)(?:"[^"]+"|'[^']+'|[^\s"'-][^\s"']*)`)
	secretArg     = regexp.MustCompile(`(?i)(\\*["']--?(?:[a-z0-9-]*` + secretName + `[a-z0-9-]*|(?:[a-z0-9]+-)*(?:pass|pwd|pw))\\*["']\s*,\s*\\*["'])[^"'\\]+`)
	secretUser    = regexp.MustCompile(`(?i)(\bcurl\b[^\n|]*?\s(?:-[a-z]*u|--user|--proxy-user)[\s=]*(?:\\*["'][^"':\n]{1,200}|[^\s"':]{1,200}):)[^\s"'\\]+`)
	secretJar     = regexp.MustCompile(`(?i)(\bcurl\b[^\n|]*?\s(?:-[a-z]*b|--cookie)[\s=]*\\*["']?[^\s"'=]{1,200}=)[^\s"'\\]+`)
	secretShort   = regexp.MustCompile(`(?i)(\blogin\b[^\n|]*?\s-p\s*|\bsshpass\s+-p\s*|\bredis-cli\b[^\n|]*?\s-a\s+|\b(?:mysql|mysqldump|mariadb)\b[^\n|]*?\s-p|\bopenssl\b[^\n|]*?\s-k\s+|-pass(?:in|out)?\s+pass:|(?:\b|_)pwd\s*[=:]\s*)[^\s"'/\\][^\s"'\\]{3,}`)
	secretPiped   = regexp.MustCompile(`(?i)(\b(?:echo|printf)\s+(?:-[ne]+\s+|\\*["']%s(?:\\+n)?\\*["']\s+)*)[^|\n]*[^|\s](\s*\|[^|\n]*?\s(?:--with-token|--[a-z-]+-stdin|secret\s+(?:put|set)|chpasswd)\b)`)
	secretCookie  = regexp.MustCompile(`(?i)\b((?:set-)?cookie(?:\\*["']?\s*[:=]\s*(?:\[\s*)?|\\*["']\s*,\s*)\\*["']?)[^"'\r\n\\]{3,}(?:(?:\r?\n|(?:\\+r)?\\+n)[ \t][^"'\r\n\\]*)*`)
	secretHeader  = regexp.MustCompile(`(?i)\b((?:proxy-)?authorization(?:\\*["']?\s*[:=]\s*(?:\[\s*)?|\\*["']\s*,\s*)\\*["']?(?:bearer|basic|token|digest|negotiate|ntlm|dpop|hmac|apikey|aws4-hmac-sha256)?\s*|\bbearer\s+)(?:(?:[a-z0-9_-]+=(?:\\*"[^"\\]*\\*"|[^\s,"'\\]+)(?:,\s*)?)+|[A-Za-z0-9._~+/=-]{6,})`)
	secretURL     = regexp.MustCompile(`(?i)\b(?:([a-z][a-z0-9+.-]{1,20}://)[^\s/@:]*:[^\s/@]+|(https?://)[^\s/?#@]+)@`)
	// Who has the address of an Agentuity stream reads what a sandbox prints (L:utils/stream-url.ts).
	secretStream = regexp.MustCompile(`(?i)https?://(?:[a-z0-9.-]*[.-])?streams?[-.][^\s"'<>/]+/[^\s"'<>\\]+`)
	secretShape  = regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{8,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|xox[abprs]-[A-Za-z0-9-]{8,}|(?:AKIA|ASIA)[A-Z0-9]{16}|glpat-[A-Za-z0-9_-]{16,}|npm_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|AIza[A-Za-z0-9_-]{30,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)
)

// hint is a set of words that a text holds; each shape needs one of some.
type hint uint16

const (
	hintName  hint = 1 << iota // of a secret
	hintPass                   // pass, pw
	hintQuery                  // of an address
	hintCurl                   // the command
	hintLogin                  // commands with a short option for a password
	hintCookie
	hintHeader // authorization, bearer
	hintAt     // an address with an @ behind it
	hintStream
	hintKnown        // the beginning of a known kind of token
	hintEnviron      // env
	hintPairs        // commands that set what is written as NAME=value
	hintAll     hint = 1<<iota - 1
)

// shapes are in the order in which they are masked: headers come before names, which would mask "Bearer" and leave the token.
var shapes = []struct {
	needs hint // one of these
	mask  func(string) string
}{
	{hintHeader, replaces(secretHeader, "${1}"+masked)},
	{hintName, replaces(secretPiped, "${1}"+masked+"${2}")},
	{hintCookie, replaces(secretCookie, "${1}"+masked)},
	{hintName, replaces(secretNested, "${1}"+masked)},
	{hintName, replaces(secretAssign, "${1}${2}${3}${4}"+masked)},
	{hintName, replaces(secretPercent, "${1}"+masked)},
	{hintPass, replaces(secretWords, "${1}${2}${3}"+masked)},
	{hintName, replaces(secretSet, "${1}"+masked)},
	{hintName, replaces(secretHere, "${1}"+masked)},
	{hintPairs, replaces(secretLiteral, "${1}"+masked)},
	{hintName | hintPairs, func(s string) string {
		return secretPairs.ReplaceAllStringFunc(s, replaces(pairValue, "${1}"+masked))
	}},
	{hintPass, replaces(secretWord, "${1}"+masked)},
	{hintQuery, replaces(secretQuery, "${1}"+masked)},
	{hintName, replaces(secretTag, "${1}"+masked)},
	{hintName | hintPass | hintHeader, replaces(secretFlag, "${1}"+masked)},
	{hintName | hintPass, replaces(secretArg, "${1}"+masked)},
	{hintCurl, replaces(secretUser, "${1}"+masked)},
	{hintCurl, replaces(secretJar, "${1}"+masked)},
	{hintLogin | hintPass, replaces(secretShort, "${1}"+masked)},
	{hintEnviron, maskEnvironment},
	{hintAt, replaces(secretURL, "${1}${2}"+masked+"@")},
	{hintStream, replaces(secretStream, masked)},
	{hintKnown, replaces(secretShape, masked)},
}

func replaces(expr *regexp.Regexp, by string) func(string) string {
	return func(s string) string { return expr.ReplaceAllString(s, by) }
}

// maskShapes masks what looks like a secret.
func maskShapes(raw string) string { return maskHinted(raw, hintsOf(raw)) }

func maskHinted(raw string, has hint) string {
	if has == 0 {
		return raw
	}
	for i := range shapes {
		if shapes[i].needs&has != 0 {
			raw = shapes[i].mask(raw)
		}
	}
	return raw
}

// hintsOf is a cheap test that keeps the expressions off the many texts that cannot match them. They cost some 100 ns a byte each,
// this one or two in all.
func hintsOf(s string) (has hint) {
	for i := 0; i+2 < len(s); i++ {
		rest := s[i:]
		switch s[i] | 0x20 {
		case 'k':
			if begins(rest, "key") {
				has |= hintName
			}
		case 't':
			if begins(rest, "token") {
				has |= hintName
			}
		case 's':
			switch {
			case begins(rest, "secret"), begins(rest, "signature"):
				has |= hintName
			case begins(rest, "sig="), begins(rest, "sas="):
				has |= hintQuery
			case begins(rest, "stream"):
				has |= hintStream
			case begins(rest, "sk-"):
				has |= hintKnown
			}
		case 'p':
			switch {
			case begins(rest, "pass"):
				has |= hintName | hintPass
			case begins(rest, "pw"):
				has |= hintPass
			case begins(rest, "pypi-"):
				has |= hintKnown
			}
		case 'c':
			switch {
			case begins(rest, "credential"):
				has |= hintName
			case begins(rest, "cookie"):
				has |= hintCookie
			case begins(rest, "curl"):
				has |= hintCurl
			case begins(rest, "config:set"):
				has |= hintPairs
			}
		case 'a':
			switch {
			case begins(rest, "authorization"):
				has |= hintHeader
			case begins(rest, "akia"), begins(rest, "asia"), begins(rest, "aiza"):
				has |= hintKnown
			}
		case 'l':
			if begins(rest, "login") {
				has |= hintLogin
			}
		case 'o':
			if begins(rest, "openssl") {
				has |= hintLogin
			}
		case 'r':
			if begins(rest, "redis-cli") {
				has |= hintLogin
			}
		case 'm':
			if begins(rest, "mysql") || begins(rest, "mariadb") {
				has |= hintLogin
			}
		case 'f':
			if begins(rest, "from-literal") {
				has |= hintPairs
			}
		case 'b':
			if begins(rest, "bearer") {
				has |= hintHeader
			}
		case 'g':
			if begins(rest, "gh") && len(rest) > 3 && rest[3] == '_' || begins(rest, "github_pat_") || begins(rest, "glpat-") {
				has |= hintKnown
			}
		case 'n':
			if begins(rest, "npm_") {
				has |= hintKnown
			}
		case 'h':
			switch {
			case begins(rest, "hmac="):
				has |= hintQuery
			case begins(rest, "hf_"):
				has |= hintKnown
			}
		case 'x':
			if begins(rest, "xox") {
				has |= hintKnown
			}
		case 'e':
			switch {
			case begins(rest, "eyj"):
				has |= hintKnown
			case begins(rest, "env") && strings.IndexByte(rest, '=') > 0:
				has |= hintEnviron
			}
		case ':':
			if has&hintAt == 0 && begins(rest, "://") && strings.IndexByte(rest, '@') > 0 {
				has |= hintAt
			}
		case '-':
			if begins(rest, "-----begin") {
				has |= hintKnown
			}
		case 0xe5, 0xe2: // U+017F and U+212A fold to s and k, which the expressions know
			if strings.HasPrefix(rest, "\u017f") || strings.HasPrefix(rest, "\u212a") {
				return hintAll
			}
		}
	}
	return has
}

// begins reports whether s begins with the word, which is in lower case and ASCII.
func begins(s, word string) bool {
	if len(s) < len(word) || s[1]|0x20 != word[1] && s[1] != word[1] {
		return false
	}
	return strings.EqualFold(s[:len(word)], word)
}
