package backend

import (
	"regexp"
	"strings"
	"unicode"
)

// Parts of an address: whom it names, and what looks like a key: long, with letters and digits.
var (
	addressUser  = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]*://)[^/?#@]*@`)
	addressQuery = regexp.MustCompile(`([?&#][^=&#]*(?i:key|token|secret|passw|pwd|pw|auth|sig|hmac|code|credential|sas|session_?id)[^=&#]*=)[^&#{}]+`)
	addressShort = regexp.MustCompile(`([?&#](?i:k|t|p|s|sid)=)[^&#{}]{6,}`)
	addressKey   = regexp.MustCompile(`([/=])[A-Za-z0-9_+]{20,}`)
)

// MaskURL hides what an address holds of secrets: user and password, parameters named like one, and long keys.
func MaskURL(s string) string {
	if !strings.Contains(s, "://") {
		return s
	}
	s = addressUser.ReplaceAllString(s, "${1}"+masked+"@")
	s = addressQuery.ReplaceAllString(s, "${1}"+masked)
	s = addressShort.ReplaceAllString(s, "${1}"+masked)
	start := strings.Index(s, "://") + len("://")
	if slash := strings.IndexAny(s[start:], "/?"); slash >= 0 {
		start += slash
	} else {
		return s
	}
	return s[:start] + addressKey.ReplaceAllStringFunc(s[start:], func(m string) string {
		if strings.ContainsAny(m, "0123456789") && strings.ContainsFunc(m, unicode.IsLetter) {
			return m[:1] + masked
		}
		return m
	})
}
