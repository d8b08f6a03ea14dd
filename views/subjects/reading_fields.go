package subjects

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// mostFieldsDiffering is how many fields of a reading are listed.
const mostFieldsDiffering = 24

// readingsDiffer compares the newest reading of a subject with the one of half an hour before and with the one before it.
func (w *writer) readingsDiffer(e backend.Entity, then time.Time) {
	m := e.EntityMeta()
	earlier := w.f.State.Earlier.Of(m.Key)
	if len(earlier) == 0 {
		rows := w.f.State.Rows(m.Key.Kind).Len()
		switch spec := m.Key.Kind.Spec(); {
		case w.f.State.Earlier == nil: // of a recording
		case rows > fleet.MostEarlier:
			w.Field("readings", dim("earlier ones are kept of up to "+kit.Count(fleet.MostEarlier, spec.Name, spec.Plural)+"; here are "+kit.Number(rows)))
		default:
			w.Field("readings", dim("each since "+Clock(m.FirstSeen, w.f.Now)+" says the same"))
		}
		return
	}
	for _, x := range comparedWith(earlier, then) {
		w.fieldsDiffer(x, e)
	}
}

// comparedWith are the readings that the newest is compared with: the one that held 30 minutes before, or is the first that was read
// since, and the one before it.
func comparedWith(earlier []fleet.EarlierReading, then time.Time) []fleet.EarlierReading {
	last := len(earlier) - 1
	for i, x := range earlier[:max(last, 0)] {
		if x.Until.After(then) {
			return []fleet.EarlierReading{earlier[i], earlier[last]}
		}
	}
	return earlier[max(last, 0):]
}

// fieldsDiffer lists the fields in which two readings of one subject differ. What differs at each reading is only counted.
func (w *writer) fieldsDiffer(x fleet.EarlierReading, now backend.Entity) {
	fields := w.differing(x.Entity, now)
	at := x.Entity.EntityMeta().ReadAt
	w.Under("Differs from the reading of "+Clock(at, w.f.Now)+", "+backend.Age(w.f.Now.Sub(at))+" ago", func() {
		listed, passing := 0, ""
		if len(fields) == 0 {
			passing = ", when it was read"
		}
		for _, d := range fields {
			name := strings.ReplaceAll(strings.ReplaceAll(strings.TrimPrefix(d.name, "observed.verdicts."), ".", " "), "_", " ")
			if d.passes() {
				passing += ", " + name
			} else if listed++; listed <= mostFieldsDiffering {
				w.Field("", normal(name), dim("  "+d.was+" → "), kit.Span{Tone: theme.Strong, Text: d.now})
			}
		}
		if more := listed - mostFieldsDiffering; more > 0 {
			w.Field("", dim("and "+kit.Number(more)+" more"))
		}
		if passing != "" {
			w.Line(dim("and in times, live figures or ids: " + passing[2:]))
		}
	})
}

// passes reports whether it is of a moment: a time, a live figure, how it was read, or a sentence that differs in numbers and ids alone.
func (d *fieldDifference) passes() bool {
	return d.time || strings.HasPrefix(d.name, "usage.") || strings.HasSuffix(d.name, ".passive") ||
		strings.Count(d.was, " ") >= 3 && alerts.NormaliseCause(d.was) == alerts.NormaliseCause(d.now)
}

// differing are the fields in which two readings of one subject differ: as they are printed, else as their source wrote them.
func (w *writer) differing(was, now backend.Entity) []fieldDifference {
	if fields := w.fieldsThatDiffer(documentOf(was), documentOf(now)); len(fields) > 0 {
		return fields
	}
	return w.fieldsThatDiffer(rawOf(was), rawOf(now))
}

// amount is the value of a field as people read it.
func (w *writer) amount(text string) string {
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return Clock(at, w.f.Now)
	}
	return cmp.Or(text, absentField)
}

// fieldDifference is a field of two readings.
type fieldDifference struct {
	name, was, now string
	time           bool
}

// told reports whether both readings have the field.
func (d *fieldDifference) told() bool { return d.was != absentField && d.now != absentField }

// absentField is how a field reads that a reading does not have.
const absentField = "not told"

func (w *writer) fieldsThatDiffer(was, now map[string]string) (out []fieldDifference) {
	names := map[string]string{}
	maps.Copy(names, now)
	maps.Copy(names, was)
	for name := range names {
		d := fieldDifference{name: name, was: w.amount(was[name]), now: w.amount(now[name])}
		if d.time = d.was != was[name] && was[name] != "" || d.now != now[name] && now[name] != ""; d.was != d.now {
			out = append(out, d)
		}
	}
	stable.Sort(out, func(a, b fieldDifference) int {
		if a.told() != b.told() { // what both readings tell comes first
			if a.told() {
				return -1
			}
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	return out
}

// documentOf is an entity as get -o json prints it, by the path of each field, without what the console says of the
// reading itself and without its log.
func documentOf(e backend.Entity) map[string]string {
	text, err := views.JSON(e)
	if err != nil {
		return nil
	}
	return leaves(text, "key", "rev", "first_seen", "history", "raw", "read_at", "stale", "stale_why", "log_tail")
}

// rawOf is what the source wrote, where that is a JSON object.
func rawOf(e backend.Entity) map[string]string { return leaves([]byte(e.EntityMeta().Raw.String())) }

// leaves lists the values of a JSON object by their paths. Elements of a list go by their name where they have one.
func leaves(text []byte, without ...string) map[string]string {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var all map[string]any
	if d.Decode(&all) != nil {
		return nil
	}
	for _, name := range without {
		delete(all, name)
	}
	out := map[string]string{}
	leavesOf("", all, out)
	return out
}

func leavesOf(path string, v any, out map[string]string) {
	under := func(name string, x any) {
		if path != "" {
			name = path + "." + name
		}
		leavesOf(name, x, out)
	}
	switch x := v.(type) {
	case map[string]any:
		for name, y := range x {
			if name != "at" && name != "took" && name != "last_ok" { // when it was read
				under(name, y)
			}
		}
	case []any:
		for i, y := range x {
			name, rest := element(i, y)
			under(name, rest)
		}
	case nil: // not known
	case json.Number:
		f, err := x.Float64()
		if out[path] = x.String(); err == nil && f != math.Trunc(f) {
			out[path] = strconv.FormatFloat(f, 'g', 4, 64)
		}
	default:
		out[path] = backend.Clean(fmt.Sprint(x), 80).String()
	}
}

// element is what an element of a list goes by, and the rest of it: by its name, so that one more at the front does not move
// the others.
func element(i int, v any) (name string, rest any) {
	if x, is := v.(map[string]any); is {
		for _, field := range []string{"name", "plane", "id", "pid"} {
			if called, told := x[field]; told {
				delete(x, field)
				return fmt.Sprint(called), x
			}
		}
	}
	return fmt.Sprint(i + 1), v
}
