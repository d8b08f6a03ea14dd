package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/api/types/events"

	"sandglass/internal/stable"
)

// dockerEvent is one line of GET /events, with the fields of old clients too.
type dockerEvent struct {
	Status string `json:"status,omitempty"`
	ID     string `json:"id,omitempty"`
	From   string `json:"from,omitempty"`
	events.Message
}

// eventMemory is how many past events an engine can repeat.
const eventMemory = 256

// eventStep is how often a stream looks for something new; a console joins an
// event within 250 ms, so the engine must not be the slow part.
const eventStep = 100 * time.Millisecond

func (w world) wireEvent(e containerEvent) dockerEvent {
	at := w.when(e.at)
	attrs := maps.Clone(w.labels(e.container))
	attrs["name"], attrs["image"] = e.container.name, e.container.image
	if e.exit != "" {
		attrs["exitCode"] = e.exit
	}
	return dockerEvent{
		Status: e.action, ID: e.container.id, From: e.container.image,
		Message: events.Message{Type: events.ContainerEventType, Action: events.Action(e.action),
			Actor: events.Actor{ID: e.container.id, Attributes: attrs}, Scope: "local", Time: at.Unix(), TimeNano: at.UnixNano()},
	}
}

// events serves what happened since a time, then what happens, until a time.
func (s dockerServer) events(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	filters, err := parseFilters(q.Get("filters"), "type", "event", "container", "label", "image", "scope")
	if err != nil {
		complain(w, http.StatusBadRequest, err.Error())
		return
	}
	world := s.now()
	from, err := world.eventTime(q.Get("since"), known(world.t))
	if err != nil {
		complain(w, http.StatusBadRequest, err.Error())
		return
	}
	until, err := world.eventTime(q.Get("until"), moment{})
	if err != nil {
		complain(w, http.StatusBadRequest, err.Error())
		return
	}
	st := eventStream{server: s, filters: filters, from: max(from.at, world.t-time.Hour), until: until, out: json.NewEncoder(w), flush: http.NewResponseController(w)}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	if st.flush.Flush() != nil {
		return
	}
	st.run(r)
}

// eventTime reads "seconds" or "seconds.nanoseconds" since 1970.
func (w world) eventTime(v string, absent moment) (moment, error) {
	if v == "" || v == "0" {
		return absent, nil
	}
	sec, frac, _ := strings.Cut(v, ".")
	s, err := strconv.ParseInt(sec, 10, 64)
	if err != nil {
		return moment{}, fmt.Errorf("failed to parse value as time or duration: %q", v)
	}
	n := int64(0)
	if frac != "" {
		if n, err = strconv.ParseInt((frac + "000000000")[:9], 10, 64); err != nil {
			return moment{}, fmt.Errorf("failed to parse value as time or duration: %q", v)
		}
	}
	return known(time.Unix(s, n).Sub(w.start)), nil
}

type eventStream struct {
	server      dockerServer
	filters     dockerFilters
	from        time.Duration
	until       moment
	seenActions int // client actions that were sent
	started     bool
	later       []containerEvent // of client actions, not due yet
	out         *json.Encoder
	flush       *http.ResponseController
}

func (st *eventStream) run(r *http.Request) {
	tick := time.NewTicker(eventStep)
	defer tick.Stop()
	for first := true; ; first = false {
		if !st.step(first) {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-st.server.done:
			return
		}
	}
}

// found lists what happened since the last step. Client actions come in their order, not by their time: one may be done at
// the very moment of a step.
func (st *eventStream) found(world world) []containerEvent {
	out := world.scriptEvents(st.from)
	deeds := world.actions.from(st.seenActions)
	for _, d := range deeds {
		for _, e := range actionEvents(d) {
			if st.started || e.at > st.from {
				st.later = append(st.later, e)
			}
		}
	}
	st.seenActions += len(deeds)
	st.started = true
	st.later = slices.DeleteFunc(st.later, func(e containerEvent) bool {
		due := e.at <= world.t
		if due && world.holds(e) {
			out = append(out, e)
		}
		return due
	})
	stable.Sort(out, func(a, b containerEvent) int { return cmp.Compare(a.at, b.at) })
	return out
}

// step sends what happened since the last step and says whether to go on.
func (st *eventStream) step(past bool) bool {
	world := st.server.now()
	last := st.until.known && world.t >= st.until.at
	if last {
		world = world.At(st.until.at)
	}
	found := st.found(world)
	if past && len(found) > eventMemory {
		found = found[len(found)-eventMemory:]
	}
	st.from = max(st.from, world.t)
	sent := false
	for _, e := range found {
		if !st.filters.event(world, e) {
			continue
		}
		if st.out.Encode(world.At(e.at).wireEvent(e)) != nil {
			return false
		}
		sent = true
	}
	if sent && st.flush.Flush() != nil {
		return false
	}
	return !last
}
