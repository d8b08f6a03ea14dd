package helix

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// lossyServer lists sessions and serves their own routes.
func lossyServer(t *testing.T, set func(*Options, string)) (*rig, *table, *pages) {
	list, health := &pages{bodies: []string{listOf(20)}}, &table{m: routes{}}
	for i := range 20 {
		health.set(fmt.Sprintf("s%02d", i), say(200, open))
	}
	serve := func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/healthz/") {
			health.serve(w, r)
			return
		}
		list.serve(w, r)
	}
	return newRig(t, serve, func(o *Options, url string) {
		o.ListURL, o.RequestsPerSec = url+"/operator/sessions", 1000
		set(o, url)
	}), health, list
}

func listOf(n int) string {
	var ids []string
	for i := range n {
		ids = append(ids, fmt.Sprintf(`{"sessionId":"s%02d","status":"running","workspaces":[`+box+`]}`, i, 1767268790000))
	}
	return `{"sessions":[` + strings.Join(ids, ",") + `]}`
}

func aggregated(o *Options, url string) {
	o.AggregateURL, o.ListURL = url+"/operator/workspaces", ""
}

// A session that a suspect list leaves out is asked itself: the documented 404 ends it, a snapshot shows that it runs.
func TestSessionsThatASuspectListLeavesOutAreAsked(t *testing.T) {
	for name, set := range map[string]func(*Options, string){"list": func(*Options, string) {}, "aggregate": aggregated} {
		t.Run(name, func(t *testing.T) {
			rig, health, list := lossyServer(t, set)
			if r := rig.poll(); len(r.Sessions) != 20 {
				t.Fatalf("%d sessions", len(r.Sessions))
			}
			for i := range 12 {
				health.drop(fmt.Sprintf("s%02d", i)) // 404: no active session
			}
			health.set("s12", say(500, ""))
			health.set("s13", say(404, "404 page not found"))
			list.set(0, `{"sessions":[]}`)
			r := rig.poll()
			if len(r.Ended) != 12 || len(r.Sessions) != 6 || len(r.Workspaces) != 6 || staleWhy(r, "s12") == "" || staleWhy(r, "s13") == "" {
				t.Errorf("ended %v, %d sessions, %d workspaces, stale %v", r.Ended, len(r.Sessions), len(r.Workspaces), r.Stale)
			}
			if s := sessionOf(r, "s19"); s == nil || !s.Running.Or(false) {
				t.Errorf("a session that answers runs: %+v", s)
			}
			if r = rig.poll(); len(r.Ended) != 0 || len(r.Sessions) != 6 {
				t.Errorf("then: ended %v, %d sessions", r.Ended, len(r.Sessions))
			}
			list.set(0, listOf(20))
			if r = rig.poll(); len(r.Sessions) != 20 {
				t.Errorf("named again: %d sessions", len(r.Sessions))
			}
		})
	}
}

func TestSessionsThatFewLeaveOutAreNotAsked(t *testing.T) {
	rig, _, list := lossyServer(t, func(*Options, string) {})
	rig.poll()
	asked := rig.asked("/healthz/s19")
	list.set(0, listOf(11))
	if r := rig.poll(); len(r.Sessions) != 11 || rig.asked("/healthz/s19") != asked {
		t.Errorf("%d sessions, asked %d times", len(r.Sessions), rig.asked("/healthz/s19")-asked)
	}
}

// A list that shrinks a little on every poll is suspect once half or more left it within minutes: who still answers is named.
func TestSessionsThatLeaveTheirListLittleByLittleAreAsked(t *testing.T) {
	for name, set := range map[string]func(*Options, string){"list": func(*Options, string) {}, "aggregate": aggregated} {
		t.Run(name, func(t *testing.T) {
			rig, health, list := lossyServer(t, set)
			health.drop("s19") // ended: the documented 404
			rig.poll()
			var r backend.Reading
			shrink := func() {
				for n := 17; n > 4; n -= 3 {
					list.set(0, listOf(n))
					r = rig.poll()
				}
			}
			shrink()
			if len(r.Sessions) != 5 || r.Unseen {
				t.Errorf("a list may be ahead of its registries by %v: %d sessions, %v", leftLag, len(r.Sessions), r.Degraded)
			}
			rig.clock.Add(leftLag)
			r = rig.poll()
			if text := unlisted(r); len(r.Sessions) != 19 || r.Unseen || text != "14 sessions run that no list names (s05, s06, s07, s08, s09 and 9 more): the list is not whole" {
				t.Errorf("%d sessions, %v", len(r.Sessions), text)
			}
			if len(r.Ended) != 1 || r.Ended[0].ID.Raw() != "s19" {
				t.Errorf("ended %v", r.Ended)
			}
			rig.clock.Add(leftFor)
			if r = rig.poll(); sessionOf(r, "s05") == nil || len(r.Unlisted) != 14 {
				t.Errorf("while they answer: %v, %v", r.Sessions, r.Unlisted)
			}
			list.set(0, listOf(20))
			if r = rig.poll(); len(r.Sessions) != 20 || len(r.Unlisted) > 0 {
				t.Errorf("named again: %d sessions, %v", len(r.Sessions), r.Unlisted)
			}
			for i := range 20 {
				health.drop(fmt.Sprintf("s%02d", i))
			}
			shrink()
			rig.clock.Add(leftLag)
			for range 3 {
				if r = rig.poll(); len(r.Unlisted) > 0 {
					t.Errorf("a batch that ended: %v", r.Unlisted)
				}
			}
		})
	}
}

// A short list is no proof either: who left it is asked, in the same process and in the next one.
func TestSessionsThatAShortListLeavesOutAreAsked(t *testing.T) {
	for name, set := range map[string]func(*Options, string){"list": func(*Options, string) {}, "aggregate": aggregated} {
		for _, n := range []int{1, 3, 9} {
			rig, health, list := lossyServer(t, set)
			list.set(0, listOf(n))
			rig.poll()
			list.set(0, `{"sessions":[]}`)
			rig.poll()
			rig.clock.Add(leftLag)
			if r := rig.poll(); len(r.Sessions) != n || r.Unseen || len(r.Unlisted) != n {
				t.Errorf("%s: %d of %d sessions, %v", name, len(r.Sessions), n, r.Unlisted)
			}
			next := build(t, rig.deps(), func(o *Options) {
				o.URL, o.ListURL = rig.url+"/healthz/{session}", rig.url+"/operator/sessions"
				set(o, rig.url)
			})
			var known []backend.Key
			for i := range n {
				known = append(known, backend.Key{Kind: backend.KindSession, Source: "helix", ID: backend.MustID(fmt.Sprintf("s%02d", i))})
			}
			health.drop("s00")
			next.Attend(backend.Attention{Listed: known})
			r, err := next.Poll(t.Context())
			if err != nil || len(r.Sessions) != n || len(r.Workspaces) != n-1 || r.Unseen || len(r.Unlisted) != n-1 {
				t.Errorf("%s, another process: %d of %d sessions, %d workspaces, %v, %v", name, len(r.Sessions), n, len(r.Workspaces), r.Unlisted, err)
			}
		}
	}
}

// What a session answers that left its list and is not asked to the end is forgotten.
func TestSessionsThatLeftAndNeverTellAreForgotten(t *testing.T) {
	rig, health, list := lossyServer(t, func(*Options, string) {})
	rig.poll()
	for i := 5; i < 20; i++ {
		health.set(fmt.Sprintf("s%02d", i), say(500, ""))
	}
	for n := 17; n > 4; n -= 3 {
		list.set(0, listOf(n))
		rig.poll()
	}
	rig.clock.Add(leftLag)
	r := rig.poll()
	for range 3 { // a server that fails again and again is asked on in the next poll
		if r.Partial {
			r = rig.poll()
		}
	}
	if len(r.Unlisted) != 15 || !r.Unlisted[0].Silent() || !strings.HasPrefix(unlisted(r), "15 sessions left the list, and their own routes cannot be read (s05, s06, s07, s08, s09 and 10 more): unreachable") {
		t.Errorf("%s, %d asked", unlisted(r), len(rig.source.lost))
	}
	rig.clock.Add(leftFor)
	rig.poll()
	if len(rig.source.lost)+len(rig.source.left) != 0 {
		t.Errorf("still asked: %d, remembered: %d", len(rig.source.lost), len(rig.source.left))
	}
}

// A registry that holds nothing open agrees with a list that leaves its session out.
func TestAClosedRegistryAgreesWithTheList(t *testing.T) {
	rig, health, list := lossyServer(t, func(*Options, string) {})
	list.set(0, listOf(3))
	rig.poll()
	health.set("s00", say(200, `{"workspaces":[]}`))
	health.set("s01", say(200, strings.Replace(open, `"open"`, `"closed"`, 1)))
	list.set(0, `{"sessions":[]}`)
	rig.poll()
	rig.clock.Add(leftLag)
	if r := rig.poll(); len(r.Unlisted) != 1 || r.Unlisted[0].Session.Raw() != "s02" {
		t.Errorf("unlisted %+v", r.Unlisted)
	}
}

// A session that alerts is not given up while its own route does not tell.
func TestAnAlertingSessionThatNeverTellsIsNotGivenUp(t *testing.T) {
	rig, health, list := lossyServer(t, func(*Options, string) {})
	list.set(0, `{"sessions":[]}`)
	health.set("s00", say(401, ""))
	key := backend.Key{Kind: backend.KindSession, Source: "helix", ID: backend.MustID("s00")}
	rig.source.Attend(backend.Attention{Alerting: []backend.Key{key}})
	rig.poll()
	rig.clock.Add(time.Hour)
	if r := rig.poll(); len(r.Unlisted) != 1 {
		t.Errorf("unlisted %+v", r.Unlisted)
	}
	rig.source.Attend(backend.Attention{})
	if r := rig.poll(); len(r.Unlisted) != 0 {
		t.Errorf("unlisted %+v", r.Unlisted)
	}
}

func unlisted(r backend.Reading) string {
	return backend.Join(backend.UnlistedTexts(r.Unlisted), "; ").String()
}

// What alerts since the run before and is on no list is asked once.
func TestAlertingSessionsThatNoListNamesAreAskedOnce(t *testing.T) {
	rig, health, list := lossyServer(t, func(*Options, string) {})
	list.set(0, `{"sessions":[]}`)
	health.drop("s00")
	rig.source.Attend(backend.Attention{Alerting: []backend.Key{{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID("s00"), ID: backend.MustID("box")},
		{Kind: backend.KindSession, Source: "helix", ID: backend.MustID("s01")}}})
	r := rig.poll()
	if s := sessionOf(r, "s00"); s == nil || s.Answer != backend.AnswerIdle || workspace(r, "s01/box") == nil {
		t.Errorf("sessions %+v", r.Sessions)
	}
	rig.poll()
	if n := rig.asked("/healthz/s00"); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// Sessions that cannot be read are counted by kind of error, an undocumented 404 among them.
func TestUnreadSessionsAreCountedByKind(t *testing.T) {
	rig, health, _ := lossyServer(t, func(*Options, string) {})
	rig.poll()
	for i, h := range []http.HandlerFunc{say(500, ""), say(500, ""), say(401, ""), say(200, `{"workspaces":[{"name":"box","state":`), say(404, "not found")} {
		health.set(fmt.Sprintf("s%02d", i), h)
	}
	rig.clock.Add(time.Minute)
	r := rig.poll()
	var got []string
	for _, u := range r.Unread {
		got = append(got, fmt.Sprintf("%s %d %s", u.Kind, u.Sessions, u.Example))
	}
	if text := strings.Join(got, "\n"); r.Asked != 20 || len(got) != 4 || !strings.Contains(text, "absent 1 s04: ") || !strings.Contains(text, "unreachable 2 s00: answered 500") ||
		!strings.Contains(text, "unauthorised 1 s02: ") || !strings.Contains(text, "invalid 1 s03: ") {
		t.Errorf("of %d:\n%s", r.Asked, text)
	}
}

// An entry of a list without a usable id is a session that cannot be read.
func TestEntriesWithoutAnIDAreUnread(t *testing.T) {
	for _, entry := range []string{`{"id":"s1","status":"running"}`, `{"sessionId":"x\udc00","status":"running"}`} {
		rig, _, list := lossyServer(t, func(*Options, string) {})
		list.set(0, strings.Replace(listOf(10), "[", "["+strings.Repeat(entry+",", 10), 1))
		r := rig.poll()
		if len(r.Unread) != 1 || r.Unread[0].Kind != backend.ErrInvalid || r.Unread[0].Sessions != 10 || r.Asked != 20 {
			t.Errorf("%s: of %d: %+v", entry, r.Asked, r.Unread)
		}
		list.set(0, listOf(10))
		if r = rig.poll(); len(r.Unread) != 0 {
			t.Errorf("%s: then %+v", entry, r.Unread)
		}
	}
}

// A 404 that is not the documented one tells nothing of a session that may run; of one that its list calls over it says nothing new.
func TestAnUndocumented404OfARunningSessionIsUnread(t *testing.T) {
	for _, body := range []string{"", "<html>nginx 404</html>", `{"error":"Not Found"}`, `{"error":"unauthorized"}`} {
		rig, health, list := lossyServer(t, func(*Options, string) {})
		for i := range 5 {
			health.set(fmt.Sprintf("s%02d", i), say(404, body))
		}
		r := rig.poll()
		if len(r.Unread) != 1 || r.Unread[0].Kind != backend.ErrAbsent || r.Unread[0].Sessions != 5 {
			t.Errorf("%q: running: %+v", body, r.Unread)
		}
		list.set(0, strings.ReplaceAll(listOf(20), "running", "completed"))
		rig.clock.Add(time.Minute)
		if r = rig.poll(); len(r.Unread) != 0 {
			t.Errorf("%q: completed: %+v", body, r.Unread)
		}
	}
}

// Where a session answers the documented 404 and its list calls it running, one of them is wrong: what fails is kept until the
// list says otherwise, what works for 2 minutes.
func TestADocumented404OfASessionThatItsListCallsRunning(t *testing.T) {
	rig, health, list := lossyServer(t, func(*Options, string) {})
	health.set("s00", say(200, `{"workspaces":[{"name":"box","state":"failed","lastError":"boom","lastAttemptAt":1767268790000}]}`))
	rig.poll()
	health.drop("s00")
	health.drop("s01")
	r := rig.poll()
	if len(r.Ended) != 0 || staleWhy(r, "s00") == "" || staleWhy(r, "s01") == "" {
		t.Errorf("ended %v, stale %v", r.Ended, r.Stale)
	}
	rig.clock.Add(2 * time.Minute)
	if r = rig.poll(); len(r.Ended) != 1 || r.Ended[0].Parent.Raw() != "s01" || staleWhy(r, "s00") == "" {
		t.Errorf("after 2m: ended %v, stale %v", r.Ended, r.Stale)
	}
	list.set(0, strings.Replace(listOf(20), "running", "completed", 1))
	rig.clock.Add(time.Minute)
	if r = rig.poll(); len(r.Ended) != 1 || r.Ended[0].Parent.Raw() != "s00" {
		t.Errorf("not running: ended %v, stale %v", r.Ended, r.Stale)
	}
}
