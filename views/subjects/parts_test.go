package subjects

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
)

// A list without room for all of it ends at the border of a part and counts the rest; where no part fits it is counted whole.
func TestAListIsCutBetweenItsParts(t *testing.T) {
	c := Cell{Text: backend.Text("app=web tier=front env=prod"), Short: backend.Text("3 labels"),
		Parts: []backend.Safe{backend.Text("app=web"), backend.Text("tier=front"), backend.Text("env=prod")}}
	for w, want := range map[int]string{
		40: "app=web tier=front env=prod", 27: "app=web tier=front env=prod", 26: "app=web tier=front +1", 21: "app=web tier=front +1",
		20: "app=web +2", 10: "app=web +2", 9: "3 labels", 0: "3 labels",
	} {
		if got := c.Fitting(w); got != want {
			t.Errorf("in %d cells %q, want %q", w, got, want)
		}
	}
	box := &backend.Sandbox{Labels: []backend.Field{{Name: backend.Text("app"), Value: backend.Text("web")}, {Name: backend.Text("b"), Value: backend.Text("x y")}}}
	set := Sandboxes()
	cell := set.Columns[set.Column("labels")].Cell(box, nil)
	if cell.Text.String() != "app=web b=x y" || cell.Fitting(10) != "app=web +1" {
		t.Errorf("labels: %q, in 10 cells %q", cell.Text, cell.Fitting(10))
	}
}

// A session without an error of its own shows the cause of the alert that its ALERT column names, in few words where there is little room.
func TestAProblemOfASessionIsTheCauseOfItsAlert(t *testing.T) {
	key := func(kind backend.Kind, parent, id string) backend.Key {
		k := backend.Key{Kind: kind, Source: "helix", ID: backend.MustID(id)}
		if parent != "" {
			k.Parent = backend.MustID(parent)
		}
		return k
	}
	ill := &backend.Session{Meta: backend.Meta{Key: key(backend.KindSession, "", "s-ill")}}
	own := &backend.Session{Meta: backend.Meta{Key: key(backend.KindSession, "", "s-own")}}
	own.AnswerText = backend.Text("its answer is no JSON")
	well := &backend.Session{Meta: backend.Meta{Key: key(backend.KindSession, "", "s-well")}}
	alert := &alerts.Alert{Rule: "contradiction", Source: "helix", Severity: alerts.SeverityCritical, State: alerts.StateFiring,
		Cause:    backend.Text("reported running, but its working directory is missing"),
		Subjects: []alerts.Subject{{Key: key(backend.KindWorkspace, "s-ill", "box")}, {Key: key(backend.KindWorkspace, "s-own", "box")}}}
	c := views.NewSnapshot(time.Unix(1, 0), &fleet.State{Sessions: fleet.NewTable(ill, own, well)}, &alerts.Board{Alerts: []*alerts.Alert{alert}})
	set := Sessions()
	at := set.Column("problem")
	for s, want := range map[*backend.Session]string{ill: "no working directory", own: "its answer is no JSON", well: Nothing} {
		cell := set.Columns[at].Cell(s, c)
		if got := cell.Fitting(22); got != want {
			t.Errorf("%s: %q, want %q", s.Key.ID.Safe(), got, want)
		}
	}
	if !set.Columns[at].Needed(c) || set.Columns[at].Needed(views.NewSnapshot(time.Unix(1, 0), &fleet.State{Sessions: fleet.NewTable(well)}, &alerts.Board{})) {
		t.Error("the column is not there exactly where it has something to say")
	}
}
