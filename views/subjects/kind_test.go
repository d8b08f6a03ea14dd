package subjects

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/theme"
)

// example is the JSON of a value of a type of which everything is known; text collects the texts and ids in it.
func example(ty reflect.Type, name string, text *[]string) any {
	noted := func(s string) string {
		*text = append(*text, s)
		return s
	}
	switch {
	case ty == reflect.TypeFor[backend.Safe]():
		return noted("text-of-" + name)
	case ty == reflect.TypeFor[backend.ID]():
		return noted("id-of-" + name)
	case ty == reflect.TypeFor[time.Time]():
		return noon.Add(-time.Hour)
	case ty == reflect.TypeFor[time.Duration]():
		return 90 * time.Minute
	case ty == reflect.TypeFor[backend.Plane]():
		return string(backend.PlaneExec)
	case ty == reflect.TypeFor[backend.Outcome]():
		return string(backend.OutcomeFailed)
	case ty == reflect.TypeFor[backend.Meta]():
		return map[string]any{"read_at": noon, "raw": noted("text-of-" + name + ".raw")}
	case strings.HasPrefix(ty.Name(), "Value["):
		return example(ty.Field(0).Type, name, text)
	}
	switch ty.Kind() {
	case reflect.Struct:
		fields := map[string]any{}
		for i := range ty.NumField() {
			f := ty.Field(i)
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch value := any(nil); {
			case !f.IsExported() || tag == "-":
			case name+"."+tag == "sandbox.observed.verdicts.destroyed", name+"."+tag == "sandbox.observed.verdicts.destroyed_how": // nothing is shown of the container before it
			case f.Anonymous && tag == "":
				value = example(f.Type, name, text)
				for k, v := range value.(map[string]any) {
					fields[k] = v
				}
			default:
				fields[tag] = example(f.Type, name+"."+tag, text)
			}
		}
		return fields
	case reflect.Slice:
		return []any{example(ty.Elem(), name, text)}
	case reflect.Pointer:
		return example(ty.Elem(), name, text)
	case reflect.Bool:
		return true
	case reflect.String:
		return ""
	}
	return 7
}

// exampleOf is a State with one entity of a kind of which everything is known, its key, and the texts in it.
func exampleOf(t *testing.T, spec *backend.SubjectKind) (*fleet.State, backend.Key, []string) {
	t.Helper()
	reading := reflect.TypeFor[backend.Reading]()
	for i := range reading.NumField() {
		f := reading.Field(i)
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag != spec.List {
			continue
		}
		text := []string{"id-of-" + string(spec.Kind) + ".key.id"}
		entity := example(f.Type.Elem().Elem(), string(spec.Kind), &text).(map[string]any)
		key := backend.Key{Kind: spec.Kind, Source: "src", ID: backend.MustID("id-of-" + string(spec.Kind) + ".key.id")}
		if len(spec.Parents) > 0 {
			key.Parent = backend.MustID("id-of-" + string(spec.Kind) + ".key.parent")
		}
		if len(spec.Parents) > 0 && entity[string(spec.Parents[0])] != nil { // it names its parent itself
			key.Parent = backend.MustID(entity[string(spec.Parents[0])].(string))
		}
		entity["key"] = key
		raw, err := json.Marshal(map[string]any{"source": "src", spec.List: []any{entity}, "scopes": []backend.Scope{{Kind: spec.Kind, Complete: true}}})
		if err != nil {
			t.Fatal(err)
		}
		r := &backend.Reading{}
		if err := json.Unmarshal(raw, r); err != nil {
			t.Fatalf("%s: %v in %s", spec.Kind, err, raw)
		}
		st := fleet.NewFolder(time.Minute).Fold([]backend.Answer{
			{Source: "src", Config: &backend.SourceConfig{Kind: "test", Interval: time.Minute}}, {Source: "src", Reading: r}}, backend.Instant{Wall: noon})
		return st, key, text
	}
	t.Fatalf("a Reading has no list %q", spec.List)
	return nil, backend.Key{}, nil
}

// elsewhere are texts that a details page has in another form.
var elsewhere = []string{
	"id-of-sandbox.key.id",                                                // a sandbox with a name is known by that
	"id-of-sandbox.mounts.raw_source",                                     // drawn as mounts.source
	"id-of-tmpdir.key.id", "id-of-tmpdir.raw_path", "text-of-tmpdir.root", // all in its path
	"id-of-host.roots.waiting.key.parent", "id-of-host.roots.waiting.key.id", // counted; `clean --list` names them
	"text-of-host.roots.waiting.path", "text-of-host.roots.waiting.aside",
	"id-of-ref.workspace", // the id in its key
	"id-of-sandbox.lifecycle.id",
	"id-of-workspace.moved",                           // the fleet sets it, from two readings
	"text-of-sandbox.observed.verdicts.destroyed_how", // in the text of that verdict, and with the files that it cost
}

// TestDetailsShowWhatIsKnown holds for every kind in backend's table that its details page exists and shows each text of an
// entity of which everything is known.
func TestDetailsShowWhatIsKnown(t *testing.T) {
	for _, spec := range backend.SubjectKinds() {
		if spec.Copy == nil {
			continue
		}
		st, key, text := exampleOf(t, spec)
		f := &views.Frame{Snapshot: views.NewSnapshot(noon, st, nil), Theme: theme.New(theme.NoColours, theme.ASCII)}
		if st.Entity(key) == nil {
			t.Fatalf("%s: the State has no %v", spec.Kind, key)
		}
		doc, _ := Doc(key, f)
		page := Title(key, f) + "\n" + strings.Join(doc.Layout(f.Theme, 2000), "\n")
		if strings.Contains(page, "no longer there") || strings.Contains(page, "Gone since") || len(doc.Layout(f.Theme, 100)) < 3 {
			t.Errorf("%s: its details page is\n%s", spec.Kind, page)
		}
		for _, s := range text {
			if !strings.Contains(page, s) && !slices.Contains(elsewhere, s) {
				t.Errorf("%s: its details page lacks %s", spec.Kind, s)
			}
		}
	}
}

// TestEveryKindIsInTheTable holds that views know each kind of backend's table, once, and list what has entities under the
// word that backend gives.
func TestEveryKindIsInTheTable(t *testing.T) {
	for _, spec := range backend.SubjectKinds() {
		n := 0
		for _, k := range kinds {
			if k.is() != spec.Kind {
				continue
			}
			n++
			if l := k.listing(); len(l.Heads) > 0 && l.Kind != spec.List {
				t.Errorf("%s is listed as %s, want %s", spec.Kind, l.Kind, spec.List)
			}
		}
		if n != 1 {
			t.Errorf("%s is %d times in the table", spec.Kind, n)
		}
	}
}
