package agentuity

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"sandglass/backend"
)

// trustFor is how long a key that worked on a list is trusted when a single sandbox is refused.
const trustFor = 2 * time.Minute

// explain says of a failure what it is, where, and the next step. b is the sandbox that was asked for, nil: a list or the Hub.
func (p *poll) explain(f *failure, b *box) (kind backend.ErrorKind, where, what string) {
	var e *backend.Error
	kind, what = backend.KindOf(f.err), f.err.Error()
	if errors.As(f.err, &e) {
		where, what = e.Where, e.Err.Error()
	}
	switch {
	case f.is(http.StatusMisdirectedRequest):
		return backend.ErrInvalid, where, what + "; " + p.s.RegionStep(f.region)
	case p.refusedAlone(b, f):
		what += "; the key works for the region's list: a sandbox of another region or organisation, or one that is gone, is refused alike"
		return backend.ErrInvalid, where, what + "; " + cmp.Or(b.place, "find it: agentuity cloud sandbox get "+b.id.Safe().String())
	case kind == backend.ErrUnauthorised:
		return kind, where, what + "; " + p.s.keyStep()
	case f.is(http.StatusPaymentRequired):
		return kind, where, what + "; the plan of the organisation does not cover it: ask who pays for it"
	case f.is(http.StatusUpgradeRequired):
		return kind, where, what + "; the platform asks for a newer client: look for a newer Sandglass"
	case f.trace != "" && (f.status >= 500 || f.strange && b != nil):
		return kind, where, what + "; it is asked again. If it stays so, see the vendor's status page and give its support the trace"
	case b != nil && f.notFound():
		return kind, where, what + "; its list names it: the next one tells whether it is gone"
	case b == nil:
		if step := p.s.otherStep(f, kind); step != "" {
			what += "; " + step
		}
	}
	return kind, where, what
}

// otherStep is what to check when a list or the Hub gives an answer that is none of use.
func (s *Source) otherStep(f *failure, kind backend.ErrorKind) string {
	redirects := f.status/100 == 3 || f.status == 0 && kind == backend.ErrInvalid
	var name *net.DNSError
	switch {
	case f.asks != "" && (f.strange || redirects || f.is(http.StatusNotFound) || errors.As(f.err, &name)): // another service may be meant
		return f.asks
	case kind == backend.ErrThrottled:
		return "it is asked later; lower requests_per_second if that stays so"
	case kind == backend.ErrInvalid && f.status != 0 && s.opt.Org != "":
		return "check that org is right: " + backend.Clean(s.opt.Org, 80).String()
	case kind == backend.ErrInvalid && f.status != 0:
		return "name the organisation of the key: org"
	}
	return ""
}

// RegionStep is what to do when a region answers that another one has the subject. The name is what the answer says.
func (s *Source) RegionStep(named string) string {
	name := backend.Clean(named, 40).String()
	switch {
	case named == "":
		return "another region has it, and the answer does not say which: check regions and url"
	case !regionName.MatchString(named):
		return fmt.Sprintf("another region has it, and what the answer names is no region (%q): check regions and url", name)
	case slices.ContainsFunc(s.regions, func(r *region) bool { return r.name == named }):
		return fmt.Sprintf("it belongs to region %s, which is configured: check url", name)
	}
	return fmt.Sprintf("it belongs to region %s: add %q to regions", name, name)
}

// keyStep is what to check when the key is refused.
func (s *Source) keyStep() string {
	step := "check the key (" + s.keyOrigin() + ")"
	if text, expired := s.profile.warning(s.opt.KeyWarning.Std()); expired {
		return text.String()
	}
	if s.opt.Org != "" {
		return step + ", and that it belongs to the organisation " + backend.Clean(s.opt.Org, 80).String()
	}
	return step
}

// keyOrigin says where the key comes from.
func (s *Source) keyOrigin() string {
	if s.profile != nil {
		return "CLI profile " + backend.Clean(s.profile.name, 60).String()
	}
	return s.opt.Read.Origin()
}

// down is the error of a poll of which no region answers; nil: one does, or none was due.
func (p *poll) down() error {
	s := p.s
	for _, r := range s.regions {
		if r.err == nil {
			return nil
		}
	}
	first := s.regions[0]
	kind, where, what := p.explain(first.err, nil)
	return &backend.Error{Kind: kind, Source: s.deps.ID, Where: where, RetryAfter: first.err.retryAfter, Err: errors.New(what)}
}

// regionsDown says which of several regions do not answer.
func (p *poll) regionsDown() {
	for _, r := range p.s.regions {
		if r.err == nil {
			continue
		}
		kind, where, what := p.explain(r.err, nil)
		p.problem(backend.Key{}, kind, where, "region "+r.name+": "+what)
		p.r.Unseen = true
		p.r.Degraded = backend.Textf("region %s does not answer: %s", backend.Clean(r.name, 40), p.clean(what, 400))
		for key, b := range p.s.boxes {
			if b.region == r {
				p.r.Stale = append(p.r.Stale, backend.StaleMark{Key: backend.Key{Kind: backend.KindSandbox, Source: p.s.deps.ID, ID: key}, Why: p.clean(what, 400)})
			}
		}
	}
}

// listsInDoubt says which lists cannot be read whole: what they leave out may be in trouble.
func (p *poll) listsInDoubt() {
	for _, r := range p.s.regions {
		what := r.full.changed
		if r.err != nil || what.IsEmpty() && r.full.left == 0 {
			continue
		}
		if what.IsEmpty() {
			what = rowsLeft(r.full.left)
		}
		p.r.Unseen = true
		p.r.Degraded = cmp.Or(p.r.Degraded, backend.Textf("the list of region %s is not whole: %s", backend.Clean(r.name, 40), what))
	}
}

func rowsLeft(n int) backend.Safe {
	return backend.Textf("%s no sandboxId; they are left out. If it stays so, look for a newer Sandglass", backend.Counted(n, "row of the list has", "rows of the list have"))
}

// noteEmpty says when no region lists any sandbox: with a wrong organisation or key the platform answers so, too.
func (p *poll) noteEmpty() {
	names := make([]string, len(p.s.regions))
	for i, r := range p.s.regions {
		if names[i] = r.name; r.err != nil || !r.full.whole {
			return
		}
	}
	if len(p.s.boxes) > 0 {
		return
	}
	regions := backend.Clean(joined(names), 120)
	if org := p.s.opt.Org; org != "" {
		p.note("the organisation %s has no sandbox at all in the regions %s; if that is wrong, check org, regions and the key (%s)", backend.Clean(org, 80), regions, backend.Clean(p.s.keyOrigin(), 120))
		return
	}
	p.note("the organisation of the key (%s) has no sandbox at all in the regions %s; if that is wrong, check regions and the key, or name the organisation: org", backend.Clean(p.s.keyOrigin(), 120), regions)
}
