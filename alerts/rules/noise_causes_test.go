package rules

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// sentences are twenty kinds of error text; each %s is a place where a world puts something of its own.
var sentences = [20]string{
	"max_instances reached for sandbox %s",
	"connect ECONNREFUSED %s",
	"pod %s was evicted: the node was low on memory",
	"No such container: %s",
	"binding %s is not defined",
	"Cannot find module %s",
	"certificate for %s has expired",
	"ENOSPC: no space left on device, write %s",
	"container %s exited with code %s",
	"upstream %s answered HTTP %s",
	"failed to pull image %s: manifest unknown",
	"database is locked by session %s",
	"ref of %s has schemaVersion %s, outside the supported range",
	"R2 bucket %s unreachable",
	"lease on workspace %s lost",
	"Durable Object %s reset because its code was updated",
	"agent %s ran out of memory",
	"permission denied while opening %s",
	"socket hang up after %s of %s attempts",
	"snapshot of %s failed: checksum mismatch",
}

// noise makes what worlds put into error texts, and around them.
type noise struct{ *rand.Rand }

func (r noise) letters(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz"[r.IntN(26)]
	}
	return string(b)
}

func (r noise) mixed(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"[r.IntN(62)]
	}
	return string(b)
}

func (r noise) of(list ...string) string { return list[r.IntN(len(list))] }

func (r noise) date() string {
	at := time.Date(2026, time.Month(1+r.IntN(12)), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), 0, time.UTC)
	return at.Format(r.of(time.RFC1123, time.RFC3339, time.RFC1123Z, time.ANSIC, time.RFC3339Nano, time.RFC822))
}

// thing is a name, an identifier or a number in one of the forms that worlds give them.
func (r noise) thing() string {
	name := r.of("atlas", "hermes", "wendy", "bruno", "iris", "milo", "odin", "freya", "nightly-crawler", "invoice-bot", "brave_turing", "happy_curie", "Müller")
	switch r.IntN(22) {
	case 0:
		return "web-" + fmt.Sprintf("%x", r.Uint32()) + "-" + r.letters(5)
	case 1:
		return r.of("api", "web", "jobs") + "-" + r.letters(5)
	case 2:
		return name
	case 3:
		return "«" + name + "»"
	case 4:
		return "“" + name + "”"
	case 5:
		return "'" + name + "'"
	case 6:
		return `"` + name + `"`
	case 7:
		return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", r.Uint32(), r.Uint32()&0xffff, r.Uint32()&0xfff, r.Uint32()&0xfff, r.Uint64()&0xffffffffffff)
	case 8:
		return fmt.Sprintf("sbx_%08x", r.Uint32())
	case 9:
		return fmt.Sprintf("10.%d.%d.%d:%d", r.IntN(256), r.IntN(256), r.IntN(256), 1024+r.IntN(60000))
	case 10:
		return "/tmp/helix-ws-" + r.mixed(6) + "/" + name
	case 11:
		return "https://" + name + ".example.com/" + r.mixed(8) + "?t=" + r.mixed(6)
	case 12:
		return "id=" + r.mixed(20)
	case 13:
		return fmt.Sprint(r.IntN(100_000))
	case 14:
		return r.of("one", "two", "seven", "twelve", "forty-two")
	case 15:
		return r.mixed(22) + "=="
	case 16:
		return r.date()
	case 17:
		return fmt.Sprintf("0x%x", r.Uint32())
	case 18:
		return fmt.Sprintf("%d.%dms", r.IntN(1000), r.IntN(100))
	case 19:
		return "ghcr.io/" + r.letters(5) + "/" + name + ":" + fmt.Sprint(1+r.IntN(9))
	case 20:
		return r.letters(6) + "@" + r.letters(7) + ".example"
	}
	return name + fmt.Sprint(r.IntN(1000))
}

// text is one error of a kind.
func (r noise) text(kind int) string {
	s := sentences[kind]
	for strings.Contains(s, "%s") {
		s = strings.Replace(s, "%s", r.thing(), 1)
	}
	s = r.of("", "", "Error: ", "WorkspaceFailedError: ", "WorkspaceFailedError: Error: ", "agents.WorkspaceFailedError: ") + s
	switch r.IntN(6) {
	case 0:
		s += "."
	case 1:
		s += " request=" + fmt.Sprintf("%08x", r.Uint32()) + " tenant=" + r.letters(5)
	case 2:
		s += " (request " + fmt.Sprintf("%08x", r.Uint32()) + ")"
	case 3:
		s += fmt.Sprintf("\n    at Box.open (/app/%s.js:%d:%d)\n    at async run (file:///app/index.js:%d:%d)", r.letters(4), r.IntN(99), r.IntN(99), r.IntN(99), r.IntN(99))
	case 4:
		s += " at " + r.date()
	}
	return s
}

// fleetOf is 10,000 workspaces that fail for the reasons that texts gives.
func noisyFleet(t *testing.T, n int, text func(int) string) *story {
	s := begin(t)
	for i := range n {
		s.reads(fmt.Sprintf("s%04d/w%d", i/3, i%3), reading{state: "failed", err: text(i), attempt: time.Duration(1+i%40) * time.Minute, success: 50 * time.Minute})
	}
	return s
}

func TestTenThousandWorkspacesWithTwentyKindsOfErrorAreFewLines(t *testing.T) {
	for seed := range uint64(3) {
		r := noise{rand.New(rand.NewPCG(seed, 3))}
		texts := make([]string, 10_000)
		for i := range texts {
			texts[i] = r.text(i % len(sentences))
		}
		s := noisyFleet(t, len(texts), func(i int) string { return texts[i] }).look()
		t.Logf("seed %d: %d lines", seed, len(s.board.Alerts))
		if n := len(s.board.Alerts); n > 200 {
			causes := map[string]int{}
			for _, a := range s.board.Alerts {
				causes[a.Rule+": "+a.Cause.String()] += a.SubjectCount
			}
			for _, c := range slices.Sorted(func(yield func(string) bool) {
				for c, n := range causes {
					if !yield(fmt.Sprintf("%s (%d)", c, n)) {
						return
					}
				}
			})[:min(60, len(causes))] {
				t.Log(c)
			}
			t.Errorf("seed %d: %d lines", seed, n)
		}
	}
}

// lines are the alerts of one rule with what identifies them.
func causesOf(s *story, rule string) string {
	var out []string
	for _, a := range s.alerts(rule) {
		out = append(out, fmt.Sprintf("%s %d %s", a.Fingerprint, a.SubjectCount, a.Variants.Text()))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func TestCausesDoNotDependOnTheOrderOfArrival(t *testing.T) {
	r := noise{rand.New(rand.NewPCG(11, 5))}
	texts := make([]string, 600)
	for i := range texts {
		texts[i] = r.text(i % len(sentences))
		if i%10 == 0 {
			texts[i] = "Verbindung zu " + r.letters(6) + " wurde abgelehnt"
		}
	}
	order := r.Perm(len(texts))
	at := func(s *story, from, to int, order []int) {
		for _, i := range order[from:to] {
			s.reads(fmt.Sprintf("s%03d/box", i), reading{state: "failed", err: texts[i], attempt: 40 * time.Minute, success: 50 * time.Minute})
		}
		s.look()
	}
	once := begin(t, failedRule)
	at(once, 0, len(texts), order)
	want := causesOf(once, failedRule)
	for range 3 {
		r.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
		bits := begin(t, failedRule)
		for from := 0; from < len(order); from += 100 {
			at(bits, from, from+100, order)
			if from%200 == 0 {
				bits.restart()
			}
			bits.pass(0)
		}
		if got := causesOf(bits, failedRule); strings.ReplaceAll(got, "\n", "") == "" || fingerprints(got) != fingerprints(want) {
			t.Errorf("in another order, and bit by bit:\n%s\nall at once:\n%s", got, want)
		}
	}
}

// fingerprints are the counted causes without the German template, whose identity is that of its first text.
func fingerprints(lines string) string {
	var out []string
	for l := range strings.SplitSeq(lines, "\n") {
		f := strings.Fields(l)
		if f[1] == "60" {
			f[0] = "template"
		}
		out = append(out, f[0]+" "+f[1])
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func TestFourHundredPodsAreOneLineFromTheFirstState(t *testing.T) {
	r := noise{rand.New(rand.NewPCG(7, 7))}
	for form, pod := range map[string]func() string{
		"generated":  func() string { return "web-" + fmt.Sprintf("%x", r.Uint32()) + "-" + r.letters(5) },
		"letters":    func() string { return "web-" + r.letters(9) + "-" + r.letters(5) },
		"suffix":     func() string { return "worker-" + r.letters(5) },
		"bare names": func() string { return r.letters(7) },
	} {
		s := noisyFleet(t, 400, func(int) string { return "pod " + pod() + " is gone" }).look()
		if a := s.alerts(failedRule); len(a) != 1 || a[0].SubjectCount != 400 || !a[0].Variants.IsZero() {
			t.Errorf("%s: %d lines, %+v", form, len(a), a[0].Variants)
		}
	}
}

func TestVariantsAreCountedInsideTheLine(t *testing.T) {
	for _, c := range []struct {
		text   func(int) string
		expect string
	}{
		{func(i int) string {
			return fmt.Sprintf("binding '%s' is not defined", [...]string{"SANDBOX", "FILES"}[i%2])
		}, "2 variants: binding 'FILES' 5, 'SANDBOX' 5"},
		{func(i int) string {
			return fmt.Sprintf("upstream answered HTTP %d", [...]int{401, 503, 503, 503, 503}[i%5])
		}, "2 variants: http 503 8, 401 2"},
		{func(i int) string {
			return fmt.Sprintf("write failed: errno %d (request %08x)", [...]int{28, 13}[i%2], i*7777777)
		}, "2 variants: errno 13 5, 28 5"},
		{func(i int) string { return fmt.Sprintf("container w%d exited with code %d", i, [...]int{137, 1}[i%2]) }, "2 variants: code 1 5, 137 5"},
		{func(i int) string {
			return fmt.Sprintf("connect ECONNREFUSED 10.0.0.%d:%d", i, [...]int{5432, 8080}[i%2])
		}, "2 variants: port 5432 5, 8080 5"},
		{func(i int) string {
			return fmt.Sprintf("ref schemaVersion %d is outside the supported range 1-3", 4+i%2)
		}, "2 variants: schemaversion 4 5, 5 5"},
		{func(i int) string {
			return fmt.Sprintf("image acme/%s:1.4 not found", [...]string{"box", "runner"}[i%2])
		}, "2 variants: image acme/box:1.4 5, acme/runner:1.4 5"},
		{func(i int) string {
			return fmt.Sprintf("Cannot find module '%s'", [...]string{"left-pad", "express"}[i%2])
		}, "2 variants: module 'express' 5, 'left-pad' 5"},
		{func(i int) string { return fmt.Sprintf("permission denied: %s", [...]string{"/srv/a", "/srv/b"}[i%2]) }, "2 variants: denied /srv/a 5, /srv/b 5"},
		{func(i int) string {
			return fmt.Sprintf("fetch https://%s.example/v1 failed", [...]string{"a", "b"}[i%2])
		}, "2 variants: fetch https://a.example/v1 5, https://b.example/v1 5"},
		{func(i int) string {
			return fmt.Sprintf("R2 bucket agents-%s unreachable", [...]string{"eu", "us"}[i%2])
		}, "2 variants: bucket agents-eu 5, agents-us 5"},
	} {
		s := begin(t, failedRule)
		for i := range 10 {
			s.reads(fmt.Sprintf("s%d/box", i), reading{state: "failed", err: c.text(i), attempt: 40 * time.Minute, success: 50 * time.Minute})
		}
		if a := s.look().want(failedRule, alerts.StateFiring); a.Variants.Text().String() != c.expect || a.SubjectCount != 10 {
			t.Errorf("%q, want %q", a.Variants.Text(), c.expect)
		}
	}
}

// half fails ten workspaces with two bindings, the second of which began later by apart.
func half(s *story, apart time.Duration, each int) {
	for i := range 2 * each {
		at, binding := 60*time.Minute, "SANDBOX"
		if i >= each {
			at, binding = at-apart, "FILES"
		}
		s.reads(fmt.Sprintf("s%02d/box", i), reading{state: "failed", err: "binding '" + binding + "' is missing in the queue", attempt: at, success: at + time.Minute})
	}
}

func TestVariantsThatBeganApartAreLinesOfTheirOwn(t *testing.T) {
	for _, c := range []struct {
		apart       time.Duration
		each, lines int
	}{{9 * time.Minute, 5, 1}, {11 * time.Minute, 5, 2}, {30 * time.Minute, 4, 1}, {30 * time.Minute, 6, 2}} {
		s := begin(t, failedRule)
		half(s, c.apart, c.each)
		s.look()
		all := s.alerts(failedRule)
		if len(all) != c.lines {
			t.Fatalf("%v: %d lines, want %d:\n%s", c, len(all), c.lines, causesOf(s, failedRule))
		}
		if c.lines == 1 {
			continue
		}
		if !strings.Contains(all[0].Cause.String()+all[1].Cause.String(), "FILES") || !all[0].Variants.IsZero() || !all[1].Variants.IsZero() || all[0].SubjectCount != c.each {
			t.Errorf("lines %s, %s", all[0].Cause, all[1].Cause)
		}
		before := causesOf(s, failedRule)
		s.restart()
		s.after(time.Second)
		if got := causesOf(s, failedRule); got != before {
			t.Errorf("after a restart\n%s\nbefore\n%s", got, before)
		}
		// another one of the later variant joins its line, also after the restart
		s.reads("new/box", reading{state: "failed", err: "binding 'FILES' is missing in the queue.", attempt: 20 * time.Minute, success: 21 * time.Minute})
		s.after(time.Second)
		counts := map[int]bool{}
		for _, a := range s.alerts(failedRule) {
			counts[a.SubjectCount] = true
		}
		if len(s.alerts(failedRule)) != 2 || !counts[c.each+1] || !counts[c.each] {
			t.Errorf("the new one is on no line of its variant:\n%s", causesOf(s, failedRule))
		}
	}
}

// Words of another language that tell variants apart do so on lines of their own too, whatever names stand beside them.
func TestVerbsThatBeganApartAreLinesOfTheirOwn(t *testing.T) {
	r := noise{rand.New(rand.NewPCG(3, 3))}
	s := begin(t, failedRule)
	fails := func(id, verb string, at time.Duration) {
		s.reads(id+"/box", reading{state: "failed", err: "Zugriff auf Speicher " + r.letters(6) + " " + verb, attempt: at, success: at + time.Minute})
	}
	for i := range 6 {
		fails(fmt.Sprintf("a%d", i), "verweigert", 60*time.Minute)
		fails(fmt.Sprintf("b%d", i), "abgelaufen", 30*time.Minute)
	}
	counts := func() (out []int) {
		for _, a := range s.alerts(failedRule) {
			out = append(out, a.SubjectCount)
		}
		slices.Sort(out)
		return out
	}
	s.look()
	if got := counts(); !slices.Equal(got, []int{6, 6}) {
		t.Fatalf("lines of %v\n%s", got, causesOf(s, failedRule))
	}
	s.restart()
	fails("new", "abgelaufen", 20*time.Minute)
	s.after(time.Second)
	if got := counts(); !slices.Equal(got, []int{6, 7}) {
		t.Errorf("lines of %v\n%s", got, causesOf(s, failedRule))
	}
}

// What is acknowledged stays acknowledged while texts with other noise arrive, and after a restart.
func TestNewNoiseMovesNoAlert(t *testing.T) {
	r := noise{rand.New(rand.NewPCG(5, 5))}
	s := begin(t, failedRule)
	ids := map[string]bool{}
	for round := range 6 {
		for i := range 100 {
			s.reads(fmt.Sprintf("r%d/w%03d", round, i), reading{state: "failed", err: r.text(i % len(sentences)), attempt: 40 * time.Minute, success: 50 * time.Minute})
		}
		s.look()
		now := map[string]bool{}
		for _, a := range s.alerts(failedRule) {
			now[a.ID] = true
		}
		for id := range ids {
			if !now[id] {
				t.Fatalf("round %d: alert %s is another one now", round, id)
			}
		}
		ids = now
		if round == 3 {
			before := causesOf(s, failedRule)
			s.restart()
			if s.after(time.Second); causesOf(s, failedRule) != before {
				t.Fatalf("a restart changed the lines:\n%s\nbefore:\n%s", causesOf(s, failedRule), before)
			}
		}
		s.pass(time.Second)
	}
}

func TestATextThatGoesOnSaysSo(t *testing.T) {
	s := begin(t, failedRule)
	s.reads("a/box", reading{state: "failed", err: "connection refused by proxy " + strings.Repeat("and then some more trouble ", 40), attempt: 40 * time.Minute, success: 50 * time.Minute})
	if a := s.look().want(failedRule, alerts.StateFiring); !strings.HasSuffix(a.Cause.String(), "(it goes on: its first 40 known words are compared)") {
		t.Errorf("cause %q", a.Cause)
	}
}

func TestVariantsInJSON(t *testing.T) {
	out, err := json.Marshal(alerts.VariantsOf(map[string]int{"code\x1f137": 3, "code\x1f1": 2}).List)
	if want := `[{"values":[{"label":"code","value":"137"}],"subjects":3},{"values":[{"label":"code","value":"1"}],"subjects":2}]`; err != nil || string(out) != want {
		t.Errorf("%s, %v", out, err)
	}
	_ = backend.Safe{}
}

// A state directory of the version before is read: alerts go on, and what was acknowledged there is said.
func TestAStateDirectoryOfTheFormerVersion(t *testing.T) {
	s := begin(t, failedRule)
	for i := range 6 {
		s.reads(fmt.Sprintf("s%d/box", i), reading{state: "failed", err: oneCause(i), attempt: 40 * time.Minute, success: 50 * time.Minute})
	}
	a := s.look().want(failedRule, alerts.StateFiring)
	dir := t.TempDir()
	store, err := alerts.OpenStateStore(dir, s.engine)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := store.Save(s.board, s.moment()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "alerts.json")
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.ReplaceAll(string(data), `"v3:`, `"v2:`)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.pass(time.Minute)
	l, err := store.Load(s.moment())
	if err != nil {
		t.Fatal(err)
	}
	old := "v2:" + strings.TrimPrefix(a.Fingerprint, "v3:")
	orders, err := alerts.NewOrders([]alerts.Order{{Schema: 1, ID: "0000000a", Kind: alerts.OrderAcknowledge, At: s.wall.Add(-time.Second), For: time.Hour,
		Owner: backend.Text("mara"), Rule: failedRule, Source: "helix", Fingerprint: old, Severity: alerts.SeverityCritical}})
	if err != nil {
		t.Fatal(err)
	}
	s.number, s.mono = 0, 0
	s.board, _ = s.engine.NextWith(l.Board, s.state(), orders)
	if b := s.want(failedRule, alerts.StateFiring); b.SubjectCount != 6 || !b.Active.Equal(a.Active) || b.Lapsed == nil || b.Lapsed.Owner.String() != "mara" {
		t.Errorf("%d subjects since %s, %+v", b.SubjectCount, b.Active, b.Lapsed)
	}
}
