package text

import (
	"regexp"
	"slices"
	"strings"

	"sandglass/backend"
	"sandglass/views/subjects"
)

type trace struct{ id, where string }

// traceIDs are the shapes of ids that lead into other people's logs: traceparent (W3C Trace Context), the names that
// platforms use for trace, request and ray ids, and Agentuity's x-session-id.
var traceIDs = regexp.MustCompile(`(?i)\b00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}\b` +
	`|\b(?:x-)?(?:trace|span|request|correlation|amzn-trace|amzn-request)[-_]?id["']?\s*[:=]\s*["']?[A-Za-z0-9_.:/=;-]{6,128}` +
	`|\b(?:cf-ray|x-cloud-trace-context|x-session-id)["']?\s*[:=]\s*["']?[A-Za-z0-9_./;=-]{6,128}|\bsess_[A-Za-z0-9]{8,64}\b` +
	`|\b(?:request|trace|ray) #?[0-9a-f]{8,64}\b`)

const maxTraces = 100

// traces finds ids of traces and requests in everything that was read about the covered entities.
func (e *evidence) traces() []trace {
	var out []trace
	search := func(where string, texts ...backend.Safe) {
		for _, s := range texts {
			for _, id := range traceIDs.FindAllString(s.String(), maxTraces) {
				t := trace{strings.NewReplacer(`"`, "", `'`, "").Replace(id), where}
				if len(out) < maxTraces && !slices.ContainsFunc(out, func(o trace) bool { return o.id == t.id }) {
					out = append(out, t)
				}
			}
		}
	}
	for _, k := range e.covered {
		x := e.Snapshot.State.Entity(k)
		if x == nil {
			continue
		}
		search("the reading of "+rawID(k.Path()), x.EntityMeta().Raw)
		if what, remark := subjects.Remark(x); what != "" {
			search(what+" "+rawID(k.Path()), remark)
		}
	}
	for _, a := range e.alerts {
		for _, x := range a.Evidence {
			search("the evidence of "+a.Rule, x.Text)
		}
	}
	for _, x := range e.happened() {
		search("the timeline", x.Text)
	}
	return out
}
