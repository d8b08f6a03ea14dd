package bridge

import (
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// Box is a sandbox as the operator routes tell of it, which start nothing.
type Box struct {
	ID        string // what the bridge calls it
	Container string // the name of its object
	Instance  string // the id of its object: that of its instance in the account's list
	Class     string
	State     string // of the SDK: running, healthy, stopping, stopped, stopped_with_code
	Changed   time.Time
	Exit      backend.Value[int]
	// SleepAfter is how long it rests before its container sleeps; 0: not told.
	SleepAfter time.Duration
}

// Runs reports whether its object says that a container runs, and false for a word that is not known.
func (b *Box) Runs() (runs, known bool) {
	switch b.State {
	case "running", "healthy":
		return true, true
	case "stopping", "stopped", "stopped_with_code":
		return false, true
	}
	return false, false
}

// News reports whether the state of its object changed since it was was.
func (b *Box) News(was *Box) bool { return b.State != was.State || !b.Changed.Equal(was.Changed) }

// Ops are the calls of the operator routes below a prefix such as /ops.
type Ops struct{ Prefix string }

// List asks for the sandboxes, from a cursor on.
func (o Ops) List(cursor string) Call {
	c := Call{Method: http.MethodGet, Path: o.at("/sandboxes"), Passive: true}
	if cursor != "" {
		c.Path += "?cursor=" + url.QueryEscape(cursor)
	}
	return c
}

// Get asks for one sandbox.
func (o Ops) Get(id string) (Call, error) { return o.one(http.MethodGet, id, "", true) }

// Processes asks what runs in a sandbox. The route refuses where no container runs, and so starts none.
func (o Ops) Processes(id string) (Call, error) {
	return o.one(http.MethodGet, id, "/processes", true)
}

// Stop asks the container of a sandbox to end.
func (o Ops) Stop(id string) (Call, error) { return o.one(http.MethodPost, id, "/stop", false) }

func (o Ops) at(rest string) string { return "/" + strings.Trim(o.Prefix, "/") + rest }

func (o Ops) one(method, id, rest string, passive bool) (Call, error) {
	if !IsID(id) {
		return Call{}, errSandboxID
	}
	return Call{Method: method, Path: o.at("/sandboxes/" + id + rest), Passive: passive}, nil
}

// mostBoxes bounds what one page is read for.
const mostBoxes = 5000

// ReadBoxes reads a page of the list, and the cursor of the next one. What has no id that the bridge takes is left out and counted.
func ReadBoxes(body []byte) (all []Box, next string, unread int, err error) {
	doc, err := wire.Parse(body)
	if err != nil {
		return nil, "", 0, err
	}
	list := doc.Root().Get("sandboxes")
	if list.Kind() != '[' {
		return nil, "", 0, errShape
	}
	for n := range list.Elements() {
		b, ok := readBox(n)
		if !ok || len(all) == mostBoxes {
			unread++
			continue
		}
		all = append(all, b)
	}
	next, _ = doc.Root().Get("next").Text()
	return all, next, unread, nil
}

// ReadBox reads the answer about one sandbox.
func ReadBox(body []byte) (Box, error) {
	doc, err := wire.Parse(body)
	if err != nil {
		return Box{}, err
	}
	b, ok := readBox(doc.Root())
	if !ok {
		return Box{}, errShape
	}
	return b, nil
}

func readBox(n wire.Node) (b Box, ok bool) {
	for name, into := range map[string]*string{"id": &b.ID, "container": &b.Container, "instance": &b.Instance, "class": &b.Class, "state": &b.State} {
		*into, _ = n.Get(name).Text()
	}
	if ms, is := n.Get("lastChange").Float(); is && ms > 0 && ms < math.MaxInt64/1e6 {
		b.Changed = time.UnixMilli(int64(ms))
	}
	b.SleepAfter = readSpan(n.Get("sleepAfter"))
	if code, is := n.Get("exitCode").Float(); is && math.Abs(code) < 1e6 {
		b.Exit = backend.Known(int(code))
	}
	return b, IsID(b.ID)
}

// readSpan reads a number of seconds, or a text such as "10m"; 0: it is neither.
func readSpan(n wire.Node) time.Duration {
	if f, is := n.Float(); is && f > 0 && f < 1e9 {
		return time.Duration(f * float64(time.Second))
	}
	var d backend.Duration
	if text, is := n.Text(); is && d.UnmarshalText([]byte(text)) == nil {
		return d.Std()
	}
	return 0
}
