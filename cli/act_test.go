package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/actions"
	"sandglass/actions/audit"
)

func TestPlanThenYes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, actConfig, "w1", "w2", "w3")
		out := s.run(0, `reset 2 workspaces on a \(eu\)`, "reset", "s1/w1", "s1/w3", "s1/gone", "--reason", "bucket's back")
		for _, want := range []string{"opens it anew", "as read: state failed", "session s1", "loses: nothing", "left alone: 1\n  no source lists it\n      s1/gone",
			`sandglass reset --config ` + s.file + ` --state-dir ` + s.dir + `/state --yes-plan `, `--reason 'bucket'\''s back'`} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		if len(s.registry.did) > 0 {
			t.Errorf("planning acted on %v", s.registry.did)
		}
		m := planLine.FindStringSubmatch(out)
		if m == nil {
			t.FailNow()
		}
		digest := m[1]
		s.run(64, "--reason is missing", "reset", "--yes-plan", digest)
		s.run(0, `--reason 'no reason given'\n|--reason 'alert [a-z-]+ [0-9a-f]+'\n`, "reset", "s1/w2") // can be pasted as it is
		s.run(64, "--yes-plan is empty", "reset", "s1/w1", "--yes-plan", "", "--reason", "x")           // exit code 0 would pass for done
		s.run(64, "takes no selector", "reset", "s1/w2", "--yes-plan", digest, "--reason", "x")
		s.run(4, "is to reset on a, which is not what this command does", "destroy", "--yes-plan", digest, "--reason", "x")
		s.run(64, "not the digest of a plan", "reset", "--yes-plan", "01234567", "--reason", "x")
		s.run(4, "there is no plan 0123456789abcdef here", "reset", "--yes-plan", "0123456789abcdef", "--reason", "x")
		s.run(4, "read-only", "reset", "--yes-plan", digest, "--reason", "x", "--read-only")
		s.run(0, `plan `+digest+`: 2 of 2 done: 2 verified\n  s1/w1: verified, it succeeded since`, "reset", "--yes-plan", digest, "--reason", "new bucket")
		s.run(4, "carried out already", "reset", "--yes-plan", digest, "--reason", "x")
		if !slices.Equal(s.registry.did, []string{"w1", "w3"}) {
			t.Errorf("acted on %v", s.registry.did)
		}
		recs := s.records()
		if first, last := recs[0], recs[len(recs)-1]; first.Phase != audit.PhaseIntent || first.Reason.String() != "new bucket" || first.Digest != digest ||
			last.Phase != audit.PhaseDone || last.Result != audit.ResultVerified {
			t.Errorf("the journal begins with %+v and ends with %+v", first, last)
		}
	})
}

// TestNothingIsDoneByAConfigurationOfOthers: it is read with a warning, and refused for actions.
func TestNothingIsDoneByAConfigurationOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, actConfig, "w1")
		if err := os.Chmod(s.file, 0o666); err != nil {
			t.Fatal(err)
		}
		s.run(4, `(?s)reset is not available here.*a: no action by a configuration that others can write: .*mode 0666`, "reset", "s1/w1", "--reason", "x")
		if len(s.registry.did) > 0 {
			t.Errorf("acted on %v", s.registry.did)
		}
	})
}

func TestPlansThatAreNotCarriedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, actConfig, "w1", "w2", "w3")
		old := s.plan("reset", "s1/w1")
		time.Sleep(61 * time.Second)
		s.run(4, "older than 60 s", "reset", "--yes-plan", old, "--reason", "x")
		changed := s.plan("reset", "s1/w1")
		s.registry.change(func() { s.registry.entries["w1"].success = time.Now() })
		s.run(4, "0 of 1 done: 1 skipped\n.*changed since the plan: last success was", "reset", "--yes-plan", changed, "--reason", "x")
		s.registry.change(func() { s.registry.entries["w2"].state = "ready" })
		out := s.run(4, "refused: there is nothing to act on", "reset", "s1/w2")
		if planLine.MatchString(out) || !strings.Contains(out, "  it is reported ready\n      s1/w2") {
			t.Errorf("a refused plan:\n%s", out)
		}
		later := s.plan("reset", "s1/w3")
		s.run(4, `allow|add "reset"`, "reset", "--yes-plan", later, "--reason", "x", "--config", s.other(strings.Replace(actConfig, `"reset"`, "", 1)))
		s.run(4, "was made for the environment eu", "reset", "--yes-plan", later, "--reason", "x", "--config", s.other(strings.Replace(actConfig, "eu", "us", 1)))
		path := filepath.Join(s.dir, "state", "plans", later+".json")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(b, []byte("w3"), []byte("w1")), 0o600); err != nil {
			t.Fatal(err)
		}
		s.run(4, "the file was changed", "reset", "--yes-plan", later, "--reason", "x")
		if len(s.registry.did) > 0 {
			t.Errorf("acted on %v", s.registry.did)
		}
	})
}

// other is another configuration; the flag that comes last wins.
func (s *actSite) other(text string) string {
	file := filepath.Join(s.dir, "other.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.file = "" // not appended any more
	return file
}

func TestExitCodesOfPlans(t *testing.T) {
	for name, x := range map[string]struct {
		onDo func(string, *registryEntry) error
		code int
		want string
	}{
		"accepted, and nothing shows it": {func(string, *registryEntry) error { return nil }, 1, "1 of 1 done: 1 unverified"},
		"failed":                         {func(string, *registryEntry) error { return errors.New("500") }, 2, "1 of 1 done: 1 failed"},
		"sent, and no answer":            {func(string, *registryEntry) error { return &actions.UncertainError{Err: errors.New("timeout")} }, 2, "1 unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newActSite(t, actConfig, "w1")
				s.registry.onDo = x.onDo
				s.run(x.code, x.want, "reset", "--yes-plan", s.plan("reset", "s1/w1"), "--reason", "x")
			})
		})
	}
}

// Without a screen nobody decides that a wave may follow on one that no reading verified.
func TestHeadlessStopsAfterAnUnverifiedWave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, actConfig, "w1", "w2", "w3")
		s.registry.onDo = func(string, *registryEntry) error { return nil }
		s.run(2, "1 of 3 done.*\n(.*\n)*stopped: accepted, but not verified yet", "reset", "--yes-plan", s.plan("reset", "--filter", "state:failed"), "--reason", "x")
	})
}

func TestDryRunChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, actConfig, "w1", "w2")
		out := s.run(0, "dry run: 2 of 2 would be acted on", "reset", "s1/w1", "s1/w2", "--dry-run")
		if planLine.MatchString(out) || len(s.registry.did) > 0 {
			t.Errorf("acted on %v\n%s", s.registry.did, out)
		}
		for _, kept := range []string{"audit.jsonl", "plans"} {
			if _, err := os.Stat(filepath.Join(s.dir, "state", kept)); err == nil {
				t.Errorf("a dry run left %s", kept)
			}
		}
		s.run(64, "does not accept --yes-plan", "reset", "--dry-run", "--yes-plan", "0123456789abcdef", "--reason", "x")
	})
}

func TestSelectors(t *testing.T) {
	two := actConfig + "[[source]]\nid = \"b\"\nkind = \"fake\"\nactions = [\"reset\"]\n"
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, two, "w1", "w2", "x1")
		s.run(4, "an id is ambiguous:\n +s1/w1: the workspace s1/w1 of a\n +s1/w1: the workspace s1/w1 of b", "reset", "s1/w1")
		s.run(0, "reset 1 workspace on b", "reset", "s1/w1", "--source", "b")
		s.run(4, "acts on one source, and this is on several:\n +a: 3\n +b: 3", "reset", "--filter", "state:failed")
		s.run(0, "reset 2 workspaces on a", "reset", "--match", "s1/w*", "--source", "a")
		s.run(0, "reset 1 workspace on a", "reset", "--match", "s1/*", "--filter", "workspace:x1", "--source", "a")
		s.run(4, "no id matches", "reset", "--match", "*", "--source", "a") // a star does not match a /
		s.run(64, "no source lists\n +s1/w\na verb takes a whole id or name; did you mean\n +s1/w1\n +s1/w2\n", "reset", "s1/w", "--source", "a")
		s.run(4, "no row matches the filter", "reset", "--filter", "state:ready")
		s.run(64, "there is no field", "reset", "--filter", "nonsense=1")
		s.run(64, "needs what to act on", "reset")
		s.run(64, "use --filter alone, or to narrow --match", "reset", "s1/w1", "--filter", "state:failed")
		s.run(64, "cannot be understood", "reset", "--match", "[")
		s.run(64, `no source "c"`, "reset", "s1/w1", "--source", "c")
		s.stdin = "s1/w1\r\ns1/x1\n\n"
		s.run(0, "reset 2 workspaces on a", "reset", "-", "--source", "a")
		s.stdin = ""
		s.run(4, "the standard input names nothing", "reset", "-")
		s.run(64, `there is no verb "interrupt"`, "do", "interrupt", "s1/w1")
		s.run(64, "do needs a verb", "do")
		s.run(4, `knows "pause"`, "pause", "s1/w1")
	})
}

func TestSharedAccountSaysWhoActs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, actConfig, "w1", "w2")
		s.shared = true
		made := s.run(0, "mara is an account that several people can use.(.|\\n)*again with --by and your name", "reset", "s1/w1")
		if strings.Contains(made, "sandglass reset") || strings.Contains(made, "--yes-plan") {
			t.Errorf("a line to paste that would be refused:\n%s", made)
		}
		nameless := planLine.FindStringSubmatch(made)[1]
		s.run(4, "mara is an account that several people can use(.|\\n)*name yourself: --by and your name", "reset", "--yes-plan", nameless, "--reason", "x")
		s.run(0, "1 verified", "reset", "--yes-plan", s.plan("reset", "s1/w1", "--by", "ann"), "--reason", "x")
		if who := s.records()[0].Who; who.Claimed.String() != "ann" || who.User.String() != "mara" {
			t.Errorf("the journal says that %+v did it", who)
		}
		before := len(s.records())
		s.run(0, "1 verified", "reset", "--yes-plan", s.plan("reset", "s1/w2", "--by", "ann"), "--reason", "x", "--by", "bob")
		if who := s.records()[before].Who; who.Claimed.String() != "bob" {
			t.Errorf("the journal says that %+v confirmed it", who)
		}
	})
}

// A hang-up ends the plan after the target that is under way, and the journal says how far it came.
func TestInterruptedPlanFinishesItsTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := strings.Fields("w01 w02 w03 w04 w05 w06 w07 w08 w09 w10")
		s := newActSite(t, actConfig, names...)
		digest := s.plan("reset", "--filter", "state:failed")
		ctx, hangUp := context.WithCancel(t.Context())
		s.ctx = ctx
		s.registry.onDo = func(name string, e *registryEntry) error {
			if name == "w02" {
				hangUp()
				time.Sleep(20 * time.Second)
			}
			s.registry.change(func() { e.state, e.success = "ready", time.Now().Add(time.Millisecond) })
			return nil
		}
		s.run(2, "2 of 10 done(.*\n)*stopped: the program is ending\n(.*\n)*.*interrupted: the target under way finishes", "reset", "--yes-plan", digest, "--reason", "x")
		s.ctx = t.Context()
		if !slices.Equal(s.registry.did, []string{"w01", "w02"}) {
			t.Errorf("acted on %v", s.registry.did)
		}
		recs := s.records()
		if last := recs[len(recs)-1]; last.Phase != audit.PhaseStopped || last.Done != 2 || last.Targets != 10 {
			t.Errorf("the journal ends with %+v", last)
		}
	})
}

func TestLocalModeActsOnlyOnWhatIsAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, "", "w1")
		s.run(4, `docker-local: it is not allowed here: add --allow reset`, "reset", "s1/w1", "--source", "docker-local")
		if s.built != 0 {
			t.Errorf("nothing was allowed, and %d clients could have acted", s.built)
		}
		out := s.run(0, "plan ", "reset", "s1/w1", "--source", "docker-local", "--allow", "reset")
		if s.built != 1 || !strings.Contains(out, "--allow reset --yes-plan") {
			t.Errorf("built %d\n%s", s.built, out)
		}
		s.run(4, "read-only", "reset", "s1/w1", "--allow", "reset", "--read-only")
		s.run(64, `no verb "rest" on this machine; did you mean "reset"`, "reset", "s1/w1", "--allow", "rest")
		s.run(64, `no verb "rest"`, "--allow", "rest") // the console takes it too
	})
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, actConfig, "w1")
		s.run(64, "says what may be done", "reset", "s1/w1", "--allow", "reset")
		s.run(64, "says what may be done", "--session-lifetime", "24h")
	})
}

func TestPlanJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newActSite(t, actConfig, "w1", "w2")
		s.registry.entries["w2"].state = "ready"
		planned := s.run(0, "", "reset", "s1/w1", "s1/w2", "s1/none", "--reason", "x", "-o", "json")
		refused := s.run(4, "", "reset", "s1/w2", "-o", "json")
		rehearsed := s.run(0, "", "reset", "s1/w1", "--dry-run", "-o", "json")
		var first struct {
			Digest string
			Next   []string
		}
		if err := json.Unmarshal([]byte(planned), &first); err != nil || !slices.Contains(first.Next, first.Digest) {
			t.Fatalf("%v in\n%s", err, planned)
		}
		ran := s.run(0, "", "reset", "--yes-plan", first.Digest, "--reason", "x", "-o", "json")
		for what, doc := range map[string]string{"planned": planned, "refused": refused, "rehearsed": rehearsed, "ran": ran} {
			var document any
			if err := json.Unmarshal([]byte(doc), &document); err != nil {
				t.Fatalf("%s: %v\n%s", what, err, doc)
			}
			for _, bad := range walk("", document, planShape()) {
				t.Errorf("%s: %s", what, bad)
			}
		}
	})
	documentsFields(t, "Document of actions", planShape())
}

func planShape() shape {
	texts := listOf(is("string"))
	results := oneOfWords("issued", "accepted", "verified", "unverified", "failed", "failed again", "ended", "skipped", "unknown")
	results.kinds += "|null"
	run := object(map[string]shape{"phase": oneOfWords("acting", "verifying", "waiting", "stopped", "done"), "stopped": is("string|null"),
		"summary": is("string"), "began": is("time"), "ended": is("time|null"), "acted": is("number"), "moved_bytes": is("number"),
		"freed_bytes": is("number"), "results": {counts: true}, "journal_problem": is("string|null"), "concludes": is("string|null"),
		"beside": orNull(object(map[string]shape{"id": is("string"), "name": is("string"), "reported": is("string"), "observed": is("null")})),
		"lines": listOf(object(map[string]shape{"id": is("string"), "label": is("string"), "wave": is("number"), "result": results,
			"text": is("string"), "issued": is("time|null"), "notes": texts, "observed": listOf(object(map[string]shape{})), "steps": listOf(object(map[string]shape{"name": is("string"), "result": oneOfWords("ok", "failed", "not tried"),
				"plane": is("string|null"), "took_seconds": is("number|null"), "said": is("string|null")}))}))})
	next := texts
	next.kinds = "null"
	return object(map[string]shape{
		"schema": is("number"), "time": is("time"), "environment": is("string"), "production": is("bool"), "digest": is("string|null"),
		"verb": is("string"), "kind": oneOfWords("workspace", "sandbox", "session", "source", "tmpdir"), "source": is("string"), "source_kind": is("string"),
		"effect": is("string"), "cost": optional(is("string")), "undo": is("string|null"), "made": is("time"), "expires": is("time"), "reason": is("string|null"),
		"who": object(map[string]shape{"user": is("string"), "host": is("string"), "claimed": is("string|null"), "sudo_user": is("string|null"),
			"ssh_client": is("string|null")}),
		"params": object(map[string]shape{"older_than_seconds": is("number|null"), "purge_now": is("bool"), "most": is("number|null"), "harmless": listOf(is("string")),
			"image": is("string|null"), "beside": is("string|null"), "process": is("string|null"), "token": is("string|null")}),
		"dry_run": is("bool"), "refused": is("bool"), "bytes": is("number|null"), "not_listed": texts, "advice": texts, "warnings": texts,
		"targets": listOf(object(map[string]shape{"id": is("string"), "label": is("string"), "owner": is("string|null"), "loses": texts, "notes": texts,
			"useless": is("bool"), "bytes": is("number|null"), "cause_seen": is("time|null"),
			"identity": listOf(object(map[string]shape{"name": is("string"), "value": is("string")}))})),
		"excluded": listOf(object(map[string]shape{"id": is("string"), "label": is("string"), "why": is("string")})),
		"choices":  listOf(object(map[string]shape{"name": is("string"), "text": is("string")})),
		"refusals": listOf(object(map[string]shape{"why": is("string"), "next": is("string|null"), "word": is("string|null"), "set_aside": is("bool")})),
		"next":     next, "run": orNull(run), "exit_code": is("number")})
}
