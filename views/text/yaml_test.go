package text

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"sandglass/backend"
)

// TestYAMLIsTheJSONDocument: each text, number and word is read back as what JSON says, and nothing acts on a terminal.
func TestYAMLIsTheJSONDocument(t *testing.T) {
	texts := []string{"", "plain words", "yes", "No", "on", "null", "~", "12", "1e3", "0x1f", "2026-11-22T03:00:00Z", "a: b", "- a", "#x", "key:", "a #b",
		" lead", "trail ", "two\nlines\n", "tab\there", "\x1b]0;pwned\x07", "\u202ertl", "\u200b", "\U000E0001", "\u2028", "\"q\" 'q' \\", "日本", "😀", "=", "<<", "!tag", "&a", "*a", "%x", "@x", "`x", strings.Repeat("long ", 60)}
	rows := map[string]any{"texts": texts, "empty": []string{}, "none": map[string]int{}, "nil": nil, "true": true, "float": 0.1, "big": 9007199254740993, "small": 1e-9, "yes": "key"}
	for _, x := range texts {
		rows["key "+x] = x
	}
	var quoted []string
	for _, x := range texts {
		quoted = append(quoted, backend.QuoteJSON(x))
	}
	raw, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range [][]byte{raw, []byte("[" + strings.Join(quoted, ",") + "]")} {
		out, err := yamlOf(raw)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(string(out), func(r rune) bool { return r != '\n' && backend.Unsafe(r) }) {
			t.Errorf("a control character is in\n%q", out)
		}
		var got, want any
		if err := yaml.Unmarshal(out, &got); err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(again, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("read back\n%#v\nwant\n%#v\nfrom\n%s", got, want, out)
		}
	}
}
