package subjects

import (
	"time"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
)

// DiffersJSON is what differs, of everything or of one subject.
type DiffersJSON struct {
	// Since is with when the present is compared; where a source was first read later, with its first readings.
	Since   views.Time         `json:"since"`
	Alerts  []string           `json:"alerts"`  // ids of those that began since, the worst first
	Changes []ChangeJSON       `json:"changes"` // oldest first
	States  []StateDiffersJSON `json:"states"`
	New     map[string]int     `json:"new"` // subjects that were first read since, by kind
	Counts  []CountDiffersJSON `json:"counts"`
	Fields  []FieldsDifferJSON `json:"fields"` // of one subject
}

// ChangeJSON is a deploy, version, restart or action.
type ChangeJSON struct {
	At     views.Time   `json:"at"`
	Source string       `json:"source"` // empty: of the site
	Text   backend.Safe `json:"text"`
}

// StateDiffersJSON is a subject whose state is another one.
type StateDiffersJSON struct {
	Key backend.Key `json:"key"`
	Was string      `json:"was"` // listed where it is gone
	Now string      `json:"now"`
	At  views.Time  `json:"at"` // when that was read
}

// CountDiffersJSON is a level, or a rate as 1.0/min.
type CountDiffersJSON struct {
	Source string `json:"source"`
	Name   string `json:"name"`
	Was    string `json:"was"`
	Now    string `json:"now"` // unknown: not read now
}

// FieldsDifferJSON are the fields in which an earlier reading differs from the newest.
type FieldsDifferJSON struct {
	Read   views.Time         `json:"read"`
	Fields []FieldDiffersJSON `json:"fields"`
}

// FieldDiffersJSON is a field under its name in get; null: that reading does not have it.
type FieldDiffersJSON struct {
	Name string  `json:"name"`
	Was  *string `json:"was"`
	Now  *string `json:"now"`
}

// WhatDiffers is what Differs writes, for programs; nothing is left out.
func WhatDiffers(key backend.Key, f *views.Frame) DiffersJSON {
	base := baseline{f.Snapshot, f.Now.Add(-DiffersSpan)}
	out := DiffersJSON{Since: views.At(base.then), Alerts: []string{}, Changes: []ChangeJSON{}, States: []StateDiffersJSON{}, New: map[string]int{},
		Counts: []CountDiffersJSON{}, Fields: []FieldsDifferJSON{}}
	about := map[backend.Key]bool{key: true}
	if a := views.FindAlert(f.Board, key); a != nil {
		for i := range a.Subjects {
			about[a.Subjects[i].Key] = true
		}
	}
	all := key == (backend.Key{})
	for _, a := range alertsSince(f.Snapshot, base.then, key) {
		out.Alerts = append(out.Alerts, a.ID)
	}
	for _, c := range f.Board.Changes(base.then, f.Now) {
		if h := f.State.Source(c.Source); all || h == nil || c.Source == key.Source || h.ReportsOn(key.Source) {
			out.Changes = append(out.Changes, ChangeJSON{views.At(c.At), c.Source, c.Text})
		}
	}
	for _, k := range backend.SubjectKinds() {
		if k.Copy != nil {
			out.states(k, base, f, func(k backend.Key) bool { return all || about[k] })
		}
	}
	if all {
		counts, _ := countsThatDiffer(f.Snapshot, base.then)
		for _, d := range counts {
			out.Counts = append(out.Counts, CountDiffersJSON{d.source, string(d.line.Name), d.was, d.now})
		}
	}
	if e := f.State.Entity(key); !all && e != nil {
		out.fields(e, base.of(key.Source), f)
	}
	return out
}

func (out *DiffersJSON) states(k *backend.SubjectKind, base baseline, f *views.Frame, about func(backend.Key) bool) {
	differ, fresh := base.subjectsThatDiffer(k, f.Board)
	for _, d := range differ {
		if about(d.key) {
			out.States = append(out.States, StateDiffersJSON{d.key, d.was, d.now, views.At(d.at)})
		}
	}
	if fresh > 0 && about(backend.Key{}) {
		out.New[k.Plural] = fresh
	}
}

func (out *DiffersJSON) fields(e backend.Entity, then time.Time, f *views.Frame) {
	w := &writer{Doc: &kit.Doc{}, f: f}
	for _, x := range comparedWith(f.State.Earlier.Of(e.EntityMeta().Key), then) {
		of := FieldsDifferJSON{Read: views.At(x.Entity.EntityMeta().ReadAt), Fields: []FieldDiffersJSON{}}
		for _, d := range w.differing(x.Entity, e) {
			of.Fields = append(of.Fields, FieldDiffersJSON{d.name, told(d.was), told(d.now)})
		}
		out.Fields = append(out.Fields, of)
	}
}

func told(text string) *string {
	if text == absentField {
		return nil
	}
	return &text
}
