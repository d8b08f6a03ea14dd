package wire

import (
	"strings"
	"testing"
)

// One element that is no valid JSON costs that element alone.
func TestAListLosesOnlyItsBadElements(t *testing.T) {
	for name, bad := range map[string]string{
		"lone surrogate": `{"id":"b","e":"cut \ud83d"}`, "invalid UTF-8": "{\"id\":\"b\",\"e\":\"\xff\"}", "name twice": `{"id":"b","e":1,"e":2}`,
		"control character": "{\"id\":\"b\",\"e\":\"\n\"}", "bad escape": `{"id":"b","e":"\x41","f":[{"]":"}"}]}`, "bad number": `{"id":"b","e":01}`,
	} {
		doc, lost, err := ParseList([]byte(`{"next":"n", "sessions": [ {"id":"a"} , `+bad+`,{"id":"c"}] ,"x":{}}`), "/sessions")
		if err != nil || len(lost) != 1 || lost[0].Index != 1 || lost[0].Text("/id") != "b" || !strings.Contains(lost[0].Err.Error(), "/sessions/1 (byte") {
			t.Errorf("%s: %v, %v", name, lost, err)
			continue
		}
		var ids []string
		list, _ := doc.Find("/sessions")
		for e := range list.Elements() {
			id, _ := e.Get("id").Text()
			ids = append(ids, id)
		}
		if next, _ := doc.Find("/next"); strings.Join(ids, ",") != "a,,c" || string(next.Raw()) != `"n"` {
			t.Errorf("%s: read %q", name, ids)
		}
	}
}

func TestABodyThatIsBrokenElsewhereIsRefused(t *testing.T) {
	for _, body := range []string{"", "{", `{"sessions":[{"id":"a"`, `{"sessions":[{"id":"\ud800"}`, `{"sessions":[{"id":"\ud800"}]} x`, `{"sessions":["\ud800`,
		`{"sessions":[,]}`, `{"s":"\ud800","sessions":[]}`, `{"sessions":{"a":"\ud800"}}`, `[}`, `{"sessions":[}]`} {
		if _, bad, err := ParseList([]byte(body), "/sessions"); err == nil {
			t.Errorf("%q is read, bad elements %v", body, bad)
		}
	}
}

func FuzzParseList(f *testing.F) {
	f.Add([]byte(`{"sessions":[{"id":"\ud800"},{"id":"a"}]}`))
	f.Fuzz(func(_ *testing.T, body []byte) {
		doc, bad, err := ParseList(body, "/sessions")
		if err != nil {
			return
		}
		list, _ := doc.Find("/sessions")
		for range list.Elements() {
		}
		for _, b := range bad {
			b.Text("/id")
		}
	})
}
