package ui

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sandglass/views/keys"
)

// Of the row under the cursor its name, its reading as JSON, and all ids of an alert are copied; on no row it says so.
func TestCopyOf(t *testing.T) {
	m, _, _ := benchModel(3)
	defer m.Close()
	at := func() *scope {
		return &scope{viewer: &m.viewer, frame: &m.frame, screen: m.screen(), keymap: m.keymap, acting: &m.acting}
	}
	if r := at().copyOf("name"); r.Copy == "" || r.Say != "name sent to the clipboard" {
		t.Errorf("%+v", r)
	}
	r := at().copyOf("json")
	var got struct{ Key struct{ Kind, ID string } }
	if err := json.Unmarshal([]byte(r.Copy), &got); err != nil || got.Key.Kind != "workspace" || !strings.Contains(r.Copy, "\n  ") || r.Say != "reading as JSON sent to the clipboard" {
		t.Errorf("%v: %+v", err, r)
	}
	m.do(keys.Intent{Action: keys.Mark})
	m.do(keys.Intent{Action: keys.Down})
	m.do(keys.Intent{Action: keys.Mark})
	if r := at().copyOf("ids"); strings.Count(r.Copy, "\n") != 1 || r.Say != "2 ids sent to the clipboard" {
		t.Errorf("%+v", r)
	}
	empty, _, _ := benchModel(0)
	defer empty.Close()
	x := &scope{viewer: &empty.viewer, frame: &empty.frame, screen: empty.screen(), keymap: empty.keymap, acting: &empty.acting}
	if r := x.copyOf("ids"); r.Copy != "" || r.Say != noRow {
		t.Errorf("%+v", r)
	}
}

// The ids of an alert are those of all its subjects.
func TestCopyIdsOfAnAlert(t *testing.T) {
	m := New(Viewer{Name: "a", Size: Size{120, 40}, Now: time.Now}, incidentFeed())
	defer m.Close()
	m.do(keys.Intent{Action: keys.Top})
	x := &scope{viewer: &m.viewer, frame: &m.frame, screen: m.screen(), keymap: m.keymap, acting: &m.acting}
	a := x.alert()
	if a == nil || len(a.Subjects) < 2 {
		t.Fatal("no alert of several subjects under the cursor")
	}
	r := x.copyOf("ids")
	if n := len(strings.Split(r.Copy, "\n")); n != len(a.Subjects) {
		t.Errorf("%d ids of %d subjects: %s", n, len(a.Subjects), r.Say)
	}
}
