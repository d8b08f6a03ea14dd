package logs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// tailed runs text through a block as live lines, like a stream or file does.
func tailed(t *testing.T, change func(*Options), text string) (*lineAnalyser, backend.Reading) {
	t.Helper()
	opts := defaults()
	if change != nil {
		change(&opts)
	}
	a := newAnalyst(&opts, testDeps(t, func() time.Time { return t0 }), t0)
	a.begin(0, time.Second)
	p := placement{lo: t0.Add(-time.Minute), hi: t0}
	var b block
	for line := range strings.Lines(text) {
		b.feed(a, []byte(strings.TrimSuffix(line, "\n")), len(line), time.Time{}, &p)
	}
	b.release(a, &p)
	var r backend.Reading
	a.finish(&r, t0)
	return a, r
}

// event is a tail event as wrangler prints it, in one line.
func event(outcome, extra string, logs ...string) string {
	return fmt.Sprintf(`{"wallTime":12,"cpuTime":3,"truncated":false,"executionModel":"durableObject","outcome":%q,"scriptName":"agents",`+
		`"entrypoint":"AgentServer","durableObjectId":"ab12","exceptions":[],"logs":[%s],"eventTimestamp":%d%s}`,
		outcome, strings.Join(logs, ","), t0.Add(-20*time.Second).UnixMilli(), extra)
}

func console(level string, at time.Time, arguments ...string) string {
	return fmt.Sprintf(`{"message":[%s],"level":%q,"timestamp":%d}`, strings.Join(arguments, ","), level, at.UnixMilli())
}

const room = `,"event":{"request":{"url":"https://x/y","method":"GET","headers":{"X-PartyKit-Room":"s9"}}}`

func indented(t *testing.T, line string) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(line), "", "  "); err != nil {
		t.Fatal(err)
	}
	return out.String() + "\n"
}

func TestTailEvents(t *testing.T) {
	at := t0.Add(-21 * time.Second)
	oom := `,"exceptions_seen":0`
	for name, c := range map[string]struct {
		line string
		want map[backend.Metric]float64
		of   string // the session
	}{
		"memory": {event("exceededMemory", room), map[backend.Metric]float64{backend.MetricAgentOOM: 1}, "s9"},
		"memory, told three times": {
			strings.Replace(event("exceededMemory", oom+room, console("error", at, `"Error: Durable Object's isolate exceeded its memory limit and was reset."`)),
				`"exceptions":[]`, `"exceptions":[{"name":"Error","message":"Durable Object's isolate exceeded its memory limit and was reset.","timestamp":1}]`, 1),
			map[backend.Metric]float64{backend.MetricAgentOOM: 1}, "s9"},
		"an exception without the outcome": {
			strings.Replace(event("exception", room), `"exceptions":[]`,
				`"exceptions":[{"name":"Error","message":"Durable Object's isolate exceeded its memory limit and was reset."},{"name":"Error","message":"Durable Object's isolate exceeded its memory limit and was reset."}]`, 1),
			map[backend.Metric]float64{backend.MetricAgentOOM: 1}, "s9"},
		"a class of errors": {
			strings.Replace(event("exception", room), `"exceptions":[]`, `"exceptions":[{"name":"WorkspaceFailedError","message":"max_instances reached"}]`, 1),
			map[backend.Metric]float64{backend.MetricWorkspaceFailed: 1, backend.MetricAgentOOM: 0}, "s9"},
		"text and an object": {
			event("ok", "", console("warn", at, `"workspace tool: shell metacharacter rejected"`, `{"sessionId":"s1","workspace":"box","command":"ls; id"}`)),
			map[backend.Metric]float64{backend.MetricRejections: 1, backend.MetricAgentOOM: 0}, "s1"},
		"an object": {
			event("ok", "", console("error", at, `{"level":50,"msg":"workspace tool: eviction retry exhausted","sessionId":"s1"}`)),
			map[backend.Metric]float64{backend.MetricEvictionExhausted: 1}, "s1"},
		"JSON in a text": {
			event("ok", "", console("log", at, `"{\"level\":40,\"msg\":\"[rate-limited] workspace tool: shell metacharacter rejected\",\"sessionId\":\"s1\",\"suppressedCount\":7}"`)),
			map[backend.Metric]float64{backend.MetricRollups: 1}, "s1"},
		"plain text, room from the request": {
			event("ok", room, console("warn", at, `"tmpdir close failed: EBUSY"`)),
			map[backend.Metric]float64{backend.MetricTmpdirCloseFailed: 1}, "s9"},
		"a message that is no list": {
			event("ok", room, fmt.Sprintf(`{"message":"tmpdir close failed: EBUSY","level":"warn","timestamp":%d}`, at.UnixMilli())),
			map[backend.Metric]float64{backend.MetricTmpdirCloseFailed: 1}, "s9"},
		"Logpush": {
			fmt.Sprintf(`{"EventTimestampMs":%d,"Outcome":"exceededMemory","ScriptName":"agents","Exceptions":[],"Logs":[{"Level":"warn","Message":["command not in allowlist session=s1"],"TimestampMs":%d}]}`,
				at.UnixMilli(), at.UnixMilli()),
			map[backend.Metric]float64{backend.MetricAgentOOM: 1, backend.MetricRejections: 1}, "s1"},
		"another reason": {event("exceededCpu", room), map[backend.Metric]float64{backend.MetricAgentOOM: 0}, ""},
		"what an agent printed": {
			event("ok", room, console("log", at, `{"msg":"tool done","output":"outcome: exceededMemory"}`)),
			map[backend.Metric]float64{backend.MetricAgentOOM: 0}, ""},
	} {
		for form, text := range map[string]string{"one line": c.line + "\n", "indented": indented(t, c.line)} {
			_, r := tailed(t, nil, text)
			for metric, want := range c.want {
				if got := total(r.Counts, metric, "*"); got != want {
					t.Errorf("%s, %s: %s = %v, want %v", name, form, metric, got, want)
				}
				if got := total(r.Counts, metric, c.of); want > 0 && c.of != "" && got != want {
					t.Errorf("%s, %s: %s of %s = %v, want %v", name, form, metric, c.of, got, want)
				}
			}
		}
	}
}

func TestTailEventsKeepTheirTimes(t *testing.T) {
	own := t0.Add(-30 * time.Second)
	_, r := tailed(t, nil, event("exceededMemory", room, console("error", own, `"workspace tool: eviction retry exhausted"`))+"\n")
	times := map[backend.Metric]time.Time{}
	for _, c := range r.Counts {
		if c.N > 0 && c.Series.Session.Raw() == "s9" {
			times[c.Series.Name] = c.At
		}
	}
	if !times[backend.MetricEvictionExhausted].Equal(own) || !times[backend.MetricAgentOOM].Equal(t0.Add(-20*time.Second)) {
		t.Errorf("times %v", times)
	}
	if len(r.Events) != 1 || !strings.Contains(r.Events[0].Text.String(), "session s9") {
		t.Errorf("events %+v", r.Events)
	}
	for _, c := range r.Counts {
		if c.Series.Name == backend.MetricAgentOOM && c.N > 0 && !strings.Contains(c.Sample.String(), "object ab12") {
			t.Errorf("the sample does not name the object: %q", c.Sample)
		}
	}
}

func TestTailSessionFromAConfiguredField(t *testing.T) {
	fields := func(o *Options) { o.Fields.Session = []string{"event.rpc.session"} }
	_, r := tailed(t, fields, event("exceededMemory", `,"event":{"rpc":{"session":"s5"}}`)+"\n")
	if total(r.Counts, backend.MetricAgentOOM, "s5") != 1 {
		t.Errorf("counts %+v", r.Counts)
	}
	two := event("exceededMemory", "", console("log", t0, `{"msg":"a","sessionId":"s1"}`), console("log", t0, `{"msg":"b","sessionId":"s2"}`))
	_, r = tailed(t, nil, two+"\n")
	if total(r.Counts, backend.MetricAgentOOM, "s1")+total(r.Counts, backend.MetricAgentOOM, "s2") != 0 || total(r.Counts, backend.MetricAgentOOM, "*") != 1 {
		t.Errorf("an event about two sessions is given to one: %+v", r.Counts)
	}
}

func TestATailThatSamplesIsSaid(t *testing.T) {
	_, r := tailed(t, nil, event("ok", `,"event":{"type":"overload","message":"Tail is currently in sampling mode due to the high volume of messages."}`)+"\n")
	if !strings.Contains(fmt.Sprint(r.Notes), "leaves events out") {
		t.Errorf("notes %v", r.Notes)
	}
}

// What looks like the beginning of an event and is none goes on line by line.
func TestBlocksThatAreNoEvents(t *testing.T) {
	rejection := `{"level":40,"msg":"workspace tool: shell metacharacter rejected","sessionId":"s1"}`
	for name, text := range map[string]string{
		"another object":        "{\n  \"a\": 1\n}\n" + rejection + "\n",
		"never closed":          "{\n  \"outcome\": \"ok\",\n" + rejection + "\n",
		"a line inside":         "{\n  \"msg\": \"command not in allowlist\"\n}\n",
		"opened twice":          "{\n{\n  \"a\": 1\n}\n" + rejection + "\n",
		"the end is missing":    "{\n  \"msg\": \"command not in allowlist\"\n",
		"a brace by itself":     "}\n" + rejection + "\n",
		"longer than one line":  "{\n" + strings.Repeat("  \"filler\": \""+strings.Repeat("x", 1000)+"\",\n", 1100) + rejection + "\n",
		"carriage returns":      "{\r\n  \"a\": 1\r\n}\r\n" + rejection + "\r\n",
		"duplicate names":       "{\n  \"outcome\": \"ok\",\n  \"outcome\": \"ok\",\n  \"logs\": [], \"exceptions\": []\n}\n" + rejection + "\n",
		"an event before a cut": indented(t, event("ok", room)) + "{\n" + rejection + "\n",
	} {
		if _, r := tailed(t, nil, text); total(r.Counts, backend.MetricRejections, "*") != 1 {
			t.Errorf("%s: the rejection is lost or counted twice", name)
		}
	}
}

func TestTailEventsAboveTheByteBudget(t *testing.T) {
	opts := defaults()
	a := newAnalyst(&opts, testDeps(t, func() time.Time { return t0 }), t0)
	a.begin(1<<30, time.Second)
	a.forced = 0
	p := placement{lo: t0.Add(-time.Minute), hi: t0}
	line := event("exceededMemory", room)
	for range 3 {
		a.line([]byte(line), len(line)+1, time.Time{}, &p, nil)
	}
	var r backend.Reading
	a.finish(&r, t0)
	if total(r.Counts, backend.MetricAgentOOM, "*") != 3 {
		t.Errorf("counts %+v", r.Counts)
	}
}

func FuzzTail(f *testing.F) {
	f.Add(event("exceededMemory", room, console("log", t0, `"x"`, `{"sessionId":"s1"}`)))
	f.Add("{\n  \"outcome\": \"ok\",\n  \"logs\": [],\n  \"exceptions\": []\n}\n")
	f.Add(`{"Outcome":"x","Logs":[{"Message":[1,null,{}]}],"Exceptions":[{}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		a, r := tailed(t, nil, text)
		if n := strings.Count(text, "\n") + 1; a.seen.lines > n+maxTailLogs*n {
			t.Errorf("%d lines of %d", a.seen.lines, n)
		}
		if total(r.Counts, backend.MetricLogLines, "*") != float64(a.seen.lines) {
			t.Error("lines are not what was counted")
		}
	})
}
