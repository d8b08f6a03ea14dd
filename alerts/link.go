package alerts

import (
	"fmt"
	"net/url"
	"strings"
)

// SplitLink takes a runbook link of the configuration apart: an address, with a title before it or not, as in
// "Escalation https://wiki.example/escalation". It refuses what does not end in an address with a scheme.
func SplitLink(text string) (title, address string, err error) {
	text = strings.TrimSpace(text)
	if i := strings.LastIndexAny(text, " \t"); i >= 0 {
		title, text = strings.TrimSpace(text[:i]), text[i+1:]
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" && u.Opaque == "" && u.Path == "" {
		return "", "", fmt.Errorf("%q does not end in an address such as https://wiki.example/page; a title may come before it", text)
	}
	return title, text, nil
}
