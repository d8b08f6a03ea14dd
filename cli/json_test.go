package cli_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/exp/golden"
)

const twoSources = `
environment = "prod-eu"
[[source]]
id = "a"
kind = "fake"
failing = 3
working = 1
[[source]]
id = "b"
kind = "fake"
mode = "down"
`

func TestCheckJSON(t *testing.T) {
	out, errs, code := run(t, twoSources, "check", "-o", "json")
	if code != 2 || errs != "" {
		t.Errorf("exit code %d, stderr %q", code, errs)
	}
	golden.RequireEqual(t, []byte(out))
	again, _, _ := run(t, twoSources, "check", "-o", "json")
	if again != out {
		t.Errorf("the second run printed something else:\n%s", again)
	}
}

func TestCheckText(t *testing.T) {
	out, _, code := run(t, twoSources, "check")
	if code != 2 {
		t.Errorf("exit code %d", code)
	}
	golden.RequireEqual(t, []byte(out))
}

// shape is what a JSON value may be: "string", "number", "time", "null", a list of one shape, or an object.
type shape struct {
	kinds  string // words separated by |
	list   *shape
	object map[string]shape
	counts bool // an object from any word to a number
	// optional says that the field is left out where there is nothing to say.
	optional bool
}

func is(kinds string) shape                { return shape{kinds: kinds} }
func listOf(s shape) shape                 { return shape{list: &s} }
func object(fields map[string]shape) shape { return shape{object: fields} }
func optional(s shape) shape               { s.optional = true; return s }
func orNull(s shape) shape                 { s.kinds = "null"; return s }
func oneOfWords(words ...string) shape     { return shape{kinds: "=" + strings.Join(words, "|=")} }
func checkShape() shape {
	bounds := object(map[string]shape{"earliest": is("time|null"), "latest": is("time|null")})
	state := oneOfWords("pending", "firing", "held", "ended")
	return object(map[string]shape{
		"schema": is("number"), "time": is("time"), "environment": is("string"), "exit_code": is("number"),
		"sources": listOf(object(map[string]shape{"id": is("string"), "kind": is("string"), "status": oneOfWords("ok", "degraded", "down"),
			"error": is("string|null"), "age_seconds": is("number|null"), "blind": listOf(is("string"))})),
		"alerts": listOf(object(map[string]shape{"id": is("string"), "rule": is("string"), "state": state,
			"severity": oneOfWords("info", "warning", "critical"), "cause": is("string"), "cause_fingerprint": is("string"),
			"source": is("string"), "since": is("time"), "since_bounds": bounds, "runbook": is("string|null"),
			"acknowledged":  orNull(object(map[string]shape{"owner": is("string"), "reason": is("string"), "at": is("time"), "until": is("time|null")})),
			"silenced":      orNull(object(map[string]shape{"id": is("string"), "owner": is("string"), "reason": is("string"), "until": is("time|null")})),
			"subject_count": is("number"),
			"subjects": listOf(object(map[string]shape{
				"kind": oneOfWords("session", "workspace", "sandbox", "execution", "job", "tmpdir", "host", "source"),
				"id":   is("string"), "state": state, "since": is("time|null")})),
			"evidence": listOf(object(map[string]shape{"text": is("string"), "value": is("number|null"), "unit": is("string"),
				"source": is("string"), "at": is("time|null"), "trend": optional(listOf(is("number"))), "trend_seconds": optional(is("number"))})),
			"variants": optional(object(map[string]shape{"count": is("number"), "text": is("string"), "list": listOf(object(map[string]shape{
				"values": listOf(object(map[string]shape{"label": is("string"), "value": is("string")})), "subjects": is("number")}))})),
			"why": optional(is("string")), "confirmed": optional(is("time")),
			"lapsed": optional(object(map[string]shape{"owner": is("string"), "reason": is("string"), "at": is("time"), "until": is("time"),
				"why": is("string")})),
			"flapping": optional(is("bool")), "inhibited_by": optional(is("string")),
			"direction": optional(object(map[string]shape{"heading": oneOfWords("worse", "steady", "ending"), "seconds": is("number|null")})),
		})),
		"summary": object(map[string]shape{"workspaces": {counts: true}, "sandboxes": {counts: true}, "alerts": {counts: true}}),
	})
}

// walk lists every way in which a value is not of the shape: unknown, missing and mistyped fields.
func walk(at string, v any, s shape) []string {
	if v == nil && slices.Contains(strings.Split(s.kinds, "|"), "null") {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		return walkObject(at, v, s)
	case []any:
		if s.list == nil {
			return []string{at + " is a list"}
		}
		var bad []string
		for i, e := range v {
			bad = append(bad, walk(fmt.Sprintf("%s[%d]", at, i), e, *s.list)...)
		}
		return bad
	case string:
		for k := range strings.SplitSeq(s.kinds, "|") {
			parsed, err := time.Parse(time.RFC3339, v)
			if k == "string" || k == "="+v || k == "time" && err == nil && strings.HasSuffix(v, "Z") && !parsed.IsZero() {
				return nil
			}
		}
	case bool:
		if s.kinds == "bool" {
			return nil
		}
	case float64:
		if slices.Contains(strings.Split(s.kinds, "|"), "number") {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s is %v (%T)", at, v, v)}
}

func walkObject(at string, v map[string]any, s shape) []string {
	var bad []string
	if s.counts {
		for k, n := range v {
			bad = append(bad, walk(at+"."+k, n, is("number"))...)
		}
		return bad
	}
	for k, e := range v {
		if f, known := s.object[k]; known {
			bad = append(bad, walk(at+"."+k, e, f)...)
		} else {
			bad = append(bad, at+"."+k+" is not documented")
		}
	}
	for k := range s.object {
		if _, there := v[k]; !there && !s.object[k].optional {
			bad = append(bad, at+"."+k+" is missing")
		}
	}
	return bad
}

// fieldsOf lists the names of all fields of a shape, as pages about documents write them.
func fieldsOf(prefix string, s shape) []string {
	var out []string
	if s.list != nil {
		out = append(out, fieldsOf(prefix+"[]", *s.list)...)
	}
	for k, f := range s.object {
		name := strings.TrimPrefix(prefix+"."+k, ".")
		out = append(append(out, name), fieldsOf(name, f)...)
	}
	return out
}

func TestCheckJSONShape(t *testing.T) {
	for name, config := range map[string]string{"two sources": twoSources, "hostile": hostileSource} {
		out, _, _ := run(t, config, "check", "-o", "json")
		var document any
		if err := json.Unmarshal([]byte(out), &document); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, bad := range walk("", document, checkShape()) {
			t.Errorf("%s: %s", name, bad)
		}
	}
	for _, broken := range []string{`{}`, `{"schema":"1"}`, `{"sources":[{"id":1}]}`, `{"alerts":[{"state":"resolved"}]}`,
		`{"time":"2026-11-21T13:00:00+01:00"}`, `{"more":1}`} {
		var document any
		if err := json.Unmarshal([]byte(broken), &document); err != nil {
			t.Fatal(err)
		}
		if len(walk("", document, checkShape())) == 0 {
			t.Errorf("%s passes for a check document", broken)
		}
	}
}

// TestCheckJSONIsDocumented holds that the page names every field.
func TestCheckJSONIsDocumented(t *testing.T) {
	documentsFields(t, "Document of check", checkShape())
}

// documentsFields holds that a section of docs/json.md names every field of a shape.
func documentsFields(t *testing.T, section string, s shape) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "\n## "+section+"\n")
	if !found {
		t.Fatalf("docs/json.md has no section %q", section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	for _, name := range fieldsOf("", s) {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/json.md, %s: `%s` is not documented", section, name)
		}
	}
}

const hostileSource = `
[[source]]
id = "a"
kind = "fake"
failing = 2
working = 1
hostile = true
`

// TestHostileNames holds that nothing that acts reaches the output, that raw ids survive JSON, that secrets do not
// survive anything, and that no csv cell is a formula.
func TestHostileNames(t *testing.T) {
	for _, args := range [][]string{{"check"}, {"check", "-o", "json"}, {"get", "workspaces"}, {"get", "workspaces", "-o", "wide"},
		{"get", "workspaces", "-o", "csv"}, {"get", "workspaces", "-o", "json"}, {"get", "all", "-o", "jsonl"}, {"get", "alerts", "-o", "csv"}} {
		out, errs, _ := run(t, hostileSource, args...)
		for _, r := range out + errs {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar) {
				t.Errorf("%v printed %U", args, r)
			}
		}
		if strings.Contains(out+errs, secret) {
			t.Errorf("%v printed a secret:\n%s", args, out)
		}
		if !strings.Contains(out, "pwned") {
			t.Errorf("%v does not show the name at all:\n%s", args, out)
		}
	}
	out, _, _ := run(t, hostileSource, "check", "-o", "json")
	var document struct {
		Alerts []struct{ Subjects []struct{ ID string } }
	}
	if err := json.Unmarshal([]byte(out), &document); err != nil {
		t.Fatal(err)
	}
	if id := document.Alerts[0].Subjects[0].ID; id != hostile+"/w0000" {
		t.Errorf("the id reads back as %q", id)
	}
	out, _, _ = run(t, hostileSource, "get", "workspaces", "-o", "csv")
	records, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(records) != 4 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	formulas := 0
	for _, record := range records {
		for _, cell := range record {
			if cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
				t.Errorf("the cell %q is a formula", cell)
			}
			if strings.HasPrefix(cell, "'=") {
				formulas++
			}
		}
	}
	if formulas == 0 {
		t.Error("the test's formula did not reach any cell")
	}
}

// TestSelectorsTakeWhatJSONPrinted holds that an id copied out of the JSON, quotes and escapes included, finds its row.
func TestSelectorsTakeWhatJSONPrinted(t *testing.T) {
	out, _, _ := run(t, hostileSource, "get", "workspaces", "-o", "json")
	i := strings.Index(out, `"parent": "`)
	if i < 0 {
		t.Fatalf("no parent in\n%s", out)
	}
	printed := out[i+len(`"parent": `):]
	printed = printed[:strings.IndexAny(printed, ",\n")]
	for _, field := range []string{"session"} {
		out, errs, code := run(t, hostileSource, "get", "workspaces", "-o", "jsonl", "--filter", field+"="+printed)
		if code != 0 || strings.Count(out, "\n") != 3 {
			t.Errorf("%s=%s: exit code %d, %s\n%s", field, printed, code, errs, out)
		}
	}
}

func TestGetJSONHasUTCTimes(t *testing.T) {
	out, _, _ := run(t, twoSources, "get", "workspaces", "-o", "json")
	if !strings.Contains(out, `"last_success_at": "2026-11-21T11:00:00Z"`) {
		t.Errorf("times are not UTC:\n%.2000s", out)
	}
}
