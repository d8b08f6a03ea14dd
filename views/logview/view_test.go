package logview

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sandglass/backend"
	"sandglass/backend/logstream"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/theme"
)

func view(s *Store, names ...string) *View {
	var set backend.LogSet
	for _, n := range names {
		set.Logs = append(set.Logs, backend.Log{Name: backend.Clean(n, 80)})
	}
	return NewView(s, "logs of web-1", set)
}

var frame = &views.Frame{Theme: theme.New(theme.NoColours, theme.Unicode)}

// drawn is the body of a view without its head.
func drawn(t *testing.T, v *View, w, h int) (head string, lines []string) {
	t.Helper()
	b := v.Render(w, h, frame)
	if len(b.Lines) != h {
		t.Fatalf("%d lines for a height of %d", len(b.Lines), h)
	}
	all := make([]string, len(b.Lines))
	for i, l := range b.Lines {
		if n := ansi.StringWidth(l); n != w {
			t.Errorf("line %d has %d cells, want %d: %q", i, n, w, ansi.Strip(l))
		}
		all[i] = strings.TrimRight(ansi.Strip(l), " ")
	}
	for i, l := range all {
		if strings.Contains(l, "──") {
			return strings.Join(all[:i+1], "\n"), all[i+1:]
		}
	}
	return strings.Join(all, "\n"), nil
}

func numbered(from, to int) (out []string) {
	for i := from; i <= to; i++ {
		out = append(out, fmt.Sprintf("line %d", i))
	}
	return out
}

// A view follows, stays where its reader goes while lines come, and follows again.
func TestFollowAndScrollBack(t *testing.T) {
	s := store(1 << 20)
	v := view(s, "container web-1")
	v.times = false
	put(s, numbered(1, 30)...)
	head, lines := drawn(t, v, 60, 12)
	if !strings.Contains(head, "following") || lines[9] != "  line 30" || lines[0] != "  line 21" {
		t.Errorf("%s\n%q", head, lines)
	}
	v.Update(keys.Intent{Action: keys.PageUp})
	_, before := drawn(t, v, 60, 12)
	put(s, numbered(31, 60)...)
	head, lines = drawn(t, v, 60, 12)
	if strings.Join(lines, "|") != strings.Join(before, "|") || !strings.HasPrefix(lines[0], "› line 21") || !strings.Contains(head, "stopped: G follows") {
		t.Errorf("%s\n%q\nbefore %q", head, lines, before)
	}
	v.Update(keys.Intent{Action: keys.Top})
	if _, lines = drawn(t, v, 60, 12); !strings.HasPrefix(lines[0], "› line 1") || lines[9] != "  line 10" {
		t.Errorf("at the top: %q", lines)
	}
	for range 9 {
		v.Update(keys.Intent{Action: keys.Down})
	}
	v.Update(keys.Intent{Action: keys.Down})
	if _, lines = drawn(t, v, 60, 12); lines[9] != "› line 11" {
		t.Errorf("down past the end: %q", lines)
	}
	v.Update(keys.Intent{Action: keys.Bottom})
	put(s, "line 61")
	if _, lines = drawn(t, v, 60, 12); lines[9] != "  line 61" {
		t.Errorf("follows again: %q", lines)
	}
}

// The lines that a reader looks at can be dropped meanwhile: the oldest that is kept is shown, and the loss is said.
func TestDroppedUnderTheReader(t *testing.T) {
	s := store(1 << 20)
	v := view(s, "container web-1")
	put(s, numbered(1, 100)...)
	v.Update(keys.Intent{Action: keys.Top})
	drawn(t, v, 80, 20)
	big := strings.Repeat("x", 1000)
	for range 3000 {
		s.Line(0, backend.LogLine{Text: []byte(big)})
	}
	search(s)
	head, lines := drawn(t, v, 80, 20)
	if !strings.Contains(head, "older dropped") || !strings.Contains(lines[0], "xxx") || !strings.HasPrefix(lines[0], "›") {
		t.Errorf("%s\n%q", head, lines)
	}
}

// A JSON line is a sentence, and unfolds into its fields; a long line is cut, wrapped or unfolded.
func TestFoldUnfoldWrap(t *testing.T) {
	s := store(1 << 20)
	v := view(s, "a")
	v.times = false
	put(s, `{"level":"error","msg":"refused","err":{"code":"E1","message":"no room"}}`, "a "+strings.Repeat("long ", 30)+"end")
	_, lines := drawn(t, v, 60, 12)
	if lines[0] != ` ✗refused err.code=E1 err="no room" level=error` || !strings.HasSuffix(lines[1], "…") {
		t.Errorf("%q", lines)
	}
	v.Update(keys.Intent{Action: keys.RawLines})
	if _, lines = drawn(t, v, 60, 12); !strings.HasPrefix(lines[0], ` ✗{"level":"error","msg"`) {
		t.Errorf("raw: %q", lines)
	}
	v.Update(keys.Intent{Action: keys.Top})
	v.Update(keys.Intent{Action: keys.Enter})
	_, lines = drawn(t, v, 60, 12)
	if lines[0] != "›✗level    error" || lines[2] != "  err.code E1" && lines[3] != "  err.code E1" {
		t.Errorf("unfolded: %q", lines)
	}
	v.Update(keys.Intent{Action: keys.WrapLines})
	if _, lines = drawn(t, v, 60, 12); !strings.Contains(strings.Join(lines, "\n"), "end") {
		t.Errorf("wrapped: %q", lines)
	}
}

// A time that a line begins with is not drawn after the same one, so that its end is in sight; what is copied, raw or without times has it.
func TestATimeIsDrawnOnce(t *testing.T) {
	s := store(1 << 20)
	v := view(s, "a")
	v.Local(time.FixedZone("", 2*3600))
	at := time.Date(2026, 11, 29, 0, 35, 14, 460e6, time.UTC)
	all := []string{"2026-11-29T00:35:14.460Z ERROR exit 1", "[2026-11-29 02:35:14,1] local", "2026-11-29T00:35:12.460Z of another time", `2026-11-29T00:35:14Z {"msg":"json"}`}
	for _, text := range all {
		s.Line(0, backend.LogLine{At: at, Text: []byte(text)})
	}
	search(s)
	_, lines := drawn(t, v, 80, 10)
	for i, want := range []string{" ✗00:35:14.460 ERROR exit 1", "  00:35:14.460 local", "  00:35:14.460 " + all[2], "  00:35:14.460 json"} {
		if lines[i] != want {
			t.Errorf("%q, want %q", lines[i], want)
		}
	}
	if l, _ := s.Seek(1, false, Any); v.Text(&l) != all[0] {
		t.Errorf("copied: %q", v.Text(&l))
	}
	v.Update(keys.Intent{Action: keys.LogTimes})
	if _, lines = drawn(t, v, 80, 10); lines[0] != " ✗"+all[0] {
		t.Errorf("without times: %q", lines)
	}
	v.Update(keys.Intent{Action: keys.LogTimes})
	v.Update(keys.Intent{Action: keys.RawLines})
	if _, lines = drawn(t, v, 80, 10); lines[0] != " ✗00:35:14.460 "+all[0] {
		t.Errorf("raw: %q", lines)
	}
}

// n, N, e and E go to lines; h shows the others again.
func TestMatchesAndErrors(t *testing.T) {
	s := store(1 << 20)
	v := view(s, "a")
	put(s, "one", "ERROR two", "three", "one again", "FATAL five", "six")
	at := func() uint64 { l, _ := v.Line(); return l.N }
	act := func(a keys.Action) string { say, _ := v.Update(keys.Intent{Action: a}); return say }
	if say := act(keys.NextMatch); !strings.HasPrefix(say, "/") {
		t.Errorf("n without a filter: %q", say)
	}
	act(keys.PrevError)
	first := at()
	act(keys.PrevError)
	if first != 5 || at() != 2 || act(keys.PrevError) == "" || at() != 2 {
		t.Errorf("E: %d, then %d", first, at())
	}
	act(keys.NextError)
	if at() != 5 || act(keys.NextError) == "" {
		t.Errorf("e: %d", at())
	}
	if err := v.SetFilter("one"); err != nil {
		t.Fatal(err)
	}
	search(s)
	if head, lines := drawn(t, v, 80, 10); !strings.Contains(head, "/one 2 of 6 lines") || strings.Contains(strings.Join(lines, ""), "three") {
		t.Errorf("%s %q", head, lines)
	}
	act(keys.AllLines)
	act(keys.Top)
	act(keys.NextMatch)
	if _, lines := drawn(t, v, 80, 10); at() != 4 || !strings.Contains(strings.Join(lines, ""), "three") {
		t.Errorf("n among all lines: %d, %q", at(), lines)
	}
}

// What became of a log is said with its cause and the next step, and so is what is not read.
func TestWhatIsNotReadIsSaid(t *testing.T) {
	s := NewStore(1<<20, 2, backend.NewCleaner())
	v := view(s, "container web-1", "/var/log/a.log")
	v.lacks = []backend.Safe{backend.Text("blaxel: its logs cannot be read without waking it")}
	s.State(0, logstream.State{Live: true, Ended: true, Again: 4 * time.Second})
	s.State(1, logstream.State{Err: backend.Errorf(backend.ErrUnauthorised, "/var/log/a.log", "permission denied")})
	head, _ := drawn(t, v, 100, 20)
	for _, want := range []string{"container web-1: it ended, so what wrote it has stopped; it is opened again in 4s", "permission denied; it is not opened again", "without waking it"} {
		if !strings.Contains(head, want) {
			t.Errorf("%q is not said:\n%s", want, head)
		}
	}
	put(s, "late")
	v.Came(time.Unix(1795800001, 0).Add(90 * time.Second))
	if head, _ = drawn(t, v, 100, 20); !strings.Contains(head, "1m30s behind") {
		t.Errorf("the lag is not said:\n%s", head)
	}
	v.Came(time.Unix(1795800001, 0).Add(91 * time.Second))
	if head, _ = drawn(t, v, 100, 20); strings.Contains(head, "behind") {
		t.Errorf("a quiet log lags:\n%s", head)
	}
}

// Any size is drawn.
func TestEverySize(t *testing.T) {
	s := store(1 << 20)
	v := view(s, "a", "b")
	put(s, "plain", `{"msg":"wide 日本語 text"}`, strings.Repeat("w", 300), "")
	for _, act := range []keys.Action{keys.None, keys.WrapLines, keys.Enter, keys.Up, keys.Enter, keys.Top, keys.RawLines} {
		v.Update(keys.Intent{Action: act})
		for w := range 90 {
			for h := range 12 {
				drawn(t, v, w, h)
			}
		}
	}
}

// Of several logs the name is before each line, where that leaves room for the line, and else a letter that the head explains.
func TestTheNameOfALogNeedsRoom(t *testing.T) {
	s := store(1 << 20)
	v := view(s, "container web-1", "agent-log")
	v.times = false
	put(s, "started")
	for w, want := range map[int]string{namedFrom: "  web-1          started", namedFrom - 1: "  a started", 30: "  a started"} {
		head, lines := drawn(t, v, w, 12)
		if keyed := strings.Contains(head, "\n a web-1  b agent-log\n"); keyed != (w < namedFrom) {
			t.Errorf("at %d cells the head is\n%s", w, head)
		}
		if !strings.HasPrefix(strings.Join(lines, "\n"), want) {
			t.Errorf("at %d cells %q, want %q", w, lines[0], want)
		}
	}
}

// A log that others write to is not empty because no line names the subject.
func TestNoLineNamesIt(t *testing.T) {
	for named, want := range map[bool]string{true: "no line that was read names it", false: "nothing was written yet"} {
		s := store(1 << 20)
		s.State(0, logstream.State{Live: true})
		v := NewView(s, "logs of web-1", backend.LogSet{Logs: []backend.Log{{Name: backend.Text("app.log"), Named: named}}})
		if _, lines := drawn(t, v, 80, 12); !strings.Contains(strings.Join(lines, "\n"), want) {
			t.Errorf("named %v: %q", named, lines)
		}
	}
}
