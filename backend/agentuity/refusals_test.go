package agentuity

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestRefusalsAreExplained: what a list refuses fails the poll, with the place, the trace and the next step.
func TestRefusalsAreExplained(t *testing.T) {
	wrongRegion := reply{status: 421, body: `{"success":false,"message":"misdirected"}`, header: map[string]string{"x-agentuity-region": "usw", "x-session-id": "sess_421"}}
	for name, x := range map[string]struct {
		answer reply
		kind   backend.ErrorKind
		texts  []string
	}{
		"bad key":          {readReply(t, "list_401"), backend.ErrUnauthorised, []string{"/sandbox?…", "answered 401 Unauthorized: unauthorized (trace sess_daf25463ca042faabcd9de3817c9dd9f)", "check the key (environment variable KEY), and that it belongs to the organisation " + orgID}},
		"forbidden":        {reply{status: 403, body: `{"error":{"message":"not a member"}}`}, backend.ErrUnauthorised, []string{"answered 403 Forbidden: not a member", "check the key"}},
		"wrong region":     {wrongRegion, backend.ErrInvalid, []string{"answered 421", "(trace sess_421)", `it belongs to region usw: add "usw" to regions`}},
		"no region":        {reply{status: 421, body: `{}`, header: map[string]string{"x-agentuity-region": "evil.example.com/x?"}}, backend.ErrInvalid, []string{`what the answer names is no region ("evil.example.com/x?"): check regions and url`}},
		"nothing":          {reply{status: 200, header: map[string]string{"x-session-id": "sess_1"}}, backend.ErrInvalid, []string{"answered 200 OK with an empty body (trace sess_1)", "Check regions"}},
		"cut off":          {ok(`{"data":{"sandboxes":[{"sandboxId":"sb`), backend.ErrInvalid, []string{"a body that cannot be read as JSON: the JSON value is cut off, /data/sandboxes/0/sandboxId (byte ", "Check regions"}},
		"elsewhere":        {reply{status: 302, header: map[string]string{"Location": "https://login.example.com/"}}, backend.ErrInvalid, []string{"redirects to login.example.com; not followed", "Check regions"}},
		"server error":     {readReply(t, "zombie_execute_500"), backend.ErrUnreachable, []string{"give its support the trace", "answered 500 Internal Server Error: Internal Server Error (trace sess_13697a6fc3da63f88c0329860f5d7449)"}},
		"error key":        {readReply(t, "zombie_execute_500_error_key"), backend.ErrUnreachable, []string{"Internal Server Error (trace sess_c3d6c11c29908096f69f8cdf3d781152)"}},
		"text of a proxy":  {readReply(t, "zombie_execute_500_text"), backend.ErrUnreachable, []string{"Internal Server Error (trace sess_c1400db7842e4bd571d66cf9fa31f26f)"}},
		"not found":        {readReply(t, "get_404_not_found"), backend.ErrGone, []string{"answered 404 Not Found: sandbox not found", "is " + "http", "the sandbox service of a region?"}},
		"conflict":         {readReply(t, "execute_409_busy"), backend.ErrInvalid, []string{"answered 409 Conflict: sandbox is busy"}},
		"no checkpoint":    {readReply(t, "resume_409_no_checkpoint"), backend.ErrInvalid, []string{"it is suspended but has no checkpoint data"}},
		"pending":          {readReply(t, "resume_409_checkpoint_pending"), backend.ErrInvalid, []string{"A conflict occurred"}},
		"suspended":        {readReply(t, "checkpoints_409_suspended"), backend.ErrInvalid, []string{"sandbox is suspended"}},
		"too many":         {reply{status: 429, body: `{}`, header: map[string]string{"Retry-After": "7"}}, backend.ErrThrottled, []string{"answered 429", "it is asked later; lower requests_per_second"}},
		"plan":             {reply{status: 402, body: `{}`}, backend.ErrInvalid, []string{"the plan of the organisation does not cover it"}},
		"old client":       {reply{status: 426, body: `{"code":"UPGRADE_REQUIRED"}`}, backend.ErrInvalid, []string{"look for a newer Sandglass"}},
		"another shape":    {ok(`{"success":true,"data":[]}`), backend.ErrInvalid, []string{"no list data.sandboxes"}},
		"thin rows":        {ok(`{"hello":"world"}`), backend.ErrInvalid, []string{"no list data.sandboxes"}},
		"a web page":       {reply{status: 200, body: "<html>", header: map[string]string{"Content-Type": "text/html"}}, backend.ErrInvalid, []string{"/sandbox?…: answered 200 OK with a web page instead of JSON", "the sandbox service of a region? Check regions"}},
		"refused with 200": {ok(`{"success":false,"message":"try later"}`), backend.ErrInvalid, []string{"answered 200 OK: try later", "check that org is right: " + orgID}},
	} {
		w := newWorld(t, nil)
		w.set("GET /sandbox", x.answer)
		err := w.fails()
		if backend.KindOf(err) != x.kind {
			t.Errorf("%s: kind %s, want %s: %v", name, backend.KindOf(err), x.kind, err)
		}
		for _, text := range append(x.texts, "agentuity") {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q is not in %v", name, text, err)
			}
		}
		if strings.Contains(err.Error(), testKey) {
			t.Errorf("%s: the key is in the message", name)
		}
	}
}

// TestOneRefusedSandboxIsNoBadKey: the platform answers 401 also where 404 or 421 is due.
func TestOneRefusedSandboxIsNoBadKey(t *testing.T) {
	refused := reply{status: 401, body: `{"success":false,"message":"unauthorized"}`}
	for name, x := range map[string]struct {
		located reply
		text    string
		ended   bool
	}{
		"elsewhere": {readReply(t, "cli_sandbox_resolve"), "it is in region usc of the organisation " + orgID + ", where it was asked: this key may not read it; try a CLI key", false},
		"gone":      {reply{status: 404, body: `{"success":false,"message":"not found","code":"NOT_FOUND"}`}, "the platform knows it in no region: it is gone", false},
		"SDK key":   {refused, "takes CLI keys only; name one under [source.read], or empty api_url", false},
	} {
		w := newWorld(t, nil)
		for _, what := range []string{"executions", "jobs", "events"} {
			w.set("GET /sandbox/sandboxes/"+zombieID+"/"+what, refused)
		}
		w.set("GET /cli/sandbox/"+zombieID, x.located)
		r := w.poll()
		if x.ended != (len(r.Ended) == 1) || x.ended == strings.Contains(problems(r), zombieID) {
			t.Errorf("%s: ended %v, problems %s", name, r.Ended, problems(r))
		}
		if !strings.Contains(problems(r), x.text) {
			t.Errorf("%s: %q is not in %s", name, x.text, problems(r))
		}
		for _, p := range r.Problems {
			if p.Kind == backend.ErrUnauthorised {
				t.Errorf("%s: it is taken for a bad key: %s", name, p.What)
			}
		}
		w.poll()
		if got := w.requests("/cli/sandbox/"); len(got) != 1 {
			t.Errorf("%s: asked %d times where it is", name, len(got))
		}
	}
}

// TestARegionPointsToAnother: a 421 is followed once, where the named region is configured.
func TestARegionPointsToAnother(t *testing.T) {
	w := newWorld(t, nil)
	w.src = w.source(func(o *Options) { o.Regions, o.URL = []string{"usc", "usw"}, w.url+"/{region}" })
	list := string(readSample(t, "sandbox_list").Response.Body)
	w.set("GET /usc/sandbox", ok(list))
	w.set("GET /usw/sandbox", ok(`{"success":true,"data":{"sandboxes":[],"total":0}}`))
	for _, what := range []string{"executions", "jobs", "events"} {
		w.set("GET /usc/sandbox/sandboxes/"+healthyID+"/"+what, reply{status: 421, body: "{}", header: map[string]string{"x-agentuity-region": "usw"}})
		s := readSample(t, "healthy_"+what)
		w.set("GET /usw/sandbox/sandboxes/"+healthyID+"/"+what, s.answer())
	}
	r := w.poll()
	if got := w.requests("/usw/sandbox/sandboxes/" + healthyID); len(got) != 3 {
		t.Errorf("the other region was asked %v", got)
	}
	if strings.Contains(problems(r), healthyID) {
		t.Errorf("problems: %s", problems(r))
	}
	if base, _ := w.src.SandboxBase(sandboxOf(t, r, healthyID).Key.ID); !strings.HasSuffix(base, "/usw") {
		t.Errorf("orders go to %s", base)
	}
	w.set("GET /usw/sandbox", reply{status: 503, body: "down"})
	w.clock.Add(time.Minute)
	if r = w.poll(); !r.Unseen || !strings.Contains(r.Degraded.String(), "region usw does not answer") || r.Whole(backend.KindSandbox) {
		t.Errorf("with one region down: %v %q %v", r.Unseen, r.Degraded, r.Scopes)
	}
}

// TestAListThatShrinksIsReadWhole: rows that are removed between two pages move the others, and the page before is read again.
func TestAListThatShrinksIsReadWhole(t *testing.T) {
	for _, gone := range []int{1, 30, 100, 140} {
		w := newWorld(t, func(o *Options) { o.Hub = false })
		pages := 0
		w.setFunc("GET /sandbox", func(q url.Values) reply {
			if q.Get("status") != "" || q.Get("live") != "" {
				return ok(`{"success":true,"data":{"sandboxes":[],"total":0}}`)
			}
			var from, limit int
			_, _ = fmt.Sscan(q.Get("offset"), &from)
			_, _ = fmt.Sscan(q.Get("limit"), &limit)
			first := 0
			if pages++; pages > 1 {
				first = gone
			}
			var rows []string
			for i := first + from; i < min(first+from+limit, 230); i++ {
				rows = append(rows, fmt.Sprintf(`{"sandboxId":"sbx_%03d","status":"suspended","createdAt":"2026-04-04T00:00:00Z"}`, i))
			}
			return ok(fmt.Sprintf(`{"success":true,"data":{"sandboxes":[%s],"total":%d}}`, strings.Join(rows, ","), 230-first))
		})
		r, have := w.poll(), map[string]bool{}
		for _, b := range r.Sandboxes {
			have[b.Key.ID.Raw()] = true
		}
		for i := gone; i < 230; i++ {
			if id := fmt.Sprintf("sbx_%03d", i); !have[id] {
				t.Fatalf("%d rows removed after %d pages: %s is missing", gone, pages, id)
			}
		}
	}
}

// TestAShrinkingListEndsNothing: rows that move while pages are read hide others. Their own routes tell whether they are gone.
func TestAShrinkingListEndsNothing(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Hub = false })
	ids := make([]string, 150)
	for i := range ids {
		ids[i] = fmt.Sprintf("sbx_%03d", i)
	}
	shrink := false
	w.setFunc("GET /sandbox", func(q url.Values) reply {
		if q.Get("status") != "" || q.Get("live") != "" {
			return ok(`{"success":true,"data":{"sandboxes":[],"total":0}}`)
		}
		var from, limit int
		_, _ = fmt.Sscan(q.Get("offset"), &from)
		_, _ = fmt.Sscan(q.Get("limit"), &limit)
		all := ids
		if shrink && from > 0 { // three rows of the first page went before the second is read
			all = ids[3:]
		}
		var rows []string
		for _, id := range all[min(from, len(all)):min(from+limit, len(all))] {
			rows = append(rows, `{"sandboxId":"`+id+`","status":"suspended","createdAt":"2026-04-04T00:00:00Z"}`)
			w.set("GET /sandbox/status/"+id, ok(`{"success":true,"data":{"status":"suspended"}}`))
			w.set("GET /sandbox/"+id, ok(`{"success":true,"data":{"sandboxId":"`+id+`","status":"suspended"}}`))
		}
		return ok(fmt.Sprintf(`{"success":true,"data":{"sandboxes":[%s],"total":%d}}`, strings.Join(rows, ","), len(all)))
	})
	if r := w.poll(); !r.Whole(backend.KindSandbox) || len(r.Sandboxes) != 150 {
		t.Fatalf("%d sandboxes, %v", len(r.Sandboxes), r.Scopes)
	}
	shrink = true
	w.clock.Add(time.Minute)
	r := w.poll()
	if r.Whole(backend.KindSandbox) || len(r.Ended) > 0 {
		t.Errorf("an unsteady list proves the end of %v, scopes %v", r.Ended, r.Scopes)
	}
	if !strings.Contains(fmt.Sprint(r.Problems), "changed 20 times while it was read") {
		t.Errorf("the problem is not told: %v", r.Problems)
	}
	shrink, ids = false, ids[3:]
	for i := range 3 {
		w.set(fmt.Sprintf("GET /sandbox/status/sbx_%03d", i), readReply(t, "get_404_not_found"))
		w.set(fmt.Sprintf("GET /sandbox/sbx_%03d", i), readReply(t, "get_404_not_found"))
	}
	ended := 0
	for range 20 {
		ended += len(w.poll().Ended)
	}
	if ended != 3 {
		t.Errorf("%d sandboxes ended, want 3", ended)
	}
}

// TestKeysOfTheCLI: the profile's key is used, its expiry is told before and after, and where there is none the message says where it is.
func TestKeysOfTheCLI(t *testing.T) {
	w := newWorld(t, nil)
	dir := t.TempDir()
	write := func(text string, mode os.FileMode) {
		t.Helper()
		file := filepath.Join(dir, "production.yaml")
		_ = os.Remove(file)
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	source := func() {
		w.src = w.source(func(o *Options) { o.Read.Env, o.CLIProfile, o.CLIConfigDir = "", "production", dir })
	}
	key := func(expires time.Time) string {
		return fmt.Sprintf("name: production\nauth:\n  api_key: profile-key-5678\n  user_id: user_1\n  expires: %d\n", expires.UnixMilli())
	}
	write(key(w.clock.Now().Add(30*24*time.Hour)), 0o600)
	source()
	if r := w.poll(); !r.Degraded.IsEmpty() || w.heads[len(w.heads)-1].Get("Authorization") != "Bearer profile-key-5678" {
		t.Errorf("%q with %v", r.Degraded, w.heads[len(w.heads)-1])
	}
	write(key(w.clock.Now().Add(3*time.Hour)), 0o600)
	source()
	if r := w.poll(); !strings.Contains(r.Degraded.String(), "the key of the CLI profile production expires at 2026-04-04 04:02Z; run before that: agentuity auth login") {
		t.Errorf("before it expires: %q", r.Degraded)
	}
	write(key(w.clock.Now().Add(-time.Hour)), 0o600)
	source()
	if r := w.poll(); !strings.Contains(r.Degraded.String(), "expired at 2026-04-04 00:02Z; run: agentuity auth login") {
		t.Errorf("expired, and still taken: %q", r.Degraded)
	}
	quoted := strings.Replace(key(w.clock.Now().Add(3*time.Hour)), "expires: ", "expires: '", 1)
	write(strings.TrimSuffix(quoted, "\n")+"'\n", 0o600)
	source()
	if r := w.poll(); !strings.Contains(r.Degraded.String(), "expires at 2026-04-04") {
		t.Errorf("quoted: %q", r.Degraded)
	}
	write(key(w.clock.Now().Add(-time.Hour)), 0o600)
	source()
	w.set("GET /sandbox", readReply(t, "list_401"))
	if err := w.fails(); !strings.Contains(err.Error(), "expired at 2026-04-04 00:02Z; run: agentuity auth login") || strings.Contains(err.Error(), "profile-key") {
		t.Errorf("expired: %v", err)
	}
	for text, want := range map[string]string{"auth:\n  user_id: u\n": "on macOS the CLI", "auth: [": "is no valid YAML", "": "holds no key"} {
		write(text, 0o600)
		source()
		if err := w.fails(); !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) || backend.KindOf(err) != backend.ErrUnauthorised {
			t.Errorf("%q: %v", text, err)
		}
	}
	write(key(w.clock.Now().Add(time.Hour)), 0o644)
	source()
	if err := w.fails(); !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("readable by others: %v", err)
	}
	_ = os.Remove(filepath.Join(dir, "production.yaml"))
	source()
	if err := w.fails(); !strings.Contains(err.Error(), "does not exist; run: agentuity auth login") {
		t.Errorf("no file: %v", err)
	}
}

// TestTheCurrentProfileIsTheOneOfTheCLI: the file that names it holds no secret, and may be read by others.
func TestTheCurrentProfileIsTheOneOfTheCLI(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "profile"), []byte("staging\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if name, file := profileFile(currentProfile, dir, nil); name != "staging" || file != filepath.Join(dir, "staging.yaml") {
		t.Errorf("%q in %q", name, file)
	}
}

// TestUnknownWordsAreKept: a word of a newer platform is shown as it is and means nothing; nulls and other types are unknown.
func TestUnknownWordsAreKept(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Hub = false })
	w.set("GET /sandbox", ok(`{"success":true,"data":{"sandboxes":[{"sandboxId":"sbx_new","name":null,"status":"hibernating-2","org":null,"runtime":null,"createdAt":null,"executions":"many","timeout":null,"metadata":null,"command":null,"networkPort":"x"},
		{"sandboxId":null},{"status":"idle"},7,{"sandboxId":".."}],"total":5}}`))
	r := w.poll()
	b := sandboxOf(t, r, "sbx_new")
	if b.Reported.String() != "hibernating-2" || b.Class != backend.SandboxUnknown || b.Name.String() != "sbx_new" || b.CreatedAt.IsKnown() {
		t.Errorf("%+v", b)
	}
	if !strings.Contains(problems(r), "4 rows of the list have no sandboxId") {
		t.Errorf("problems: %s", problems(r))
	}
}

// TestSecretsStayHidden: addresses of streams and previews, and the key, are on no screen.
func TestSecretsStayHidden(t *testing.T) {
	w := newWorld(t, nil)
	r := w.poll()
	for _, b := range r.Sandboxes {
		if text := b.Raw.String(); strings.Contains(text, "stream_") || strings.Contains(text, "https://") {
			t.Errorf("raw: %s", text)
		}
	}
	for _, x := range r.Executions {
		if strings.Contains(x.Raw.String(), "https://streams") {
			t.Errorf("raw: %s", x.Raw)
		}
	}
}

// TestAHubElsewhereGetsNoKey: a Hub that a region names gets the key only below an allowed domain.
func TestAHubElsewhereGetsNoKey(t *testing.T) {
	w := newWorld(t, nil)
	w.set("GET /coder", ok(`{"url":"https://hub.evil.example"}`))
	w.src = w.source(func(o *Options) { o.HubURL = "" })
	r := w.poll()
	if !strings.Contains(problems(r), "names the Hub https://hub.evil.example, which is below none of hub_hosts: the key is not sent there") || len(r.Missing) != 1 {
		t.Errorf("problems: %s, missing %v", problems(r), r.Missing)
	}
	w.set("GET /coder", ok(`{"url":"`+w.url+`"}`))
	w.src = w.source(func(o *Options) { o.HubURL = "" })
	if r = w.poll(); len(r.Sessions) != 2 {
		t.Errorf("%d sessions of the Hub that the region names", len(r.Sessions))
	}
	for url, want := range map[string]bool{"https://hub.agentuity.cloud": true, "https://agentuity.cloud": true, "http://hub.agentuity.cloud": false, "https://evilagentuity.cloud": false, "https://agentuity.cloud.evil.example": false} {
		if w.src.trusted(url) != want {
			t.Errorf("%s is trusted: %v", url, !want)
		}
	}
}

// TestWhatCannotBeReadIsSaid: a Hub that does not answer, and work of a sandbox that cannot be read, degrade the source and are unknown.
func TestWhatCannotBeReadIsSaid(t *testing.T) {
	w := newWorld(t, nil)
	w.set("GET /api/hub/sessions", reply{status: 503, body: "upstream down"})
	if r := w.poll(); !r.Unseen || !strings.Contains(r.Degraded.String(), "the Coder Hub does not answer, so sessions are unknown: answered 503") {
		t.Errorf("Hub: %v %q", r.Unseen, r.Degraded)
	}
	for name, answer := range map[string]reply{"refused": {status: 500, body: "{}"}, "another shape": ok(`{"success":true,"data":{"executions":{"a":1}}}`)} {
		w := newWorld(t, nil)
		w.set("GET /sandbox/sandboxes/"+healthyID+"/executions", answer)
		r := w.poll()
		if !r.Unseen || !strings.Contains(r.Degraded.String(), "1 sandbox cannot be read, the first is build-agent-7: ") {
			t.Errorf("%s: %v %q", name, r.Unseen, r.Degraded)
		}
		if o, _ := sandboxOf(t, r, healthyID).Observed.Get(); answer.status == 500 && o.Works() {
			t.Errorf("%s: %s", name, o.What())
		}
	}
	w = newWorld(t, nil)
	w.poll()
	w.set("GET /sandbox/sandboxes/"+zombieID+"/executions", reply{status: 500, body: "{}"})
	if r := w.poll(); r.Unseen {
		t.Errorf("once is ordinary: %q", r.Degraded)
	}
}

// TestAStatusIsDatedByAFormerProcess as far as it saw it.
func TestAStatusIsDatedByAFormerProcess(t *testing.T) {
	w := newWorld(t, nil)
	first := w.poll()
	w.clock.Add(10 * time.Minute)
	w.src = w.source(nil)
	w.src.Resume(first.Bookmarks)
	if b := sandboxOf(t, w.poll(), suspendedID); !b.KnownSince.Equal(first.Started) {
		t.Errorf("suspended since %s, a former process saw it at %s", b.KnownSince, first.Started)
	}
}

// TestAShareOfServerErrors above a fifth of the answers is trouble of the region.
func TestAShareOfServerErrors(t *testing.T) {
	w := newWorld(t, nil)
	w.src.Attend(backend.Attention{Alerting: []backend.Key{{Kind: backend.KindSandbox, Source: "agentuity", ID: backend.MustID(healthyID)}}})
	for range 6 {
		if r := w.poll(); strings.Contains(r.Degraded.String(), "server errors") {
			t.Fatalf("degraded: %s", r.Degraded)
		}
	}
	for _, what := range []string{"executions", "jobs", "events"} {
		w.set("GET /sandbox/sandboxes/"+zombieID+"/"+what, reply{status: 500, body: "{}"})
		w.set("GET /sandbox/sandboxes/"+healthyID+"/"+what, reply{status: 500, body: "{}"})
	}
	var r backend.Reading
	for range 10 {
		r = w.poll()
	}
	if !r.Unseen || !strings.HasPrefix(r.Degraded.String(), "region usc: ") || !strings.Contains(r.Degraded.String(), "are server errors") {
		t.Errorf("degraded: %q", r.Degraded)
	}
	w.clock.Add(6 * time.Minute)
	for _, what := range []string{"executions", "jobs", "events"} {
		w.set("GET /sandbox/sandboxes/"+zombieID+"/"+what, readReply(t, "zombie_"+what))
		w.set("GET /sandbox/sandboxes/"+healthyID+"/"+what, readReply(t, "healthy_"+what))
	}
	w.poll()
	if r = w.poll(); strings.Contains(r.Degraded.String(), "server errors") {
		t.Errorf("it stays: %q", r.Degraded)
	}
}

// TestAListThatRepeatsItselfEnds: a server that ignores the offset and counts too many is asked twice, and the source says so.
func TestAListThatRepeatsItselfEnds(t *testing.T) {
	w := newWorld(t, nil)
	w.set("GET /sandbox", ok(strings.Replace(string(readSample(t, "sandbox_list").Response.Body), `"total": 3`, `"total": 900`, 1)))
	r := w.poll()
	if n := len(w.requests("GET /sandbox?")); n > 8 || !strings.Contains(problems(r), "brings no new sandbox, but the list counts 900") || r.Whole(backend.KindSandbox) {
		t.Errorf("%d requests, whole %v: %s", n, r.Whole(backend.KindSandbox), problems(r))
	}
}

// TestAnUnknownRegionNamesTheKey: a region that does not exist answers 404, and the next step is the configuration.
func TestAnUnknownRegionNamesTheKey(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Regions, o.URL = []string{"usc", "uswest"}, o.URL+"/{region}" })
	w.set("GET /usc/sandbox", readReply(t, "sandbox_list"))
	if r := w.poll(); !strings.Contains(r.Degraded.String(), "region uswest") || !strings.Contains(r.Degraded.String(), "Check regions (codes are usc, use and usw)") {
		t.Errorf("degraded: %s", r.Degraded)
	}
}
