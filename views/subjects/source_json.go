package subjects

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
)

// SourceJSON is one configured source.
type SourceJSON struct {
	ID         backend.Safe  `json:"id"`
	Kind       backend.Safe  `json:"kind"`
	Status     string        `json:"status"` // ok, degraded, down
	Error      *backend.Safe `json:"error"`
	AgeSeconds *float64      `json:"age_seconds"` // since the last successful poll, null: never
	Blind      []string      `json:"blind"`
	Unread     backend.Safe  `json:"unread,omitzero"` // sessions that cannot be read, by kind of error
	// Undated says which matching log lines were not counted, since nothing tells when they were written.
	Undated backend.Safe `json:"undated,omitzero"`
	// Denied are the parts that its credential does not permit to read, beside what Error says.
	Denied []backend.Safe `json:"denied,omitempty"`
	// Invalid are the sandboxes of which it says what cannot be used.
	Invalid []backend.Problem `json:"invalid,omitempty"`

	Absent bool `json:"-"` // not there, and that is not a failure
}

// SourceItem is the whole health of a source; its first fields are those of `check`.
type SourceItem struct {
	SourceJSON
	About             []string               `json:"about"`
	ErrorKind         backend.ErrorKind      `json:"error_kind,omitempty"`
	Absent            bool                   `json:"absent"`
	LastOKAt          views.Time             `json:"last_ok_at"`
	LastTryAt         views.Time             `json:"last_try_at"`
	NextPollAt        views.Time             `json:"next_poll_at"`
	Failures          int                    `json:"failures"`
	IntervalSeconds   float64                `json:"interval_seconds"`
	IntervalWhy       backend.Safe           `json:"interval_why,omitzero"`
	P50Seconds        float64                `json:"p50_seconds"`
	P95Seconds        float64                `json:"p95_seconds"`
	RequestsPerMinute float64                `json:"requests_per_minute"`
	BytesPerMinute    float64                `json:"bytes_per_minute"`
	WorkspacesUnknown bool                   `json:"workspaces_unknown"`
	Registry          backend.RegistryState  `json:"registry,omitempty"`
	Inputs            []backend.Input        `json:"inputs"`
	Missing           []backend.MissingInput `json:"missing"`
	Problems          []backend.Problem      `json:"problems"`
	Notes             []backend.Safe         `json:"notes"`
	Facts             []backend.Fact         `json:"facts,omitempty"`
	Pools             []backend.Pool         `json:"pools,omitempty"`
	Runs              []runItem              `json:"runs"`
}

// runItem says how many running sessions or sandboxes of a source state one version or image.
type runItem struct {
	Kind    backend.Kind `json:"kind"`
	Version backend.Safe `json:"version"`
	Running int          `json:"running"`
}

func runItems(st *fleet.State, source string) []runItem {
	items := []runItem{}
	for _, kind := range []backend.Kind{backend.KindSession, backend.KindSandbox} {
		for _, v := range st.Running(source, kind) {
			items = append(items, runItem{kind, v.Version, v.Running})
		}
	}
	return items
}

// NewSourceItem makes the JSON form of a source.
func NewSourceItem(h *fleet.SourceHealth, ctx *views.Snapshot) *SourceItem {
	return &SourceItem{SourceJSON: NewSourceJSON(h, ctx.Board, ctx.Now), About: views.List(h.About), ErrorKind: h.ErrorKind,
		Absent: h.Status == fleet.StatusAbsent, LastOKAt: views.At(h.LastOK), LastTryAt: views.At(h.LastTry), NextPollAt: views.At(h.NextPoll),
		Failures: h.Failures, IntervalSeconds: h.Interval.Seconds(), IntervalWhy: h.Paced, P50Seconds: h.P50.Seconds(), P95Seconds: h.P95.Seconds(),
		RequestsPerMinute: h.RequestsPerMin, BytesPerMinute: h.BytesPerMin, WorkspacesUnknown: h.WorkspacesUnknown,
		Registry: h.Registry, Inputs: views.List(h.Inputs), Missing: views.List(h.Missing), Problems: views.List(h.Problems), Notes: views.List(notes(h, ctx.State)), Facts: h.Facts, Pools: h.Pools, Runs: runItems(ctx.State, h.Key.Source)}
}

// notes are what a source says of itself, with the lines of its logs that nothing is known to belong to.
func notes(h *fleet.SourceHealth, st *fleet.State) []backend.Safe {
	if said := st.Unattributed(h); !said.IsEmpty() {
		return append(slices.Clone(h.Notes), said)
	}
	return h.Notes
}

// mostDenied bounds the parts that a credential does not permit which are named.
const mostDenied = 5

// denied are the parts of a source that answers which its credential does not permit to read. What its error says of how to permit one
// is not told twice.
func denied(h *fleet.SourceHealth, said string) (out []backend.Safe) {
	if h.Status != fleet.StatusOK && h.Status != fleet.StatusDegraded {
		return nil
	}
	for _, p := range h.Problems {
		how := p.What.String()
		how = how[strings.LastIndex(how, "; ")+1:]
		if p.Kind == backend.ErrUnauthorised && !strings.Contains(said, how) && !slices.Contains(out, p.What) && len(out) < mostDenied {
			out = append(out, p.What)
		}
	}
	return out
}

// NewSourceJSON is what `check` says of a source.
func NewSourceJSON(h *fleet.SourceHealth, board *alerts.Board, now time.Time) SourceJSON {
	s := SourceJSON{ID: backend.Clean(h.Key.Source, 200), Kind: backend.Clean(h.Kind, 200), Blind: board.BlindOn(h.Key.Source), Undated: h.Undated, Invalid: h.InvalidBoxes()}
	if s.Blind == nil {
		s.Blind = []string{}
	}
	slices.Sort(s.Blind)
	s.Blind = slices.Compact(s.Blind)
	why := h.Error
	switch h.Status {
	case fleet.StatusOK:
		s.Status = "ok"
	case fleet.StatusDown:
		s.Status = "down"
	case fleet.StatusStarting:
		s.Status = "down"
		if why.IsEmpty() {
			why = backend.Text("has not answered yet")
		}
	case fleet.StatusDegraded, fleet.StatusAbsent:
		s.Status, s.Absent = "degraded", h.Status == fleet.StatusAbsent
		if why.IsEmpty() && h.Status == fleet.StatusAbsent {
			why = backend.Text("is not there")
		}
	}
	if doubt, is := board.Doubted(h.Key.Source); is && s.Status == "ok" {
		s.Status = "degraded"
		if why.IsEmpty() {
			why = doubt
		}
	}
	if read, is := unreadable(h); is && s.Status == "ok" {
		s.Status, why = "degraded", read
	} else if h.Unfinished && s.Status == "ok" {
		if s.Status, why = "degraded", backend.Text("not all of it was read in time"); len(h.Notes) > 0 {
			why = backend.Textf("%s: %s", why, backend.Join(h.Notes, "; "))
		}
	}
	if !why.IsEmpty() {
		s.Error = &why
	}
	s.Unread, s.Denied = backend.UnreadText(h.Unread), denied(h, why.String())
	read := h.DataAt()
	if read.IsZero() {
		read = board.LastAnswer(h.Key.Source)
	}
	if !read.IsZero() {
		age := max(0, now.Sub(read).Round(time.Millisecond).Seconds())
		s.AgeSeconds = &age
	}
	return s
}

// unreadable says of a source that answers in time which part of it cannot be read, and why.
func unreadable(h *fleet.SourceHealth) (backend.Safe, bool) {
	if !h.Unseen || len(h.Problems) == 0 {
		return backend.Safe{}, false
	}
	return backend.Textf("a part of it cannot be read: %s", h.Problems[0].What), true
}
