package logs

import (
	"regexp"
	"time"

	"sandglass/backend"
)

// noSession begins the name under which the commands of a sandbox are remembered that run in no session: what runs in one tells nothing
// of them.
const noSession = "no session, sandbox "

// sandboxField is the field of a line that names the sandbox itself, in JSON or as name=value.
var sandboxField = regexp.MustCompile(`(?:^|[{,\s])"?sandbox_?[iI]d"?\s*[:=]\s*"?([A-Za-z0-9][\w.-]{0,127})`)

// withoutSession is that name for a line that names its sandbox and no session; empty: it names none.
func withoutSession(r *record, data []byte) string {
	id := r.sandbox
	if r.plain {
		id = nil // a word after sandbox: is no id
		if m := sandboxField.FindSubmatch(data); m != nil {
			id = m[1]
		}
	}
	if _, err := backend.NewID(string(id)); err != nil || len(r.session) > 0 {
		return ""
	}
	return noSession + string(id)
}

// ranWithout notes a line that shows a command which ran in no session, of a sandbox in which one could not begin.
func (a *lineAnalyser) ranWithout(r *record, data []byte, at time.Time) {
	if len(a.commands.known) == 0 {
		return
	}
	name := withoutSession(r, data)
	x := a.commands.known[name]
	if name == "" || x == nil || !exitCode.Match(data) || elsewhere(data) {
		return
	}
	a.ran(x, name, r, at)
}
