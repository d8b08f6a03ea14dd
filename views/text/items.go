package text

import (
	"bytes"
	"fmt"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
)

// Document is what `get -o json` prints: a head, and one list per kind under the kind's name.
type Document struct {
	Time        time.Time
	Environment string
	Kinds       []string // in their order
	Items       map[string][]Item
}

// MarshalJSON writes the fields in their order.
func (d Document) MarshalJSON() ([]byte, error) {
	at, err := Time{d.Time}.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"schema":%d,"time":%s,"environment":%s`, Schema, at, backend.QuoteJSON(d.Environment))
	for _, k := range d.Kinds {
		raw, err := compact(list(d.Items[k]))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, `,%s:%s`, backend.QuoteJSON(k), raw)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Item is the JSON form of one row; exactly one of its parts is set. docs/reading-json.md describes each.
type Item struct {
	alert     *CheckAlert
	source    *sourceItem
	workspace *workspaceItem
	session   *backend.Session
	sandbox   *backend.Sandbox
	tmpdir    *backend.Tmpdir
	host      *backend.Host
	ref       *backend.Ref
	place     *placeItem
	event     *backend.Event
}

// MarshalJSON writes the part that is set.
func (i Item) MarshalJSON() ([]byte, error) {
	switch {
	case i.alert != nil:
		return compact(i.alert)
	case i.source != nil:
		return compact(i.source)
	case i.workspace != nil:
		return compact(i.workspace)
	case i.session != nil:
		return compact(i.session)
	case i.sandbox != nil:
		return compact(i.sandbox)
	case i.tmpdir != nil:
		return compact(i.tmpdir)
	case i.host != nil:
		return compact(i.host)
	case i.ref != nil:
		return compact(i.ref)
	case i.place != nil:
		return compact(i.place)
	case i.event != nil:
		return compact(i.event)
	}
	return []byte("null"), nil
}

// workspaceItem adds what is concluded from the timestamps.
type workspaceItem struct {
	*backend.Workspace
	Condition backend.Condition `json:"condition"`
}

// sourceItem is the whole health of a source; its first fields are those of `check`.
type sourceItem struct {
	CheckSource
	About             []string               `json:"about"`
	ErrorKind         backend.ErrorKind      `json:"error_kind,omitempty"`
	Absent            bool                   `json:"absent"`
	LastOKAt          Time                   `json:"last_ok_at"`
	LastTryAt         Time                   `json:"last_try_at"`
	NextPollAt        Time                   `json:"next_poll_at"`
	Failures          int                    `json:"failures"`
	IntervalSeconds   float64                `json:"interval_seconds"`
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
	Runs              []runItem              `json:"runs"`
}

// ItemOf finds what stands behind a row.
func ItemOf(k backend.Key, ctx *views.Snapshot) (Item, bool) {
	st := ctx.State
	switch k.Kind {
	case views.KindAlert:
		for _, a := range ctx.Board.Alerts {
			if views.AlertKey(a) == k {
				c := checkAlert(a)
				trim(&c)
				return Item{alert: &c}, true
			}
		}
	case backend.KindSource:
		if h := st.Source(k.Source); h != nil {
			return Item{source: newSourceItem(h, ctx)}, true
		}
	case backend.KindWorkspace:
		if w := st.Workspace(k); w != nil {
			return Item{workspace: &workspaceItem{w, w.Condition(ctx.Now, st.LongestOperation)}}, true
		}
	case backend.KindSession:
		s := st.Session(k)
		return Item{session: s}, s != nil
	case backend.KindSandbox:
		s := st.Sandbox(k)
		return Item{sandbox: s}, s != nil
	case backend.KindTmpdir:
		t := st.Tmpdirs.Get(k)
		return Item{tmpdir: t}, t != nil
	case backend.KindHost:
		h := st.Hosts.Get(k)
		return Item{host: h}, h != nil
	case backend.KindRef:
		r := st.Refs.Get(k)
		return Item{ref: r}, r != nil
	case views.KindPlace:
		if p := ctx.Place(k); p != nil {
			return Item{place: newPlaceItem(p, ctx)}, true
		}
	case views.KindEvent:
		e := ctx.Event(k)
		return Item{event: e}, e != nil
	case backend.KindExecution, backend.KindJob:
	}
	return Item{}, false
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

func newSourceItem(h *fleet.SourceHealth, ctx *views.Snapshot) *sourceItem {
	return &sourceItem{CheckSource: checkSource(h, ctx.Board, ctx.Now), About: list(h.About), ErrorKind: h.ErrorKind,
		Absent: h.Status == fleet.StatusAbsent, LastOKAt: Time{h.LastOK}, LastTryAt: Time{h.LastTry}, NextPollAt: Time{h.NextPoll},
		Failures: h.Failures, IntervalSeconds: h.Interval.Seconds(), P50Seconds: h.P50.Seconds(), P95Seconds: h.P95.Seconds(),
		RequestsPerMinute: h.RequestsPerMin, BytesPerMinute: h.BytesPerMin, WorkspacesUnknown: h.WorkspacesUnknown,
		Registry: h.Registry, Inputs: list(h.Inputs), Missing: list(h.Missing), Problems: list(h.Problems), Notes: list(h.Notes), Facts: h.Facts, Runs: runItems(ctx.State, h.Key.Source)}
}

// list writes an empty list as [] instead of null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
