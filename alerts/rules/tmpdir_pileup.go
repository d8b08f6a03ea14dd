package rules

import (
	"cmp"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// PileupOptions are the keys of `[rules.tmpdir-pileup]`.
type PileupOptions struct {
	Common
	Count      int              `toml:"count" doc:"scratch directories beyond those that open workspaces explain"`
	Growth     int              `toml:"growth" doc:"how many more of them within the window"`
	Over       backend.Duration `toml:"over" doc:"the window of the growth"`
	Free       float64          `toml:"free" doc:"share of free bytes or inodes from which a root is nearly full (0 to 1)"`
	FullWithin backend.Duration `toml:"full_within" doc:"scratch directories fill the root within this time at their present growth"`
	FullSoon   backend.Duration `toml:"full_soon" doc:"… or anything does, at the rate of the last 10 minutes"`
}

func pileupDefaults() *PileupOptions {
	return &PileupOptions{
		Common: common(alerts.SeverityWarning), Count: 100, Growth: 30, Over: backend.Duration(30 * time.Minute), Free: 0.03, FullWithin: backend.Duration(4 * time.Hour), FullSoon: backend.Duration(2 * time.Hour),
	}
}

func (o *PileupOptions) build() (alerts.Rule, error) {
	r := &tmpdirPileup{base: o.base("tmpdir-pileup", backend.KindHost, backend.InputTmpdirs, backend.InputTmpdirs), count: o.Count, growth: float64(o.Growth), over: o.Over.Std(), free: o.Free, fullWithin: o.FullWithin.Std(), fullSoon: o.FullSoon.Std()}
	r.meta.Window = r.over
	return r, cmp.Or(
		atLeast("count", o.Count, 1),
		atLeast("growth", o.Growth, 1),
		window("over", o.Over),
		share("free", o.Free),
		positive("full_within", o.FullWithin),
		positive("full_soon", o.FullSoon),
	)
}

// pileupNote is how the scratch directories of a host grew.
type pileupNote struct {
	Points []point   `json:"points,omitempty"` // count, bytes, open workspaces
	Free   []point   `json:"free,omitempty"`   // bytes free below the first three roots
	Since  time.Time `json:"seen,omitzero"`    // since when there are too many, zero: there are not
}

type tmpdirPileup struct {
	base
	remembers[pileupNote]
	count                      int
	growth, free               float64
	over, fullWithin, fullSoon time.Duration
}

// pile is the scratch directories of a host now, and how they grew.
type pile struct {
	dirs, held, open int
	waiting          int // of dirs: set aside by a clean-up, still on the disk
	waitingBytes     int64
	due              time.Time // when the last of them is removed
	bytes            int64
	atLeast          bool // some tree was not walked whole
	watched          time.Duration
	more, moreBytes  float64
	points           []point // count, bytes, open workspaces
	space            []point // bytes free below the first three roots
}

const pointGap = 30 * time.Second

func (r *tmpdirPileup) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	note := alerts.NoteAs[pileupNote](known)
	h, ok := e.(*backend.Host)
	if !ok || len(h.Roots) == 0 {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if why, is := env.Silent(h.Key.Source, backend.InputTmpdirs); is { // what cannot be listed is not empty, nor what it was
		return r.unlisted(env, h, known, why)
	}
	p := r.measure(env, h, note)
	n := &pileupNote{Points: p.points, Free: p.space}
	if note != nil {
		n.Since = note.Since
	}
	v := alerts.Verdict{Outcome: alerts.True, Note: alerts.NoteOf(n), Runbook: "5", Recheck: env.Now.Add(pointGap)}
	tight, left := r.tight(h, p)
	excess := p.dirs - p.held - p.open
	switch {
	case !tight.IsEmpty():
		r.fills(&v, tight, left)
	case p.more >= r.growth, excess >= r.count:
		v.Cause, v.Fingerprint = backend.Text("scratch directories pile up"), alerts.Fingerprint("scratch directories pile up")
		v.Detail = backend.Textf("%s on %s", plural(p.dirs, "directory"), h.Name)
	default:
		n.Since = time.Time{}
		v.Outcome = alerts.False
		return v
	}
	if n.Since.IsZero() {
		n.Since = env.ReadAt(&h.Meta)
	}
	if due := r.settled(env, h, n.Since); tight.IsEmpty() && p.watched > 0 && !due.IsZero() {
		v.Suspected, v.Recheck = true, due
		v.Why = backend.Textf("fires when no session is listed for them at %s", env.Clock(due))
	}
	v.Bounds = alerts.Bounds{Latest: n.Since}
	for _, x := range p.points {
		v.Trend = append(v.Trend, x.N[0])
	}
	v.TrendSpan = p.watched
	v.Evidence = r.tell(env, h, &p)
	return v
}

// pileupSettle is the least time in which the sessions of new directories are listed.
const pileupSettle = 15 * time.Second

// settled is when directories that came at a time have had two polls for their sessions to be listed, or to be removed after
// their sessions; zero once that is over.
func (r *tmpdirPileup) settled(env *alerts.Env, h *backend.Host, since time.Time) time.Time {
	after := pileupSettle
	if len(env.HomesOf(h.Key.Source)) == 0 {
		return time.Time{} // no list names sessions
	}
	for _, x := range env.HomesOf(h.Key.Source) {
		after = max(after, 2*x.Interval)
	}
	if due := since.Add(after); env.ReadAt(&h.Meta).Before(due) {
		return latestOf(due, env.Now.Add(time.Second))
	}
	return time.Time{}
}

// unlisted judges a host whose scratch directories cannot be listed: its free space says all the same how fast it fills.
func (r *tmpdirPileup) unlisted(env *alerts.Env, h *backend.Host, known alerts.Note, why backend.Safe) alerts.Verdict {
	n := pileupNote{}
	if note := alerts.NoteAs[pileupNote](known); note != nil {
		n = *note
	}
	read := env.ReadAt(&h.Meta)
	n.Free = r.with(r.since(read, n.Free), point{At: read, N: freeOf(h)})
	p := pile{space: n.Free}
	tight, left := r.tight(h, p)
	if tight.IsEmpty() {
		return alerts.Verdict{Outcome: alerts.SourceError, Why: why, Note: alerts.NoteOf(&n), Recheck: env.Now.Add(pointGap)}
	}
	if n.Since.IsZero() {
		n.Since = read
	}
	v := alerts.Verdict{Outcome: alerts.True, Note: alerts.NoteOf(&n), Runbook: "5", Recheck: env.Now.Add(pointGap), Bounds: alerts.Bounds{Latest: n.Since}, Evidence: r.space(env, h, &p)}
	r.fills(&v, tight, left)
	return v
}

// fills makes a verdict one about the disk.
func (r *tmpdirPileup) fills(v *alerts.Verdict, tight backend.Safe, left time.Duration) {
	v.Cause, v.Fingerprint = backend.Text("the disk below scratch directories fills up"), alerts.Fingerprint("the disk below scratch directories fills up")
	v.Detail = tight
	if left < 30*time.Minute && r.meta.Severity.Rank() < alerts.SeverityCritical.Rank() {
		v.Severity = alerts.SeverityCritical
	}
}

// measure counts the scratch directories of a host and compares them with those before.
func (r *tmpdirPileup) measure(env *alerts.Env, h *backend.Host, note *pileupNote) pile {
	var p pile
	for t := range env.State.Tmpdirs.Of(backend.KindTmpdir, h.Key.Source, h.Key.ID) {
		p.dirs++
		p.bytes += t.Bytes.Or(0)
		p.atLeast = p.atLeast || t.Cut || !t.Bytes.IsKnown()
		if x, ok := t.Holders.Get(); ok && len(x) > 0 {
			p.held++
		}
	}
	p.wait(h)
	if p.dirs > p.waiting {
		p.open = openWorkspaces(env, h.Key.Source)
	}
	read := env.ReadAt(&h.Meta)
	now := point{At: read, N: [3]float64{float64(p.dirs), float64(p.bytes), float64(p.open)}}
	if note != nil {
		p.points, p.space = r.since(read, note.Points), r.since(read, note.Free)
	}
	p.space = r.with(p.space, point{At: read, N: freeOf(h)})
	if !workspacesListed(env, h.Key.Source) { // what is not listed yet would look like a rush of sessions
		return p
	}
	if len(p.points) > 0 {
		first := p.points[0]
		p.watched = read.Sub(first.At)
		p.more = now.N[0] - first.N[0] - max(now.N[2]-first.N[2], 0)
		p.moreBytes = now.N[1] - first.N[1]
	}
	p.points = r.with(p.points, now)
	return p
}

// since are the points of the window. A longer time without a reading than a third of it begins the window anew: what
// happened meanwhile was not watched.
func (r *tmpdirPileup) since(read time.Time, points []point) []point {
	var out []point
	for _, x := range points {
		if k := len(out); k > 0 && x.At.Sub(out[k-1].At) > r.over/3 {
			out = out[:0]
		}
		if read.Sub(x.At) <= r.over {
			out = append(out, x)
		}
	}
	if k := len(out); k > 0 && read.Sub(out[k-1].At) > r.over/3 {
		return nil
	}
	return out
}

// with adds a point when it is not too near the one before.
func (r *tmpdirPileup) with(points []point, now point) []point {
	if k := len(points); k > 0 && now.At.Sub(points[k-1].At) < max(pointGap, r.over/maxPoints) {
		return points
	}
	return append(points, now)
}

// wait adds what a clean-up has set aside: it has another name and occupies the disk as before.
func (p *pile) wait(h *backend.Host) {
	for i := range h.Roots {
		p.waiting += h.Roots[i].WaitingCount
		for _, w := range h.Roots[i].Waiting {
			p.waitingBytes += w.Bytes.Or(0)
			p.atLeast = p.atLeast || !w.Bytes.IsKnown()
			if w.Due.After(p.due) {
				p.due = w.Due
			}
		}
	}
	p.dirs += p.waiting
	p.bytes += p.waitingBytes
}

// listPatience is how long the registries may take to list everything before growth is measured without them.
const listPatience = 5 * time.Minute

// workspacesListed reports whether the registries that a source speaks about have listed what is open.
func workspacesListed(env *alerts.Env, source string) bool {
	if env.Now.Sub(env.Watching) >= listPatience {
		return true
	}
	own := env.State.Source(source)
	for _, h := range env.State.Sources {
		if own != nil && !own.ReportsOn(h.Key.Source) {
			continue
		}
		bySession := !h.Unfinished && len(h.Unlisted) == 0 && !env.State.LastCompleteList(h.Key.Source, backend.KindSession).IsZero() // each session's route was read
		if h.Status == fleet.StatusStarting || h.Delivers(backend.InputRegistry) && !bySession && env.State.LastCompleteList(h.Key.Source, backend.KindWorkspace).IsZero() {
			return false
		}
	}
	return true
}

// openWorkspaces counts the workspaces that may have a scratch directory open.
func openWorkspaces(env *alerts.Env, source string) int {
	homes := map[string]bool{}
	for _, h := range env.HomesOf(source) {
		homes[h.Key.Source] = true
	}
	n := 0
	for w := range env.State.Workspaces.All() {
		if homes[w.Key.Source] && usesScratch(w.Provider.String()) {
			n++
		}
	}
	return n
}

// usesScratch reports whether a provider works in scratch directories of the host. An unknown one may.
func usesScratch(provider string) bool {
	switch provider {
	case "in-memory", "cloudflare-filestore", "cloudflare-sandbox", "cloudflare-dynamic-worker":
		return false
	}
	return true
}

// tight says which root is nearly full, or will be soon, and how long is left.
func (r *tmpdirPileup) tight(h *backend.Host, p pile) (backend.Safe, time.Duration) {
	for i := range h.Roots {
		if f, is := p.filling(i); is && f.left <= r.fullSoon {
			return backend.Textf("%s fills up", h.Roots[i].Path), f.left
		}
	}
	if p.dirs == 0 {
		return backend.Safe{}, 0
	}
	for i := range h.Roots {
		root := &h.Roots[i]
		free, ok := root.BytesFree.Get()
		if total, known := root.Bytes.Get(); ok && known && within(float64(free), r.free, float64(total)) {
			return backend.Textf("%s: %s of %s free", root.Path, bytesText(free), bytesText(total)), 0
		}
		inodes, ok2 := root.InodesFree.Get()
		if total, known := root.Inodes.Get(); ok2 && known && within(float64(inodes), r.free, float64(total)) {
			return backend.Textf("%s: %s of %s inodes free", root.Path, number(float64(inodes)), number(float64(total))), 0
		}
		if !ok || p.moreBytes <= 0 || p.watched < 5*time.Minute {
			continue
		}
		left := time.Duration(float64(free) / p.moreBytes * float64(p.watched))
		if left >= 0 && left <= r.fullWithin {
			return backend.Textf("%s fills up", root.Path), left
		}
	}
	return backend.Safe{}, 0
}

// tell is the evidence of an alert about a host.
func (r *tmpdirPileup) tell(env *alerts.Env, h *backend.Host, p *pile) []alerts.Evidence {
	src, at := h.Key.Source, env.Display(env.ReadAt(&h.Meta))
	least := ""
	if p.atLeast {
		least = "at least "
	}
	out := []alerts.Evidence{{
		Text:  backend.Textf("%s on %s, %s%s in all, %d of them in use now", plural(p.dirs, "scratch directory"), h.Name, backend.Clean(least, 20), bytesText(p.bytes), p.held),
		Value: backend.Known(float64(p.dirs)), Unit: "directories", Source: src, At: at,
	}}
	if p.waiting > 0 {
		out = append(out, alerts.Evidence{
			Text: backend.Textf("%s quarantined by clean, %s, still on the disk; removed from %s on, purge removes them now, undo puts them back",
				plural(p.waiting, "directory"), bytesText(p.waitingBytes), p.due.UTC().Format("15:04 UTC")),
			Value: backend.Known(float64(p.waiting)), Unit: "directories", Source: src, At: at,
		})
	}
	if p.open > 0 {
		out = append(out, alerts.Evidence{Text: backend.Textf("%s open now may own some of them", plural(p.open, "workspace")), Value: backend.Known(float64(p.open)), Unit: "workspaces", Source: src, At: at})
	}
	if excess := p.dirs - p.held - p.open; excess >= r.count {
		out = append(out, alerts.Evidence{Text: backend.Textf("%s that no process uses and no open workspace explains (alert from %d)", plural(excess, "directory"), r.count), Value: backend.Known(float64(excess)), Unit: "directories", Source: src, At: at})
	}
	if grown, is := r.grown(env, h, p); is {
		out = append(out, alerts.Evidence{Text: grown, Value: backend.Known(p.more), Unit: "directories", Source: src, At: at})
	}
	return append(out, r.space(env, h, p)...)
}

// grown says how much directories grew while they were watched, and the limit where that reached it.
func (r *tmpdirPileup) grown(env *alerts.Env, h *backend.Host, p *pile) (backend.Safe, bool) {
	if len(p.points) == 0 || p.watched <= 0 {
		return backend.Safe{}, false
	}
	first := p.points[0]
	more, bytes := float64(p.dirs)-first.N[0], p.moreBytes
	if more == 0 && bytes == 0 {
		return backend.Safe{}, false
	}
	said := backend.Textf("%s more directories and %s in the %s that were watched: %s and %s", number(more), moreBytes(bytes), span(p.watched), pace(more, p.watched, number), pace(bytes, p.watched, moreBytes))
	if opened := more - p.more; opened > 0 {
		said = backend.Textf("%s; workspaces that opened meanwhile explain %s", said, number(opened))
	}
	if p.more >= r.growth {
		said = backend.Textf("%s (alert from %s more within %s)", said, number(r.growth), text(r.over))
	}
	return said, true
}

// space is the evidence about the disk.
func (r *tmpdirPileup) space(env *alerts.Env, h *backend.Host, p *pile) (out []alerts.Evidence) {
	src, at := h.Key.Source, env.Display(env.ReadAt(&h.Meta))
	for i := range h.Roots {
		out = append(out, spaceEvidence(&h.Roots[i], src, at)...)
		if f, is := p.filling(i); is && f.left <= max(r.fullSoon, r.fullWithin) {
			out = append(out, alerts.Evidence{Text: backend.Textf("free space below %s fell by %s in the %s that were watched: at this rate it is full in %s",
				h.Roots[i].Path, bytesText(int64(f.lost)), span(f.watched), span(f.left)), Value: backend.Known(f.left.Seconds()), Unit: "s", Source: src, At: at})
		}
	}
	return out
}

// moreBytes writes a difference of bytes.
func moreBytes(n float64) string {
	if n < 0 {
		return "-" + bytesText(int64(-n))
	}
	return bytesText(int64(n))
}

// pace writes what happened in a time as a rate: a minute where that is at least one, else an hour.
func pace(n float64, in time.Duration, write func(float64) string) string {
	if in < time.Second {
		return write(n)
	}
	if rate := n / in.Minutes(); rate >= 1 || rate <= -1 {
		return write(float64(int64(rate*10))/10) + " a minute"
	}
	return write(float64(int64(n/in.Hours()*10))/10) + " an hour"
}
