package agentuity

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"sandglass/backend"
)

// locateEvery is how often at most the routes of all regions are asked where one sandbox is.
const locateEvery = 10 * time.Minute

// location is what the routes of all regions say of a sandbox that its region refuses.
type location struct {
	asked bool
	text  string // where it is, or why that is not known
	gone  bool
}

// refusedAlone reports whether a single sandbox is refused although the key works for its region's list: the platform answers
// 401 also where 404 or 421 is due.
func (p *poll) refusedAlone(b *box, f *failure) bool {
	return b != nil && (f.is(http.StatusUnauthorized) || f.is(http.StatusForbidden)) && p.now.Sub(b.region.ok) < trustFor
}

// locate asks where a sandbox is that its region refuses. These routes take CLI keys only.
func (p *poll) locate(ctx context.Context, b *box, f *failure) (out location) {
	if p.s.api == nil || !p.refusedAlone(b, f) || !b.asked.IsZero() && p.now.Sub(b.asked) < locateEvery || !p.s.api.budget.Wait(p.slice) {
		return location{}
	}
	a, no := p.s.api.get(ctx, "cli/sandbox", "/cli/sandbox/"+url.PathEscape(b.id.Raw()), nil)
	out.asked = true
	switch {
	case no == nil:
		region, _ := a.data.Get("region").Text()
		org, _ := a.data.Get("orgId").Text()
		out.text = fmt.Sprintf("it is in region %s of the organisation %s", backend.Clean(region, 40), backend.Clean(org, 80))
		switch {
		case p.s.opt.Org != "" && org != "" && org != p.s.opt.Org:
			out.text += fmt.Sprintf(", and org is %s: read the other organisation with a source of its own", backend.Clean(p.s.opt.Org, 80))
		case region != "" && region != b.region.name:
			out.text += "; " + p.s.RegionStep(region)
		default:
			out.text += ", where it was asked: this key may not read it; try a CLI key of that organisation"
		}
	case no.notFound():
		out.text, out.gone = "the platform knows it in no region: it is gone", true
	case no.is(http.StatusUnauthorized), no.is(http.StatusForbidden):
		out.text = "where it is cannot be asked: " + p.s.api.base + " takes CLI keys only; name one under [source.read], or empty api_url"
	default:
		_, _, what := p.explain(no, nil)
		out.text = "where it is is not known: " + what
	}
	return out
}

// located takes over where a sandbox is; it reports whether the sandbox is gone: one that its list names is not.
func (p *poll) located(b *box, x location) (gone bool) {
	if !x.asked {
		return false
	}
	b.asked, b.place = p.now, x.text
	return x.gone && (b.lost || !b.region.full.ids[b.id])
}
