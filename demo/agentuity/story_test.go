package agentuity

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

func (g *stage) box(name string) *sandbox {
	defer g.w.enter()()
	for _, x := range g.w.sandboxes {
		if x.name == name {
			return x
		}
	}
	return nil
}

func (g *stage) lines(words string) (out []Line) {
	for _, l := range g.w.Lines() {
		if strings.Contains(l.Message, words) {
			out = append(out, l)
		}
	}
	return out
}

func states(s *sandbox) (out []string) {
	for _, r := range s.runs {
		out = append(out, r.status)
	}
	return out
}

// TestZombieStory: until its session is opened the sandbox sleeps; then it reports idle, two nudges stay queued for ever, and the
// Hub gives up after two minutes.
func TestZombieStory(t *testing.T) {
	g := newStage(Zombie, -3*time.Minute, "coder-session")
	s, x := g.box("coder-session"), g.w.sessions[len(g.w.sessions)-1]
	if s.status != suspended || x.status != "paused" || len(s.runs) != 1 {
		t.Fatalf("%s, session %s, %d executions", s.status, x.status, len(s.runs))
	}
	g.t = -145 * time.Second
	if g.box("coder-session"); s.status != idle || x.status != "creating" || !slices.Equal(states(s), []string{completed, queued}) {
		t.Errorf("%s, session %s, executions %v", s.status, x.status, states(s))
	}
	g.t = 0
	if g.box("coder-session"); s.status != idle || x.status != "error" || x.fails != noDriver || !slices.Equal(states(s), []string{completed, queued, queued}) {
		t.Errorf("%s, session %s %q, executions %v", s.status, x.status, x.fails, states(s))
	}
	failed := 0
	for _, l := range g.w.Lines() {
		if strings.Contains(l.Message, "failed to send USR1 reconnect nudge") && strings.Contains(l.Message, "status: 500") && l.Sandbox == s.id && l.Session == x.id {
			failed++
		}
	}
	if failed != 2 {
		t.Errorf("%d lines tell of a nudge that failed", failed)
	}
	g.t = 6 * time.Hour
	if g.box("coder-session"); s.status != idle || len(s.runs) != 3 || s.driver() == nil {
		t.Errorf("after hours: %s, %v, driver %v", s.status, states(s), s.driver())
	}
}

// TestHealthyOnes: no execution waits long, and every session that is active has its driver, at every time and beside every story.
func TestHealthyOnes(t *testing.T) {
	for _, story := range []Story{Calm, Zombie, StuckQueue, ResumeRace, NoCheckpoint} {
		g := newStage(story, 0, "")
		queuedAt := map[string]time.Duration{}
		for ; g.t < 3*time.Hour; g.t += 5 * time.Second {
			g.box("")
			for _, s := range g.w.sandboxes[:minHealthy] {
				for _, r := range s.runs {
					if since, seen := queuedAt[r.id]; r.status == queued && seen && g.t-since > 10*time.Second {
						t.Errorf("story %d: %s waits since %s", story, r.id, since)
					} else if r.status == queued && !seen {
						queuedAt[r.id] = g.t
					}
				}
			}
			for _, x := range g.w.sessions {
				if x.status == "active" && (x.lead.IsZero() || x.of.driver() == nil) {
					t.Errorf("story %d: session %s has no driver", story, x.label)
				}
			}
		}
		if len(queuedAt) < 100 {
			t.Errorf("story %d: only %d executions were seen waiting", story, len(queuedAt))
		}
	}
}

// TestOtherStories: what stays and what passes.
func TestOtherStories(t *testing.T) {
	g := newStage(StuckQueue, 10*time.Minute, "")
	if got := states(g.box("etl-nightly")); !slices.Equal(got, []string{queued}) {
		t.Errorf("the stuck one: %v", got)
	}
	if got := states(g.box("lint-bot")); len(got) < 5 || got[0] != queued || got[1] != completed {
		t.Errorf("the overtaken one: %v", got)
	}
	if got := g.box("packager").jobs[0].status; got != pending {
		t.Errorf("the job is %s", got)
	}
	g = newStage(RegionIncident, 3*time.Minute, "")
	g.box("")
	stuck := 0
	for _, s := range g.w.sandboxes {
		switch waits := s.waiting(); {
		case waits && s.region == Away:
			stuck++
		case waits && s.runs[len(s.runs)-1].status == queued:
			t.Errorf("%s of %s waits", s.name, s.region)
		}
	}
	if stuck < 6 {
		t.Errorf("%d sandboxes are stuck", stuck)
	}
	g = newStage(ResumeRace, 0, "")
	if s := g.box("nightly-refactor"); s.status != suspended {
		t.Errorf("early: %s", s.status)
	}
	if got := len(g.lines("A conflict occurred")); got != 2 {
		t.Errorf("%d refusals", got)
	}
	g.t = 2 * time.Minute
	if s := g.box("nightly-refactor"); s.status != idle || g.w.sessions[len(g.w.sessions)-1].status != "active" {
		t.Errorf("late: %s, %+v", s.status, g.w.sessions[len(g.w.sessions)-1])
	}
	g = newStage(NoCheckpoint, time.Hour, "")
	if s := g.box("old-session"); s.status != suspended || len(g.lines("has no checkpoint data")) != 2 {
		t.Errorf("%s", s.status)
	}
}

// TestSameSeed: two worlds of a seed say the same, another seed says something else.
func TestSameSeed(t *testing.T) {
	say := func(seed uint64) string {
		w := New(Options{Story: Zombie, Seed: seed, Start: time.Unix(1_790_000_000, 0), Clock: func() time.Duration { return time.Minute }, CLIKey: "k"})
		var b strings.Builder
		for _, path := range []string{"/usc/sandbox?limit=100", "/use/sandbox?limit=100", "/hub/api/hub/sessions"} {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Header.Set("Authorization", "Bearer k")
			out := httptest.NewRecorder()
			w.Handler().ServeHTTP(out, r)
			b.WriteString(out.Body.String())
		}
		for _, l := range w.Lines() {
			b.WriteString(l.Text() + "\n")
		}
		return b.String()
	}
	if first, again := say(1), say(1); first != again || first == say(2) {
		t.Error("the seed does not decide")
	}
}

// TestLinesHaveAllForms: with the Hub's name, without it, and as JSON.
func TestLinesHaveAllForms(t *testing.T) {
	forms := map[string]bool{}
	for seed := range uint64(12) {
		w := New(Options{Story: Zombie, Seed: seed, Start: time.Unix(1_790_000_000, 0), Clock: func() time.Duration { return 0 }})
		for _, l := range w.Lines() {
			text := l.Text()
			switch {
			case l.JSON:
				var doc map[string]string
				if err := json.Unmarshal([]byte(text), &doc); err != nil || doc["sessionId"] != l.Session || doc["sandboxId"] != l.Sandbox {
					t.Errorf("%v in %s", err, text)
				}
				forms["json"] = true
			case strings.Contains(text, "] [hub] "):
				forms["named"] = true
			default:
				forms["bare"] = true
			}
			if !strings.Contains(text, l.Session) || !strings.Contains(text, l.Sandbox) {
				t.Errorf("%s", text)
			}
		}
	}
	if len(forms) != 3 {
		t.Errorf("%v", forms)
	}
}
