package agentuity

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// emptied is a world in which a former process saw a whole directory that has one file now, and the process that reads it now.
func emptied(t *testing.T, events string) *world {
	w := newWorld(t, nil)
	w.poll()
	w.src.Listen([]backend.Report{nudgeFailed(w, healthyHub)})
	marks := w.poll().Bookmarks
	w.clock.Add(time.Hour)
	w.src = w.source(nil)
	w.src.Resume(marks)
	w.set("GET /fs/list/"+healthyID, ok(`{"success":true,"data":{"files":[{"path":".env"}]}}`))
	w.set("GET /sandbox/sandboxes/"+healthyID+"/events", ok(events))
	w.src.Listen([]backend.Report{nudgeFailed(w, healthyHub)})
	return w
}

// TestALaterProcessSeesLostFiles: what a directory held is kept, so that a process which was not there while the sandbox slept sees
// that most of it is gone (agentuity/sdk#1161); so do those after it.
func TestALaterProcessSeesLostFiles(t *testing.T) {
	w := emptied(t, `{"success":true,"data":{"events":[{"eventId":"evt_s","type":"suspend","event":{},"createdAt":"2026-04-04T01:30:00Z"},
		{"eventId":"evt_r","type":"lifecycle:resumed","event":{"deferred":false},"createdAt":"2026-04-04T01:40:00Z"}]}}`)
	var marks []backend.Bookmark
	for range 2 {
		r := w.poll()
		marks = r.Bookmarks
		v := verdictOf(t, sandboxOf(t, r, healthyID), backend.PlaneList)
		if v.Outcome != backend.OutcomeFailed || v.Kind != backend.FailFilesystemMissing || !strings.Contains(v.What.String(), "/home/agentuity has 1 entry, and had 4 before it slept") {
			t.Fatalf("%+v", v)
		}
		if had, _, lost := w.src.SawFiles(backend.MustID(healthyID), 1, w.clock.Now()); had != 4 || !lost {
			t.Errorf("what acts is told %d, %t", had, lost)
		}
		w.clock.Add(10 * time.Minute)
		w.src = w.source(nil)
		w.src.Resume(marks)
		w.src.Listen([]backend.Report{nudgeFailed(w, healthyHub)})
	}
	w.set("GET /fs/list/"+healthyID, readReply(t, "healthy_fs_list"))
	if v := verdictOf(t, sandboxOf(t, w.poll(), healthyID), backend.PlaneList); v.Outcome != backend.OutcomeOK {
		t.Errorf("with its files again: %+v", v)
	}
}

// TestFilesRemovedAwakeAreNotLost: without a sleep in between, its own commands removed them; where its events are not read, that is
// not known.
func TestFilesRemovedAwakeAreNotLost(t *testing.T) {
	w := emptied(t, `{"success":true,"data":{"events":[{"eventId":"evt_s","type":"suspend","event":{},"createdAt":"2026-04-04T00:30:00Z"}]}}`)
	v := verdictOf(t, sandboxOf(t, w.poll(), healthyID), backend.PlaneList)
	if v.Outcome != backend.OutcomeOK || !strings.HasPrefix(v.What.String(), "/home/agentuity has 1 entry") {
		t.Errorf("%+v", v)
	}
	if had, _, lost := w.src.SawFiles(backend.MustID(healthyID), 1, w.clock.Now()); had != 1 || lost {
		t.Errorf("what acts is told %d, %t", had, lost)
	}
	w = emptied(t, `{"success":true,"data":{}}`)
	v = verdictOf(t, sandboxOf(t, w.poll(), healthyID), backend.PlaneList)
	if v.Outcome != backend.OutcomeUnknown || !strings.Contains(v.What.String(), "has 1 entry, and had 4 at 2026-04-04 01:02Z; whether it slept since is not read yet") {
		t.Errorf("%+v", v)
	}
}

// TestWhatOfFilesIsForgotten: of a sandbox that is no more, nothing is kept, and of many the newest stay.
func TestWhatOfFilesIsForgotten(t *testing.T) {
	w := newWorld(t, nil)
	w.poll()
	w.src.SawFiles(backend.MustID("sbx_gone"), 9, w.clock.Now())
	w.src.SawFiles(backend.MustID(healthyID), 9, w.clock.Now())
	var kept []string
	for _, m := range w.poll().Bookmarks {
		if strings.HasPrefix(m.File, markFiles) {
			kept = append(kept, m.File)
		}
	}
	if len(kept) != 1 || kept[0] != markFiles+healthyID {
		t.Errorf("kept %q", kept)
	}
}
