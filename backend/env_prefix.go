package backend

import (
	"regexp"
	"strings"
)

// Agents hand their environment on as a prefix of commands: env A=b C='d e' sh -c …, in one text or as an argument list. Any of
// these values may be a secret.
var (
	envAssign = `(?:\\*"[A-Za-z_]\w*=[^"]*"|'[A-Za-z_]\w*=[^']*'|[A-Za-z_]\w*=(?:'[^']*'|\\*"[^"]*"|\\[^"]|[^\s'"\\,)\]])*)`
	envPrefix = regexp.MustCompile(`(?:^|[^\w.-])env\\*["']?(?:(?:\s+|,\s*)(?:\\*["']?--?[A-Za-z-]*\\*["']?|` + envAssign + `))+`)
	envOne    = regexp.MustCompile(envAssign)
)

// maskEnvironment masks what the assignments of such a prefix give; the names stay.
func maskEnvironment(raw string) string {
	return envPrefix.ReplaceAllStringFunc(raw, func(prefix string) string {
		return envOne.ReplaceAllStringFunc(prefix, func(one string) string {
			name, _, _ := strings.Cut(one, "=")
			end := ""
			if q := strings.TrimLeft(name, `\`); q[0] == '"' || q[0] == '\'' { // the whole assignment is quoted
				end = name[:len(name)-len(q)+1]
			}
			return name + "=" + masked + end
		})
	})
}
