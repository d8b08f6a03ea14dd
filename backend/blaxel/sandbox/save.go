package sandbox

import (
	"regexp"
	"strings"
)

var (
	leaves  = regexp.MustCompile(`--exclude=\./(.+?) (?:--exclude=|-C /)`)
	unquote = strings.NewReplacer("'", "", `"`, "")
)

// LeftOut are the paths that the newest save among processes leaves out, each from ./ and without quotes: the agent's SDK gives each to tar
// twice, so too. The newest process comes first.
func LeftOut(all []Process) (out []string) {
	for i := range all {
		command := unquote.Replace(all[i].Command)
		if !strings.Contains(command, " -cf /tmp/bl-persist-") {
			continue
		}
		for _, m := range leaves.FindAllStringSubmatch(command, -1) {
			out = append(out, "./"+m[1])
		}
		break
	}
	return out
}
