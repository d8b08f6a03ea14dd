package wire

import (
	"net/url"
	"regexp"
	"strings"
)

// Words in the name of a header or parameter which say that its value is a secret.
var secretWord = regexp.MustCompile(`(?i)auth|cookie|key|token|secret|pass|pwd|\bpw\b|sig|credential|sas|session_?id|^code$`)

// openHeaders never hold a secret, whatever their value looks like.
var openHeaders = regexp.MustCompile(`(?i)^(accept|content|user-agent|host$|origin$|referer$|cache|x-forwarded|x-requested|x-tenant|x-scope|x-org|x-team|x-region|x-env)`)

// openValue is what people call a tenant, region or type of content: words with at most a short number behind them.
var openValue = regexp.MustCompile(`^[A-Za-z]+(?:[-_./; =]+[A-Za-z]+)*(?:[-_.]?[0-9]{1,3})?$`)

// leastOpaque is the length from which a value that is no word counts as a secret, in bytes.
const leastOpaque = 8

// ConfiguredSecrets are the values in configured headers and addresses that a server may echo and that are never shown: those
// whose names say so, and values of headers that look like a key.
func ConfiguredSecrets(headers map[string]string, addresses ...string) []string {
	var out []string
	for name, v := range headers {
		opaque := len(v) >= leastOpaque && !openValue.MatchString(v) && !openHeaders.MatchString(name)
		if !strings.Contains(v, "{") && (secretWord.MatchString(name) || opaque) {
			out = append(out, SecretForms(v)...)
		}
	}
	for _, a := range addresses {
		u, err := url.Parse(a)
		if err != nil {
			continue
		}
		for name, values := range u.Query() {
			for _, v := range values {
				if secretWord.MatchString(name) && !strings.Contains(v, "{") {
					out = append(out, v)
				}
			}
		}
	}
	return out
}
