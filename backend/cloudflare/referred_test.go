package cloudflare

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// refTo is a stored reference to a sandbox.
func refTo(session, sandbox, provider string) *backend.Ref {
	return &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "states", Parent: backend.MustID(session), ID: backend.MustID("box")}},
		Session: backend.MustID(session), Sandbox: backend.MustID(sandbox), Provider: backend.Clean(provider, 40), SavedAt: backend.Known(zero)}
}

func labelOf(b *backend.Sandbox, name string) string {
	for _, l := range b.Labels {
		if l.Name.String() == name {
			return l.Value.String()
		}
	}
	return ""
}

// TestReferencesNameSandboxesOfABridge: what they name is shown as named and not as there, nothing is sent for it, and it stays for an hour
// after its last reference.
func TestReferencesNameSandboxesOfABridge(t *testing.T) {
	w := withBridge(t, nil)
	all := []*backend.Ref{refTo("s1", boxA, "cloudflare-sandbox"), refTo("s2", boxB, "cloudflare-filestore")}
	if !w.src.TakesRefs() || !w.src.Refer("states", all, true, true) || w.src.Refer("states", all, true, true) {
		t.Error("what references name is new once")
	}
	r := w.poll()
	b := sandboxOf(t, r, boxA)
	if b.Class != backend.SandboxUnknown || !b.Unlisted || b.NamedBy != backend.NamedByRef || b.BridgeID.Raw() != boxA || b.Unattributed || !r.OtherIDs {
		t.Errorf("%+v, other ids %v", b, r.OtherIDs)
	}
	if got := labelOf(b, "known by"); got != "reference s1/box of states" {
		t.Errorf("known by %q", got)
	}
	if spec := backend.KindSandbox.Spec(); spec.InUse(b) {
		t.Error("it counts as in use, so that more may be destroyed at once")
	}
	w.src.Refer("states", all[1:], true, true)
	w.clock.Add(referredFor - time.Minute)
	if r = w.poll(); labelOf(sandboxOf(t, r, boxA), "known by") != "reference s1/box of states, which is gone" || len(r.Ended) > 0 {
		t.Errorf("%v, ended %v", labelOf(sandboxOf(t, r, boxA), "known by"), r.Ended)
	}
	w.clock.Add(time.Minute)
	r = w.poll()
	if sandboxOf(t, r, boxB); len(r.Ended) != 1 || r.Ended[0] != b.Key || len(r.Sandboxes) != 6 {
		t.Errorf("ended %v, %d sandboxes", r.Ended, len(r.Sandboxes))
	}
	if r = w.poll(); len(r.Ended) > 0 {
		t.Errorf("ended again: %v", r.Ended)
	}
	if w.requests("/v1/sandbox") > 0 {
		t.Error("a request below a sandbox id was sent: it starts a container")
	}
}

// TestALaterProcessKnowsWhatReferencesNamed before it reads them itself, and for an hour at most.
func TestALaterProcessKnowsWhatReferencesNamed(t *testing.T) {
	w := withBridge(t, nil)
	w.src.Refer("states", []*backend.Ref{refTo("s1", boxA, "cloudflare")}, true, true)
	marks := w.poll().Bookmarks
	w.src = w.source(func(o *Options) { o.BridgeURL = o.URL })
	w.src.Resume(marks)
	r := w.poll()
	if b := sandboxOf(t, r, boxA); !b.Unlisted || b.NamedBy != backend.NamedByRef || labelOf(b, "known by") != "reference, which this run has not read yet" {
		t.Errorf("%+v", b)
	}
	w.src.Refer("states", []*backend.Ref{refTo("s1", boxA, "cloudflare")}, true, true)
	if got := labelOf(sandboxOf(t, w.poll(), boxA), "known by"); got != "reference s1/box of states" {
		t.Errorf("it was read again: %s", got)
	}
	w.clock.Add(referredFor)
	w.src = w.source(func(o *Options) { o.BridgeURL = o.URL })
	w.src.Resume(marks)
	if r = w.poll(); len(r.Sandboxes) != 5 {
		t.Errorf("after an hour there are %d sandboxes", len(r.Sandboxes))
	}
}

// TestReferencesThatNameNoSandboxOfThisBridge, and one that tells the address of another.
func TestReferencesThatNameNoSandboxOfThisBridge(t *testing.T) {
	w := withBridge(t, nil)
	at := func(url string) *backend.Ref {
		r := refTo("s1", boxA, "cloudflare")
		r.Agent = &backend.AgentState{Address: backend.Clean(url, 200)}
		return r
	}
	for name, c := range map[string]struct {
		ref   *backend.Ref
		alone bool
		want  bool
	}{
		"another provider":            {refTo("s1", boxA, "docker"), true, false},
		"no id of a bridge":           {refTo("s1", "sbx-9", "cloudflare-sandbox"), true, false},
		"two bridges":                 {refTo("s1", boxA, "cloudflare-sandbox"), false, false},
		"two bridges, and its own":    {at(w.url + "/"), false, true},
		"the address of another one":  {at("https://other.example.workers.dev"), true, false},
		"its only bridge, no address": {at(""), true, true},
	} {
		if got := w.src.Refer("states "+name, []*backend.Ref{c.ref}, true, c.alone); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if without := newWorld(t, nil); without.src.TakesRefs() {
		t.Error("a source without a bridge takes references")
	}
}

// TestAReferenceAttributesAnInstanceOfItsName: one row, not two. What operator routes do
// not list is named still: they list what has a container.
func TestAReferenceAttributesAnInstanceOfItsName(t *testing.T) {
	w := withBridge(t, nil)
	w.lists(byObject, []string{strings.Replace(instance(owned, "running", "2026-11-20T11:10:00Z", "2026-11-20T11:10:05Z", ""), `"image"`, `"name":"boxofacme","image"`, 1)}, nil, nil)
	w.src.Refer("states", []*backend.Ref{refTo("s1", "boxofacme", "cloudflare-sandbox")}, true, true)
	r := w.poll()
	if b := sandboxOf(t, r, "boxofacme"); b.Container.Raw() != owned || b.Unlisted || b.NamedBy != backend.NamedByRef || b.Class != backend.SandboxRunning || len(r.Sandboxes) != 5 {
		t.Errorf("%+v, %d sandboxes", b, len(r.Sandboxes))
	}
	w = withBridge(t, func(o *Options) { o.OpsPrefix = "/ops" })
	w.src.Refer("states", []*backend.Ref{refTo("s1", boxA, "cloudflare-sandbox"), refTo("s2", boxB, "cloudflare-sandbox")}, true, true)
	if r = w.poll(); sandboxOf(t, r, boxA).NamedBy != backend.NamedByRef || !r.OtherIDs {
		t.Error("its operator routes do not answer yet, and the reference names nothing")
	}
	w.set("/ops/sandboxes", ok(`{"sandboxes":[{"id":"`+boxB+`","container":"c-9","state":"healthy"}]}`))
	r = w.poll()
	if b := sandboxOf(t, r, boxB); b.NamedBy != backend.NamedByRoutes || b.Unlisted || r.OtherIDs || len(r.Ended) != 0 {
		t.Errorf("%+v, ended %v", b, r.Ended)
	}
	b := sandboxOf(t, r, boxA)
	if !b.Unlisted || b.NamedBy != backend.NamedByRef || b.Class != backend.SandboxUnknown || len(b.Labels) != 2 || b.Labels[1].Value.String() != "do not list it" {
		t.Errorf("what the routes do not list: %+v", b)
	}
	w.src.Refer("states", nil, true, true)
	w.clock.Add(referredFor)
	if r = w.poll(); len(r.Ended) != 1 || r.Ended[0].ID.Raw() != boxA {
		t.Errorf("nothing names it any more, and %v ended", r.Ended)
	}
}

// TestReferencesNameABoundedNumber: the newest, and what is left out is said.
func TestReferencesNameABoundedNumber(t *testing.T) {
	w := withBridge(t, nil)
	id := func(i int) string {
		return strings.NewReplacer("0", "a", "1", "b", "8", "c", "9", "d").Replace(fmt.Sprintf("box%d", i))
	}
	var all []*backend.Ref
	for i := range maxReferred + 20 {
		r := refTo(fmt.Sprintf("s%d", i), id(i), "cloudflare-sandbox")
		r.SavedAt = backend.Known(zero.Add(time.Duration(i) * time.Second))
		all = append(all, r)
	}
	w.src.Refer("states", all, true, true)
	r := w.poll()
	n := 0
	for _, b := range r.Sandboxes {
		if b.Unlisted {
			n++
		}
	}
	if n != maxReferred || sandboxOf(t, r, id(maxReferred+19)) == nil || !strings.Contains(backend.Join(r.Notes, "\n").String(), "20 more sandboxes that are not shown") {
		t.Errorf("%d are named, notes %v", n, r.Notes)
	}
	w.src.Refer("states", nil, true, true)
	w.src.Refer("states", all[:1], true, true)
	if got := len(w.src.mentions["states"]); got > maxReferred+1 {
		t.Errorf("%d are remembered whose references are gone", got)
	}
}
