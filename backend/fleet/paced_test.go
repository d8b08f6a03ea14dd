package fleet

import (
	"testing"
	"time"

	"sandglass/backend"
)

// TestASourceIsAsOldAsTheAnswerThatItTells: a poll that asked for nothing makes neither the source nor what it listed younger.
func TestASourceIsAsOldAsTheAnswerThatItTells(t *testing.T) {
	f := NewFolder(time.Minute)
	fold := func(after time.Duration, r *backend.Reading) *State {
		at := backend.Instant{Wall: t0.Add(after), Mono: after}
		a := []backend.Answer{{Source: "h", Started: at, Ended: at, Reading: r}}
		if after == 0 {
			a = append([]backend.Answer{{Source: "h", Started: at, Ended: at, Config: &backend.SourceConfig{Kind: "helix", Interval: 5 * time.Second, Deadline: time.Second}}}, a...)
		}
		return f.Fold(a, at)
	}
	read := func(after time.Duration) *backend.Reading {
		s := sess("s-1")
		s.ReadAt = t0
		return &backend.Reading{Source: "h", At: t0.Add(after), AnsweredAt: t0, Every: 15 * time.Second, EveryWhy: backend.Text("its lists are long"),
			Sessions: []*backend.Session{s}, Scopes: []backend.Scope{whole(backend.KindSession)}}
	}
	fold(0, read(0))
	st := fold(20*time.Second, read(20*time.Second))
	h := st.Source("h")
	if !h.LastOK.Equal(t0) || !h.DataAt().Equal(t0) || h.Interval != 15*time.Second || h.Paced.String() != "its lists are long" {
		t.Errorf("last answer %v, data of %v, every %v (%v)", h.LastOK, h.DataAt(), h.Interval, h.Paced)
	}
	if !h.LastTry.Equal(t0.Add(20*time.Second)) || h.Overdue(st.Wall) {
		t.Errorf("last tried at %v, overdue %t", h.LastTry, h.Overdue(st.Wall))
	}
	if s := st.Session(sess("s-1").Key); !st.ReadAt(&s.Meta).Equal(t0) || !st.LastCompleteList("h", backend.KindSession).Equal(t0) {
		t.Errorf("the session was read at %v, the list at %v", st.ReadAt(&s.Meta), st.LastCompleteList("h", backend.KindSession))
	}
	if st = fold(40*time.Second, read(40*time.Second)); !st.Source("h").Overdue(st.Wall) {
		t.Error("an answer of two intervals and a deadline ago is not overdue")
	}
	whole := read(41 * time.Second)
	whole.AnsweredAt, whole.Every, whole.EveryWhy = time.Time{}, 0, backend.Safe{}
	if h = fold(41*time.Second, whole).Source("h"); !h.LastOK.Equal(t0.Add(41*time.Second)) || h.Interval != 5*time.Second || !h.Paced.IsEmpty() {
		t.Errorf("all was asked: last answer %v, every %v (%v)", h.LastOK, h.Interval, h.Paced)
	}
}
