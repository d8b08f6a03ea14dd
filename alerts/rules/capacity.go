package rules

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// CapacityOptions are the keys of `[rules.capacity]`.
type CapacityOptions struct {
	Common
	Warn     float64          `toml:"warn" doc:"share of the limit from which it warns (0 to 1); at the limit it is critical"`
	Over     backend.Duration `toml:"over" doc:"how old an error that names used and limit may be"`
	Refused  int              `toml:"refused" doc:"refused starts, where the error does not say how much of the limit is used"`
	Limit    int              `toml:"limit" doc:"sandboxes that each provider of a source may run at once; 0: only what error texts say"`
	Provider string           `toml:"provider" doc:"the provider that limit is about; empty: each of them"`
}

func capacityDefaults() *CapacityOptions {
	return &CapacityOptions{Common: common(alerts.SeverityWarning), Warn: 0.8, Over: backend.Duration(10 * time.Minute), Refused: 3}
}

func (o *CapacityOptions) build() (alerts.Rule, error) {
	r := &capacity{base: o.base("capacity", backend.KindWorkspace, backend.InputRegistry, backend.InputRegistry), warn: o.Warn, over: o.Over.Std(), refused: o.Refused, limit: o.Limit, provider: o.Provider}
	r.meta.Alone = alerts.Alone{Input: backend.InputCapacity, Sees: backend.Text("how full the applications of a cloud platform are,")}
	return r, cmp.Or(
		share("warn", o.Warn),
		atLeast("refused", o.Refused, 1),
		refuse(o.Limit < 0, "limit", "cannot be negative; 0 means that none is declared"),
		positive("over", o.Over),
	)
}

// startNote is what a workspace tells of its provider's limit.
type startNote struct {
	Refused bool      `json:"was_failed,omitempty"` // its start was refused; else it works
	Attempt time.Time `json:"last,omitzero"`
	Seen    time.Time `json:"seen,omitzero"`
	Usage   []point   `json:"points,omitempty"` // at most one, what the error names: used, limit
	causeNote
	owner
}

func (n *startNote) subject() alerts.Subject {
	return alerts.Subject{Since: n.Seen, Bounds: alerts.Bounds{Latest: n.Seen}, Detail: n.Cause}
}

// shortNote is since when a provider is short of room.
type shortNote struct {
	Since time.Time `json:"first,omitzero"`
	// Refused is when the platform last refused a call for the usage limit of its workspace, Said its answer, and By who had it.
	Refused time.Time    `json:"last,omitzero"`
	Said    backend.Safe `json:"text,omitzero"`
	By      backend.Safe `json:"by,omitzero"`
}

type capacity struct {
	base
	warn           float64
	over           time.Duration
	refused, limit int
	provider       string
}

// NewNote is about a workspace or a provider.
func (r *capacity) NewNote(key backend.Key) alerts.Note {
	if key.Kind == backend.KindWorkspace {
		return alerts.NoteOf(new(startNote))
	}
	return alerts.NoteOf(new(shortNote))
}

// Judge takes notes of workspaces whose error speaks of a limit, and with a declared limit of those that work.
func (r *capacity) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	note := alerts.NoteAs[startNote](known)
	w, ok := e.(*backend.Workspace)
	if !ok || w.Unreadable {
		return alerts.Verdict{Outcome: alerts.False}
	}
	f := factsOf(env, w)
	refused := (w.Class == backend.ClassFailed || w.Class == backend.ClassEvicted) && f.failing() && env.Now.Sub(f.attempt) <= r.over && speaksOfLimit(env, w.LastError)
	works := r.limitOf(w.Provider.String()) > 0 && !f.success.IsZero() && !f.failing() && w.Class != backend.ClassFailed && w.Class != backend.ClassEvicted && w.Class != backend.ClassClosed
	if !refused && !works {
		return alerts.Verdict{Outcome: alerts.False}
	}
	v := alerts.Verdict{Outcome: alerts.False}
	if refused {
		v.Recheck = f.attempt.Add(r.over + 1)
	}
	if note != nil && note.Refused == refused && note.Attempt.Equal(f.attempt) && note.Raw == w.LastError && note.Provider == w.Provider {
		v.Note = known // nothing is new
		return v
	}
	n := &startNote{Refused: refused, Attempt: f.attempt, owner: ownerOf(env, w)}
	v.Note = alerts.NoteOf(n)
	if refused {
		n.Raw, n.Seen = w.LastError, f.read
		n.Cause, _ = env.Cause(w.LastError)
		if used, limit, ok := usedOf(w.LastError.String()); ok {
			n.Usage = []point{{At: f.attempt, N: [3]float64{float64(used), float64(limit)}}}
		}
	}
	return v
}

// Bucket keeps the notes of one provider together.
func (r *capacity) Bucket(k backend.Key, n alerts.Note) string {
	if k.Kind != backend.KindWorkspace {
		return ""
	}
	return k.Source + "\x00" + alerts.NoteAs[startNote](n).Provider.String()
}

// fill is what is known of how full a provider is.
type fill struct {
	used, limit int
	at          time.Time // of the newest error that names both
	working     int
	refused     alerts.Notes
	silent      int // of refused: they do not say how much is used
	sessions    int
	newest      *startNote
}

func (r *capacity) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	seen := map[backend.Key]bool{}
	var out []alerts.Found
	for bucket, notes := range known.Buckets {
		home, provider, _ := strings.Cut(bucket, "\x00")
		id := siteID{home, provider}
		key := (&site{}).key(id)
		x := r.measure(env, provider, notes)
		v := r.judge(env, id, x)
		r.began(env, x, alerts.NoteAs[shortNote](known.Note(key)), &v)
		if v.Outcome != alerts.True && known.Finding(key) == "" {
			continue
		}
		seen[key] = true
		out = append(out, alerts.Found{Key: key, Verdict: v})
	}
	out = append(out, r.pools(env, known, seen)...)
	out = append(out, r.usage(env, known, seen)...)
	return append(out, unmentioned(env, known, seen)...)
}

// began remembers since when a provider is short of room: the oldest refused start that is known proves it.
func (r *capacity) began(env *alerts.Env, x *fill, was *shortNote, v *alerts.Verdict) {
	if v.Outcome != alerts.True {
		return
	}
	n := shortNote{Since: env.Now}
	if was != nil {
		n = *was
	}
	for _, refused := range each[startNote](x.refused) {
		if !refused.Attempt.IsZero() && refused.Attempt.Before(n.Since) {
			n.Since = refused.Attempt
		}
	}
	v.Note, v.Bounds = alerts.NoteOf(&n), alerts.Bounds{Latest: n.Since}
	if was != nil && was.Since.Equal(n.Since) {
		v.Note = alerts.NoteOf(was)
	}
}

// limitOf is the declared limit of a provider, 0 when none is.
func (r *capacity) limitOf(provider string) int {
	if r.provider != "" && r.provider != provider {
		return 0
	}
	return r.limit
}

// measure adds up the notes of one provider.
func (r *capacity) measure(env *alerts.Env, provider string, notes alerts.Notes) *fill {
	x := &fill{limit: r.limitOf(provider)}
	var last backend.ID
	x.refused = notes // without a declared limit those that work are not noted
	if x.limit > 0 {
		x.refused = notes.Where(func(_ backend.Key, n alerts.Note) bool { return alerts.NoteAs[startNote](n).Refused })
	}
	x.working = notes.Len() - x.refused.Len()
	for _, n := range each[startNote](x.refused) {
		if n.Session != last {
			last = n.Session
			x.sessions++
		}
		if x.newest == nil || n.Attempt.After(x.newest.Attempt) {
			x.newest = n
		}
		if len(n.Usage) == 0 {
			x.silent++
		}
		if len(n.Usage) > 0 && n.Usage[0].At.After(x.at) {
			x.at, x.used, x.limit = n.Usage[0].At, int(n.Usage[0].N[0]), int(n.Usage[0].N[1])
		}
	}
	if x.at.IsZero() {
		x.used = x.working
	}
	return x
}

func (r *capacity) judge(env *alerts.Env, id siteID, x *fill) alerts.Verdict {
	if v, gap := gapOf(env, id.home); gap {
		return v
	}
	full := x.limit > 0 && x.used >= x.limit || x.silent >= r.refused // another limit may have room
	if !full && (x.limit == 0 || !atShare(float64(x.used), r.warn, float64(x.limit))) {
		return alerts.Verdict{Outcome: alerts.False}
	}
	who := "an unnamed provider"
	if id.provider != "" {
		who = backend.Clean(id.provider, 60).String()
	}
	// The numbers move with every poll, so they are evidence; the cause is what stays.
	v := alerts.Verdict{
		Outcome: alerts.True, Source: id.home, Runbook: "7", Provider: backend.Clean(id.provider, 60), Confirmed: env.Now,
		Cause: backend.Textf("%s is nearly full", who), Fingerprint: alerts.Fingerprint("nearly full") + "-" + id.provider,
	}
	if full {
		v.Cause, v.Fingerprint = backend.Textf("%s has no instance left", who), alerts.Fingerprint("no instance left")+"-"+id.provider
		v.Severity = worse(r.meta.Severity)
	}
	v.Detail = v.Cause
	r.tell(env, id, x, &v)
	return v
}

// worse is one level above a severity.
func worse(s alerts.Severity) alerts.Severity {
	if s == alerts.SeverityInfo {
		return alerts.SeverityWarning
	}
	return alerts.SeverityCritical
}

// milder is one level below a severity.
func milder(s alerts.Severity) alerts.Severity {
	if s == alerts.SeverityCritical {
		return alerts.SeverityWarning
	}
	return alerts.SeverityInfo
}

func (r *capacity) tell(env *alerts.Env, id siteID, x *fill, v *alerts.Verdict) {
	now := env.Display(env.Now)
	if x.limit > 0 {
		at, how := now, "counted against the declared limit"
		if !x.at.IsZero() {
			at, how = env.Display(x.at), "as the newest error says"
		}
		v.Evidence = append(v.Evidence, alerts.Evidence{
			Text:  backend.Textf("%d of %d in use, %s (warning from %s %%)", x.used, x.limit, how, number(100*r.warn)),
			Value: backend.Known(float64(x.used) / float64(x.limit)), Unit: "share", Source: id.home, At: at,
		})
	}
	v.Listing = listingOf[startNote](env, x.refused, id.home)
	n := x.refused.Len()
	if n == 0 {
		return
	}
	v.Confirmed = x.newest.Seen
	v.Evidence = append(v.Evidence,
		alerts.Evidence{
			Text:  backend.Textf("%s in %s refused for it in the last %s", plural(n, "start"), plural(x.sessions, "session"), text(r.over)),
			Value: backend.Known(float64(n)), Unit: "starts", Source: id.home, At: env.Display(x.newest.Attempt),
		},
		alerts.Evidence{Text: backend.Textf("newest: %s", x.newest.Cause), Source: id.home, At: env.Display(x.newest.Attempt)})
}

// speaksOfLimit reports whether an error says that something is used up or how much of it is.
func speaksOfLimit(env *alerts.Env, err backend.Safe) bool {
	if err.IsEmpty() {
		return false
	}
	if env.Names(err)&alerts.NamesQuota != 0 {
		return true
	}
	_, _, ok := usedOf(err.String())
	return ok
}

// isUse reports whether words say that something is in use.
func isUse(words []string) bool {
	return len(words) > 0 && (words[0] == "used" || words[0] == "running" || words[0] == "in" && len(words) > 1 && words[1] == "use")
}

func isMachine(w string) bool {
	switch w {
	case "instance", "instances", "container", "containers", "sandbox", "sandboxes", "max_instances", "maxinstances":
		return true
	}
	return false
}

// usedOf finds "60 of 60 instances", "container limit (60/60 in use)", "sandboxes used 60/60" in a text. Tokens and requests have limits, too.
func usedOf(text string) (used, limit int, ok bool) {
	if !strings.Contains(text, "/") && !strings.Contains(text, " of ") {
		return 0, 0, false
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" ()[],;:=", r) })
	for i, w := range words {
		var a, b string
		rest := words[i+1:]
		if x, y, cut := strings.Cut(w, "/"); cut {
			a, b = x, y
		} else if len(rest) >= 2 && rest[0] == "of" {
			a, b, rest = w, rest[1], rest[2:]
		} else {
			continue
		}
		u, err1 := strconv.Atoi(a)
		l, err2 := strconv.Atoi(b)
		if err1 != nil || err2 != nil || l < 1 || u < 0 || u > 1_000_000 || l > 1_000_000 {
			continue
		}
		near := rest[:min(len(rest), 3)]
		if slices.ContainsFunc(near, isMachine) || (isUse(near) || i > 0 && words[i-1] == "used") && slices.ContainsFunc(words, isMachine) {
			return u, l, true
		}
	}
	return 0, 0, false
}
