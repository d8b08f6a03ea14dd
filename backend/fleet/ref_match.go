package fleet

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"sandglass/backend"
)

// RefResult is how a saved session state and the inventory of its platform compare.
type RefResult string

// The results of comparing a state with the inventory.
const (
	RefSame      RefResult = "same"
	RefRecreated RefResult = "recreated"  // its sandbox was made after the state was saved
	RefMoved     RefResult = "moved"      // it is in another region, or answers at another address
	RefTakenOver RefResult = "taken over" // it is not as the state says, as one that existed before
	RefGone      RefResult = "gone"       // what lists its platform does not list it
	RefUnknown   RefResult = "unknown"    // no complete list says
)

// RefMatch is the result, its reason, and what differs.
type RefMatch struct {
	Result      RefResult       `json:"result"`
	Why         backend.Safe    `json:"why"`
	Sandbox     backend.Key     `json:"sandbox,omitzero"`
	Differences []RefDifference `json:"differences,omitempty"`
	// Open are facts that one side alone tells, or that cannot be compared: they count for nothing.
	Open []RefDifference `json:"open,omitempty"`
}

// RefDifference is a fact of which the state says something else than the inventory. What a side does not tell is empty.
type RefDifference struct {
	Name      backend.Safe `json:"name"`
	State     backend.Safe `json:"state"`
	Inventory backend.Safe `json:"inventory"`
	Note      backend.Safe `json:"note,omitzero"` // what it means, or why it counts for nothing
}

// newerBy is by how much a sandbox must have been made after its reference was saved: a framework may save the reference
// first, and the two clocks differ.
const newerBy = time.Minute

// MadeAfter reports whether a sandbox was made so long after its reference was saved that it is another one.
func MadeAfter(made, saved time.Time) bool {
	return !made.IsZero() && !saved.IsZero() && !made.Before(saved.Add(newerBy))
}

// EndedForGood reports whether a sandbox that is listed is over and does not come back: a stopped container can start again.
func EndedForGood(b *backend.Sandbox) bool {
	return (b.Class == backend.SandboxExited || b.Class == backend.SandboxRemoving) && b.Provider.String() != "docker"
}

// ListedAfterEnd reports whether a probe listed / of a sandbox since it is reported to be over or to go, and when: then it need not be gone.
func ListedAfterEnd(b *backend.Sandbox) (at time.Time, is bool) {
	x, read := b.Inside()
	if !read || b.OfWorker() || !x.AgentSees.Or(false) || b.Class != backend.SandboxExited && b.Class != backend.SandboxRemoving || x.At.Before(b.KnownSince) {
		return at, false
	}
	return x.At, true
}

// EndedOf is the sandbox that the saved state of an agent SDK names, where its platform lists it as ended for good, and no probe listed it
// since; nil: it does not.
func (s *State) EndedOf(r *backend.Ref) *backend.Sandbox {
	if r.Agent == nil || r.Sandbox.IsZero() {
		return nil
	}
	b := s.SandboxNamed(r.Sandbox, r.Provider)
	if b == nil || b.Unlisted || b.Stale || b.OfWorker() || !EndedForGood(b) {
		return nil
	}
	if _, answers := ListedAfterEnd(b); answers {
		return nil
	}
	return b
}

// whyUnnamed says why a state names no sandbox.
func whyUnnamed(r *backend.Ref) backend.Safe {
	switch {
	case !r.Agent.Directory.IsEmpty():
		return backend.Textf("it works in a directory of its agent's host, %s: no platform lists that", r.Agent.Directory)
	case r.Agent.Unnamed:
		return backend.Text("its SDK took the name of its sandbox out, with the credentials of a mount")
	case r.Provider.IsEmpty():
		return backend.Text("the state does not name its sandbox")
	}
	return backend.Textf("where a state of type %s names its sandbox is not known", r.Provider)
}

// MatchOf compares the state of an agent SDK with the inventory of its platform.
func (s *State) MatchOf(r *backend.Ref) (m RefMatch) {
	if r.Sandbox.IsZero() {
		return RefMatch{Result: RefUnknown, Why: whyUnnamed(r)}
	}
	b := s.SandboxNamed(r.Sandbox, r.Provider)
	if b == nil {
		return s.unlisted(r)
	}
	m = RefMatch{Result: RefSame, Sandbox: b.Key, Differences: differences(r, b), Open: open(r, b), Why: toldOf(b)}
	differs := func(name string) bool {
		for _, d := range m.Differences {
			if d.Name.String() == name {
				return true
			}
		}
		return false
	}
	defer func() {
		if what := resumed(r, b); !what.IsEmpty() && m.Result != RefUnknown && (m.Result == RefSame || b.Class != backend.SandboxAsleep) {
			m.Why = backend.Textf("%s; %s", m.Why, what)
		}
	}()
	taken, before := s.takenOver(r, b)
	m.Differences = append(m.Differences, before...)
	listedAt, answers := ListedAfterEnd(b)
	made, saved := b.CreatedAt.Or(time.Time{}), r.SavedAt.Or(time.Time{})
	switch {
	case b.Unlisted && s.routesTell(b):
		m.Result, m.Why = RefUnknown, backend.Textf("not listed by the operator routes of %s, which list what has a container: it need not be gone", backend.Clean(b.Key.Source, 80))
	case b.Unlisted:
		m.Result, m.Why = RefUnknown, backend.Textf("%s has no list that it would be in: only its name is known, from a %s", backend.Clean(b.Key.Source, 80), backend.Clean(string(b.NamedBy), 20))
	case b.Stale:
		m.Result, m.Why = RefUnknown, backend.Textf("%s could not read it lately", backend.Clean(b.Key.Source, 80))
	case EndedForGood(b) && answers:
		m.Result, m.Why = RefUnknown, backend.Textf("reported %s by %s, but / of it was listed at %s: it is not gone by both, and its files may be there", b.Reported, backend.Clean(b.Key.Source, 80), listedAt.UTC().Format("15:04:05Z"))
	case EndedForGood(b):
		m.Result, m.Why = RefGone, backend.Textf("reported %s by %s", b.Reported, backend.Clean(b.Key.Source, 80))
	case made.After(s.Wall.Add(time.Minute)):
		m.Result, m.Why = RefUnknown, backend.Textf("it is said to be made at %s, which is to come: a clock differs, so whether its files are those of the state is not known", made.UTC().Format("2006-01-02 15:04:05Z"))
	case MadeAfter(made, saved):
		m.Result, m.Why = RefRecreated, backend.Textf("its sandbox was made after the state was saved; %s", r.Agent.LostBefore())
		if len(r.Agent.Ports) > 0 && len(b.Ports) == 0 {
			m.Why = backend.Textf("%s; no port of it is listed", m.Why)
		}
	case differs("region"):
		m.Result, m.Why = RefMoved, backend.Text("its sandbox is in another region than the state says")
	case differs("address"):
		m.Result, m.Why = RefMoved, backend.Text("its sandbox answers at another address than the state says")
	case b.NoPorts && differs("ports"):
		m.Result, m.Why = s.withoutPorts(r, b)
	case !taken.IsEmpty():
		m.Result, m.Why = RefTakenOver, taken
	case len(m.Differences) > 0:
		m.Result, m.Why = RefTakenOver, backend.Text("it is not as the state says: a sandbox of this name may have existed before, or it was changed since")
	}
	return m
}

// routesTell reports whether operator routes list the sandboxes of a bridge under the ids that references name.
func (s *State) routesTell(b *backend.Sandbox) bool {
	h := s.Source(b.Key.Source)
	return h != nil && !h.OtherIDs && b.OfWorker()
}

// withoutPorts is what it means that a sandbox declares none of the ports of its state. The SDK makes it without them where a resume
// does not find it.
func (s *State) withoutPorts(r *backend.Ref, b *backend.Sandbox) (RefResult, backend.Safe) {
	for _, h := range s.SessionSourcesOf(b.Key.Source) {
		x := s.Session(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: r.Session})
		if x != nil && MadeAfter(b.CreatedAt.Or(time.Time{}), x.StartedAt.Or(time.Time{})) {
			return RefRecreated, backend.Textf("its sandbox was made long after its session began, and without ports, as a resume makes it; %s", r.Agent.LostBefore())
		}
	}
	return RefTakenOver, backend.Text("no port is declared for it: a resume made it again, which leaves ports out, or a sandbox of this name existed before")
}

// unlisted says whether the platform's lists prove that a sandbox is gone.
func (s *State) unlisted(r *backend.Ref) RefMatch {
	lists, _, why := s.ListsOf(r)
	if len(lists) == 0 {
		if why.IsEmpty() {
			why = backend.Textf("no source lists sandboxes of %s", orUnnamed(r.Provider))
		}
		return RefMatch{Result: RefUnknown, Why: why}
	}
	names := make([]backend.Safe, 0, len(lists))
	for _, h := range lists {
		name := backend.Clean(h.Key.Source, 80)
		if !s.LastCompleteList(h.Key.Source, backend.KindSandbox).After(r.SavedAt.Or(r.FirstSeen)) {
			return RefMatch{Result: RefUnknown, Why: backend.Textf("%s was not read after the state was saved", name)}
		}
		names = append(names, name)
	}
	return RefMatch{Result: RefGone, Why: backend.Textf("not listed by %s", backend.Join(names, ", "))}
}

// ListsOf are the sources that together list every sandbox of a state's platform, of the organisation that its address names, so that
// one which none of them lists is gone. Where such lists are missing, why says which, and lacks is the source; nil: none reads that
// organisation. All are empty where no source is of that platform.
func (s *State) ListsOf(r *backend.Ref) (lists []*SourceHealth, lacks *SourceHealth, why backend.Safe) {
	of, others := r.Organisation(), false
	for _, h := range s.Sources {
		if h.Kind != r.Provider.String() || !h.Delivers(backend.InputContainers) && h.Status == StatusOK {
			continue
		}
		if of != "" && h.Organisation != "" && !strings.EqualFold(of, h.Organisation) {
			others = true
			continue
		}
		if why := s.NotWhole(h); !why.IsEmpty() {
			return nil, h, why
		}
		if why := h.OwnOpen(r); !why.IsEmpty() {
			return nil, h, why
		}
		lists = append(lists, h)
	}
	if len(lists) == 0 && others {
		why = backend.Textf("it is in workspace %s, which no source reads", backend.Clean(of, 80))
	}
	return lists, nil, why
}

// NotWhole is why the list of a source does not prove which sandboxes there are; empty: it does.
func (s *State) NotWhole(h *SourceHealth) backend.Safe {
	whole := s.LastCompleteList(h.Key.Source, backend.KindSandbox)
	switch name := backend.Clean(h.Key.Source, 80); {
	case h.Status != StatusOK && h.Status != StatusDegraded, whole.IsZero(), h.Unseen && whole.Before(h.LastOK.Add(-h.Interval)):
		return backend.Textf("%s has no complete list", name)
	case h.OtherIDs:
		return backend.Textf("%s lists containers under other ids: only operator routes of its bridge tell which sandboxes there are", name)
	}
	return backend.Safe{}
}

// OwnOpen is why a sandbox that is not listed need not be gone: its own record did not say so; empty: it did, or is not asked.
func (h *SourceHealth) OwnOpen(r *backend.Ref) backend.Safe {
	own := backend.Key{Kind: backend.KindSandbox, Source: h.Key.Source, ID: r.Sandbox}
	if h.OwnGone == nil || h.Kind != r.Provider.String() || slices.Contains(h.OwnGone, own) {
		return backend.Safe{}
	}
	return backend.Textf("not listed by %s; its own record was not asked, or did not answer", backend.Clean(h.Key.Source, 80))
}

func orUnnamed(s backend.Safe) backend.Safe {
	if s.IsEmpty() {
		return backend.Text("a kind that the state does not name")
	}
	return s
}

// differences are the facts that both sides give and that differ.
func differences(r *backend.Ref, b *backend.Sandbox) (out []RefDifference) {
	add := func(name backend.Literal, state, inventory backend.Safe, differ bool) {
		if differ && !state.IsEmpty() && !inventory.IsEmpty() {
			out = append(out, RefDifference{Name: backend.Text(name), State: state, Inventory: inventory})
		}
	}
	add("region", r.Agent.Region, b.Region, r.Agent.Region != b.Region)
	// An engine gives the id of an image whose name was given to another one since. A name without a tag is that with latest.
	untagged := func(image backend.Safe) string { return strings.TrimSuffix(image.String(), ":latest") }
	add("image", r.Agent.Image, b.Image, untagged(r.Agent.Image) != untagged(b.Image) && !strings.HasPrefix(b.Image.String(), "sha256:"))
	if mb, ok := r.Agent.Memory.Get(); ok {
		if limit, ok := b.MemLimit.Get(); ok {
			at := int64(mb)
			add("memory", backend.Textf("%d MB", mb), inMB(limit), limit != at<<20 && limit != at*1e6)
		}
	}
	add("address", r.Agent.Address, b.Address, strings.TrimRight(r.Agent.Address.String(), "/") != strings.TrimRight(b.Address.String(), "/"))
	if missing := unlistedPorts(r.Agent.Ports, b.Ports); len(missing) > 0 {
		listed := backend.Join(b.Ports, " ")
		if b.NoPorts {
			listed = backend.Text("none")
		}
		add("ports", backend.Join(missing, " "), listed, true)
	}
	if d, differs := lifespans(r.Agent.TTL, b.TTL); differs {
		out = append(out, d)
	}
	if missing, differs := undeclared(r.Agent, b); differs {
		out = append(out, RefDifference{Name: backend.Text("environment"), State: variables(missing), Inventory: backend.Text("not declared")})
	}
	for _, l := range r.Agent.Labels {
		for _, other := range b.Labels {
			if l.Name == other.Name {
				out = appendLabel(out, l, other)
			}
		}
	}
	add("session", r.Session.Safe(), b.Session.Safe(), r.Session != b.Session)
	return out
}

// inMB is an amount of memory in the unit of a state, which is of 2^20 bytes or of a million.
func inMB(bytes int64) backend.Safe {
	switch {
	case bytes%(1<<20) == 0:
		return backend.Textf("%d MB", bytes>>20)
	case bytes%1e6 == 0:
		return backend.Textf("%d MB", bytes/1e6)
	}
	return backend.Textf("%.1f MB", float64(bytes)/(1<<20))
}

// unlistedPorts are the ports of a state that the inventory, which lists some, does not list. A port of it is written 3000/http.
func unlistedPorts(state []int, inventory []backend.Safe) (out []backend.Safe) {
	for _, p := range state {
		number := strconv.Itoa(p)
		if !slices.ContainsFunc(inventory, func(s backend.Safe) bool {
			target, _, _ := strings.Cut(s.String(), "/")
			return target == number
		}) {
			out = append(out, backend.Clean(number, 10))
		}
	}
	return out
}

// appendLabel adds a label that has another value in the inventory.
func appendLabel(out []RefDifference, state, inventory backend.Field) []RefDifference {
	if state.Value == inventory.Value || state.Value.IsEmpty() || inventory.Value.IsEmpty() {
		return out
	}
	return append(out, RefDifference{Name: backend.Textf("label %s", state.Name), State: state.Value, Inventory: inventory.Value})
}

// AgentSession is the session of a sandbox that an agent SDK named: the one of a state whose id begins as the name says, unless its states
// name other sandboxes; else it is zero, and digits are those with which it begins. Both are empty for other sandboxes, and for an instance of Cloudflare: a name of
// the same form is of its application and its own id.
func (s *State) AgentSession(b *backend.Sandbox) (session backend.ID, digits string) {
	if digits = agentDigits(b.Name.String()); digits == "" || b.Provider.String() == "cloudflare" {
		return session, ""
	}
	if s.Refs.Len() == 0 {
		return session, digits
	}
	if other, _ := s.NamesAnother(digits); !other.IsZero() {
		return session, digits
	}
	return s.agentRefs().digits[digits], digits
}

// sessionDigits is how many digits of a session's id the SDK puts into the name of its sandbox.
const sessionDigits = 12

// agentPrefix begins those names.
const agentPrefix = "agents-"

// agentDigits are the first digits of the session in a name that the SDK gives: agents- and 12 of them.
func agentDigits(name string) string {
	digits, is := strings.CutPrefix(name, agentPrefix)
	if _, err := hex.DecodeString(digits); !is || len(digits) != sessionDigits || err != nil || digits != strings.ToLower(digits) {
		return ""
	}
	return digits
}
