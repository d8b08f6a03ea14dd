package subjects

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestReadingJSONIsDocumented holds that docs/json.md has a section for every type in a Reading that names
// every field, and no field that does not exist. No document prints bookmarks.
func TestReadingJSONIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for part := range strings.SplitSeq(string(page), "\n##") {
		title, body, _ := strings.Cut(part, "\n")
		sections[strings.TrimSpace(strings.TrimLeft(title, "#"))] = body
	}
	seen := map[reflect.Type]bool{}
	var visit func(ty reflect.Type)
	visit = func(ty reflect.Type) {
		for ty.Kind() == reflect.Pointer || ty.Kind() == reflect.Slice {
			ty = ty.Elem()
		}
		if strings.HasPrefix(ty.Name(), "Value[") {
			visit(ty.Field(0).Type)
			return
		}
		if ty.Kind() != reflect.Struct || seen[ty] || ty == reflect.TypeFor[time.Time]() ||
			ty == reflect.TypeFor[backend.Safe]() || ty == reflect.TypeFor[backend.Bookmark]() || ty == reflect.TypeFor[backend.ID]() || ty.PkgPath() != "sandglass/backend" {
			return
		}
		seen[ty] = true
		if ty == reflect.TypeFor[backend.Observation]() {
			ty = reflect.TypeFor[backend.ObservationJSON]()
		}
		documented(t, sections, strings.TrimSuffix(ty.Name(), "JSON"), ty)
		for i := range ty.NumField() {
			visit(ty.Field(i).Type)
		}
	}
	visit(reflect.TypeFor[backend.Reading]())
	if len(seen) < 20 {
		t.Errorf("found only %d types", len(seen))
	}
	documented(t, sections, "Source", reflect.TypeFor[SourceItem]())
	documented(t, sections, "Place", reflect.TypeFor[placeItem]())
	documented(t, sections, "Document of diff", reflect.TypeFor[DiffersJSON]())
	documented(t, sections, "PlaceUser", reflect.TypeFor[placeUser]())
}

var fieldName = regexp.MustCompile("`([a-z0-9_]+)`")

func documented(t *testing.T, sections map[string]string, title string, ty reflect.Type) {
	body, ok := sections[title]
	if !ok {
		t.Errorf("there is no section %s", title)
		return
	}
	named := map[string]bool{}
	for line := range strings.SplitSeq(body, "\n") {
		if row, ok := strings.CutPrefix(line, "- `"); ok {
			names, _, _ := strings.Cut("`"+row, ": ")
			for _, m := range fieldName.FindAllStringSubmatch(names, -1) {
				named[m[1]] = true
			}
		}
	}
	fields := map[string]bool{}
	for i := range ty.NumField() {
		f := ty.Field(i)
		if f.Anonymous && f.Type == reflect.TypeFor[SourceJSON]() {
			for j := range f.Type.NumField() {
				if jsonName(f.Type.Field(j)) != "-" {
					fields[jsonName(f.Type.Field(j))] = true
				}
			}
		} else if !f.Anonymous && f.IsExported() && jsonName(f) != "-" {
			fields[jsonName(f)] = true
		}
	}
	for name := range fields {
		if !named[name] {
			t.Errorf("%s: `%s` is not documented", title, name)
		}
	}
	for name := range named {
		if !fields[name] {
			t.Errorf("%s: `%s` is documented and does not exist", title, name)
		}
	}
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
