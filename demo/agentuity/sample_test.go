package agentuity

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// samples are recorded forms of the vendor's answers, synthetic: each says what is guessed.
const samples = "../../backend/agentuity/testdata"

type sample struct {
	Request struct {
		Method, URL string
		Body        json.RawMessage
	}
	Response struct {
		Status  int
		Headers map[string]string
		Body    any
		RawBody string `json:"raw_body"`
	}
}

// shape writes the keys and kinds of a document. Values of the given keys are part of it, because they are what the sample is about.
func shape(v any, path string, out map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			shape(x, path+"."+key, out)
		}
	case []any:
		for _, x := range v {
			shape(x, path+"[]", out)
		}
	case string:
		switch key := path[strings.LastIndex(path, ".")+1:]; key {
		case "status", "message", "error", "code", "bucket", "mode", "type":
			out[path+"="+v] = true
		default:
			out[path+" string"] = true
		}
	case nil:
		out[path+" null"] = true
	default:
		out[fmt.Sprintf("%s %T", path, v)] = true
	}
}

// TestSamples: the demo answers each sample's request with everything that the sample holds, in a world where it applies.
func TestSamples(t *testing.T) {
	busy := func(t *testing.T, g *stage) {
		g.ask(t, "POST", "https://catalyst-usc.agentuity.cloud/sandbox/"+g.sandbox+"/execute", `{"command":["sleep","30"]}`, "k")
		g.t += time.Second
	}
	pause := func(t *testing.T, g *stage) {
		g.ask(t, "POST", "https://catalyst-usc.agentuity.cloud/sandbox/"+g.sandbox+"/pause", "", "k")
	}
	checkpoint := func(t *testing.T, g *stage) {
		g.ask(t, "POST", "https://catalyst-usc.agentuity.cloud/sandbox/"+g.sandbox+"/checkpoint", `{"name":"before"}`, "k")
	}
	fails := func(times int) func(*testing.T, *stage) {
		return func(t *testing.T, g *stage) {
			for range times {
				g.ask(t, "POST", "https://catalyst-usc.agentuity.cloud/sandbox/"+g.sandbox+"/execute", `{"command":["true"]}`, "k")
			}
		}
	}
	used := func(t *testing.T, g *stage) {
		base := "https://catalyst-usc.agentuity.cloud"
		g.ask(t, "POST", base+"/fs/"+g.sandbox, `{"files":[{"path":"a","content":"YQ=="}]}`, "k")
		for _, command := range []string{`["true"]`, `["false"]`} {
			g.ask(t, "POST", base+"/sandbox/"+g.sandbox+"/execute", `{"command":`+command+`}`, "k")
			g.t += 5 * time.Second
		}
	}
	const healthy, zombie, old, race = "build-agent-1", "coder-session", "old-session", "nightly-refactor"
	for name, c := range map[string]struct {
		story   Story
		at      time.Duration
		sandbox string
		first   func(*testing.T, *stage)
		but     []string // what only the sample has: chance of its time
	}{
		"checkpoints_409_suspended":     {NoCheckpoint, 0, old, nil, nil},
		"checkpoints_list":              {Calm, 0, healthy, checkpoint, nil},
		"cli_sandbox_list":              {Zombie, 0, zombie, nil, []string{".data.sandboxes[].name null"}},
		"cli_sandbox_resolve":           {Zombie, 0, zombie, nil, nil},
		"execute_409_busy":              {Calm, 0, healthy, busy, nil},
		"execute_auto_resumed":          {Calm, 0, healthy, pause, nil},
		"get_404_not_found":             {Calm, 0, "", nil, nil},
		"healthy_events":                {Calm, 0, healthy, nil, nil},
		"healthy_executions":            {Calm, 0, healthy, used, nil},
		"healthy_fs_list":               {Calm, 0, healthy, nil, nil},
		"healthy_jobs":                  {Calm, 0, healthy, nil, nil},
		"healthy_sandbox_get":           {Calm, 0, healthy, nil, nil},
		"healthy_sandbox_status":        {Calm, 0, healthy, nil, nil},
		"hub_participants_lead":         {Calm, 0, healthy, nil, nil},
		"hub_participants_no_lead":      {Zombie, 0, zombie, nil, nil},
		"hub_session_error":             {Zombie, 0, zombie, nil, nil},
		"hub_sessions_list":             {Zombie, 0, zombie, nil, nil},
		"list_401":                      {Calm, 0, "", nil, nil},
		"orphan_jobs_pending":           {StuckQueue, 0, "packager", nil, nil},
		"pause_200":                     {Calm, 0, healthy, nil, nil},
		"resume_200":                    {Calm, 0, healthy, pause, nil},
		"resume_409_checkpoint_pending": {ResumeRace, 0, race, nil, nil},
		"resume_409_no_checkpoint":      {NoCheckpoint, 0, old, nil, nil},
		"sandbox_list":                  {Zombie, 0, zombie, nil, nil},
		"suspended_sandbox_get":         {NoCheckpoint, 0, old, nil, nil},
		"zombie_events":                 {Zombie, 0, zombie, nil, nil},
		"zombie_execute_500":            {Zombie, -151 * time.Second, zombie, nil, nil},
		"zombie_execute_500_error_key":  {Zombie, 0, zombie, fails(2), nil},
		"zombie_execute_500_text":       {Zombie, 0, zombie, nil, nil},
		"zombie_executions":             {Zombie, 0, zombie, nil, nil},
		"zombie_fs_list_404":            {Zombie, 0, zombie, nil, nil},
		"zombie_jobs":                   {Zombie, 0, zombie, nil, nil},
		"zombie_sandbox_get":            {Zombie, 0, zombie, nil, nil},
		"zombie_sandbox_status":         {Zombie, 0, zombie, nil, nil},
		"healthy_execution_get":         {Calm, 0, healthy, used, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := newStage(c.story, c.at, c.sandbox)
			if g.sandbox == "" && c.sandbox != "" {
				t.Fatal("no such sandbox")
			}
			if c.first != nil {
				c.first(t, g)
			}
			g.replay(t, name, c.but)
		})
	}
	files, err := filepath.Glob(filepath.Join(samples, "*.json"))
	if err != nil || len(files) != 36 {
		t.Errorf("%d files of samples, %v", len(files), err)
	}
}

// replay sends the request of a sample about this stage's sandbox.
func (g *stage) replay(t *testing.T, name string, but []string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(samples, name+".json"))
	var want sample
	if err == nil {
		err = json.Unmarshal(raw, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	key := "k"
	if want.Response.Status == http.StatusUnauthorized {
		key = "expired"
	}
	got, said := g.ask(t, want.Request.Method, g.own(want.Request.URL), string(want.Request.Body), key)
	if got.StatusCode != want.Response.Status || !strings.HasPrefix(got.Header.Get("X-Session-Id"), "sess_") || got.Header.Get("Content-Type") != want.Response.Headers["content-type"] {
		t.Fatalf("%s %s: %d %v\n%s", want.Request.Method, g.own(want.Request.URL), got.StatusCode, got.Header, said)
	}
	if want.Response.RawBody != "" {
		if string(said) != want.Response.RawBody {
			t.Errorf("it says %q", said)
		}
		return
	}
	var body any
	if err := json.Unmarshal(said, &body); err != nil {
		t.Fatalf("%v in %s", err, said)
	}
	expected, actual := map[string]bool{}, map[string]bool{}
	shape(want.Response.Body, "", expected)
	shape(body, "", actual)
	for part := range expected {
		part = g.own(part)
		if !actual[part] && !slices.Contains(but, part) {
			t.Errorf("no %s in\n%.2000s", part, said)
		}
	}
}

// own puts this stage's ids in the place of those of a sample.
func (g *stage) own(s string) string {
	for _, of := range []struct{ prefix, id string }{{"sbx_", g.sandbox}, {"codesess_", g.session}, {"exe_", g.newestRun()}} {
		i := strings.Index(s, of.prefix)
		if i < 0 || of.id == "" {
			continue
		}
		end := i + len(of.prefix)
		for end < len(s) && strings.ContainsRune("0123456789abcdef", rune(s[end])) {
			end++
		}
		s = s[:i] + of.id + s[end:]
	}
	return strings.ReplaceAll(s, "org_2xSampleOrg0000000000000001", OrgID)
}

func (g *stage) newestRun() string {
	g.w.mu.Lock()
	defer g.w.mu.Unlock()
	if x := g.w.byID[g.sandbox]; x != nil && len(x.runs) > 0 {
		for _, r := range slices.Backward(x.runs) {
			if r.status == completed {
				return r.id
			}
		}
	}
	return ""
}
