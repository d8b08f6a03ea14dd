package rules

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
)

// listedWords are words of error texts; texts made of them at random have nothing in common.
var listedWords = strings.Fields("adapter bucket cursor daemon endpoint failed gateway handshake image journal kernel lease migration network object packet query refused session token upload volume worker zone closed expired missing denied corrupt stalled")

func (r noise) sentence(word func() string) string {
	words := make([]string, 5+r.IntN(5))
	for i := range words {
		words[i] = word()
	}
	return strings.Join(words, " ")
}

// A kind of error that words every text differently shares one line, and still counts.
func TestTextsThatAllDifferShareALine(t *testing.T) {
	r := noise{rand.New(rand.NewPCG(17, 3))}
	for name, word := range map[string]func() string{
		"names": func() string { return r.letters(4 + r.IntN(6)) },
		"words": func() string { return r.of(listedWords...) },
	} {
		texts := make([]string, 10_000)
		for i := range texts {
			if texts[i] = r.text(i % 20); i%20 == 0 {
				texts[i] = r.sentence(word)
			}
		}
		s := noisyFleet(t, len(texts), func(i int) string { return texts[i] })
		s.plainly = name == "words"
		s.look()
		if n := len(s.board.Alerts); n > 100 {
			t.Errorf("%s: %d lines", name, n)
		}
		other := 0
		for _, a := range s.alerts(failedRule) {
			if strings.HasPrefix(a.Cause.String(), "other error texts") {
				other++
				if a.State != alerts.StateFiring || a.SubjectCount < 450 || a.Variants.Count < 450 || !strings.Contains(a.Variants.Text().String(), "variants: error text ") {
					t.Errorf("%s: %s of %d, %s", name, a.State, a.SubjectCount, a.Variants.Text())
				}
			}
		}
		if other != 1 {
			t.Errorf("%s: %d lines of other texts:\n%s", name, other, causesOf(s, failedRule))
		}
		before := fingerprints(causesOf(s, failedRule))
		s.restart()
		for i := range 3 { // a further one is one of the others, and moves no line
			s.reads(fmt.Sprintf("later%d/box", i), reading{state: "failed", err: r.sentence(word), attempt: 40 * time.Minute, success: 50 * time.Minute})
			s.after(time.Second)
		}
		if n := len(s.board.Alerts); n > 200 {
			t.Errorf("%s: %d lines after more texts", name, n)
		}
		for _, l := range strings.Split(before, "\n") {
			if id := strings.Fields(l)[0]; !strings.Contains(causesOf(s, failedRule), id) {
				t.Errorf("%s: %s is gone", name, id)
			}
		}
	}
}

// However their texts differ: most workspaces fail, so something is wrong.
func TestMostWorkspacesFailWithDifferentTexts(t *testing.T) {
	texts := []string{"Kanal zu Anna zerrissen", "la connexion est rompue", "接続に失敗しました", "соединение потеряно", "database is locked", "se perdió"}
	fails := func(s *story, n int, attempt, success time.Duration) {
		for i := range n {
			r := reading{state: "open", attempt: attempt, success: attempt}
			if i < len(texts) {
				r = reading{state: "failed", err: texts[i], attempt: attempt, success: success}
			}
			s.reads(fmt.Sprintf("s%d/box", i), r)
		}
	}
	s := begin(t, chaosRule)
	fails(s, 6, 3*time.Second, time.Minute)
	s.look().want(chaosRule, alerts.StatePending)
	s.every(10*time.Second, time.Minute, nil).want(chaosRule, alerts.StateFiring)

	s = begin(t, chaosRule) // none of them has succeeded for a long time
	fails(s, 6, 3*time.Second, 20*time.Minute)
	s.look().want(chaosRule, alerts.StateFiring)

	s = begin(t, chaosRule) // a part of a fleet
	fails(s, 20, 3*time.Second, 20*time.Minute)
	s.look().quiet(chaosRule)
}

// Names in other languages, without digits and without blanks around them, are values.
func TestNamesInOtherLanguages(t *testing.T) {
	for _, form := range []string{"Verbindung zu sandbox-%s fehlgeschlagen", "%sへの接続に失敗しました", "无法连接到%s的沙箱", "Не удалось подключиться к %s", "Impossible de joindre « %s »", "%s에 연결할 수 없습니다", "No se pudo conectar con %s", "Falha ao conectar com %s"} {
		s := begin(t, failedRule, burstRule)
		for i, name := range strings.Fields("anna bruno carla dieter emil franz") {
			s.reads(fmt.Sprintf("s%d/box", i), reading{state: "failed", err: fmt.Sprintf(form, name), attempt: 90 * time.Second, success: 20 * time.Minute})
		}
		if a := s.look().want(failedRule, alerts.StateFiring); a.SubjectCount != 6 || !a.Variants.IsZero() {
			t.Errorf("%q: %d workspaces, %s", form, a.SubjectCount, a.Variants.Text())
		}
	}
}

// What only says where a name stands, or which attempts there were, is no variant.
func TestRubbishIsNoVariant(t *testing.T) {
	for name, text := range map[string]func(int) string{
		"class": func(i int) string { return [...]string{"", "WorkspaceFailedError: ", "Error: "}[i%3] + "lease lost" },
		"id": func(i int) string {
			return "lease " + [...]string{"QmFsZXhBbmQ", "kJhGfDsAqW", "XnYbZcAdBe"}[i%3] + " lost"
		},
		"names": func(i int) string { return "agent " + []string{"anna", "bruno", "carla"}[min(i, 2)] + " crashed" },
		"attempts": func(i int) string {
			return "open failed" + strings.Repeat("; attempt: connect ECONNRESET 10.0.0.1:443", 1+i%7)
		},
	} {
		s := begin(t, failedRule)
		n := 10
		if name == "names" {
			n = 3
		}
		for i := range n {
			s.reads(fmt.Sprintf("s%d/box", i), reading{state: "failed", err: text(i), attempt: 40 * time.Minute, success: 50 * time.Minute})
		}
		if a := s.look().want(failedRule, alerts.StateFiring); a.SubjectCount != n || !a.Variants.IsZero() {
			t.Errorf("%s: %d workspaces, %s", name, a.SubjectCount, a.Variants.Text())
		}
	}
}
