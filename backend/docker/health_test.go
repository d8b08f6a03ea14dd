package docker

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"

	"sandglass/backend"
)

var checkedAt = time.Date(2026, 11, 21, 15, 48, 0, 0, time.UTC)

// checkLog writes a log with one check every 30 s, the last of which ended at checkedAt: P passed, F failed.
func checkLog(results string) []*container.HealthcheckResult {
	var out []*container.HealthcheckResult
	for i, r := range results {
		end := checkedAt.Add(-time.Duration(len(results)-1-i) * 30 * time.Second)
		x := &container.HealthcheckResult{Start: end.Add(-time.Second), End: end, Output: fmt.Sprint("check ", i, "\n")}
		if r == 'F' {
			x.ExitCode = 1
		}
		out = append(out, x)
	}
	return out
}

func TestHealthChecksSayBetweenWhichMomentsTheyBeganToFail(t *testing.T) {
	long := checkedAt.Add(-24 * time.Hour)
	ago := func(d time.Duration) time.Time { return checkedAt.Add(-d) }
	for _, c := range []struct {
		name              string
		log               string
		streak            int
		interval          time.Duration
		started           time.Time
		failed            int
		failingBy, passed time.Time
	}{
		{"all passed", "PPPPP", 0, 30 * time.Second, long, 0, time.Time{}, ago(time.Second)},
		{"failing after a pass", "PPFFF", 3, 30 * time.Second, long, 3, ago(60 * time.Second), ago(91 * time.Second)},
		{"back again", "FFFFP", 0, 30 * time.Second, long, 0, time.Time{}, ago(time.Second)},
		{"flapping: only the unbroken tail counts", "FPFPF", 1, 30 * time.Second, long, 1, checkedAt, ago(31 * time.Second)},
		{"the whole log fails, and nothing before it", "FFFFF", 5, 30 * time.Second, long, 5, ago(120 * time.Second), time.Time{}},
		{"more failed than the log holds: an interval lies between two at least", "FFFFF", 80, 30 * time.Second, long, 80, ago(121*time.Second + 75*30*time.Second), time.Time{}},
		{"the interval is not known", "FFFFF", 80, 0, long, 80, ago(121 * time.Second), time.Time{}},
		{"more than fit into the run: counted otherwise", "FFFFF", 80, 30 * time.Second, ago(5 * time.Minute), 80, ago(120 * time.Second), time.Time{}},
		{"what failed while it was starting up does not count", "FFFFF", 2, 30 * time.Second, ago(3 * time.Minute), 2, ago(30 * time.Second), time.Time{}},
		{"still starting up", "FF", 0, 30 * time.Second, ago(time.Minute), 0, time.Time{}, time.Time{}},
		{"the run before is no part of it", "PPFFF", 2, 30 * time.Second, ago(40 * time.Second), 2, ago(30 * time.Second), time.Time{}},
	} {
		h := &container.Health{Status: "unhealthy", FailingStreak: c.streak, Log: checkLog(c.log)}
		v, out := checksOf(h, c.interval, c.started)
		got, known := v.Get()
		exit := 0
		if strings.HasSuffix(c.log, "F") {
			exit = 1
		}
		want := backend.HealthChecks{Checked: checkedAt, ExitCode: exit, Failed: c.failed, FailingBy: c.failingBy, Passed: c.passed}
		if !known || got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, want)
		}
		if want := fmt.Sprint("check ", len(c.log)-1, "\n"); out != want {
			t.Errorf("%s: output %q, want that of the newest check", c.name, out)
		}
	}
}

func TestHealthChecksThatDoNotTell(t *testing.T) {
	broken := []*container.HealthcheckResult{nil, {}, {End: checkedAt}, {Start: checkedAt}}
	for _, log := range [][]*container.HealthcheckResult{nil, broken, checkLog("FFF")} {
		if v, out := checksOf(&container.Health{Status: "unhealthy", FailingStreak: 9, Log: log}, time.Second, checkedAt.Add(time.Hour)); v.IsKnown() || out != "" {
			t.Errorf("log %v: %+v, output %q", log, v, out)
		}
	}
	huge := checkLog(strings.Repeat("F", 10_000))
	if v, _ := checksOf(&container.Health{Status: "unhealthy", FailingStreak: 10_000, Log: huge}, 0, time.Time{}); v.Or(backend.HealthChecks{}).FailingBy.Before(checkedAt.Add(-maxChecks * 30 * time.Second)) {
		t.Error("more of the log is looked at than its bound says")
	}
	for _, c := range []struct {
		h    *container.HealthConfig
		want time.Duration
	}{{nil, 0}, {&container.HealthConfig{}, 30 * time.Second}, {&container.HealthConfig{Interval: time.Minute}, time.Minute}, {&container.HealthConfig{Interval: -1}, 0}} {
		if got := checkInterval(c.h); got != c.want {
			t.Errorf("interval of %+v: %v", c.h, got)
		}
	}
}

// The engine keeps the results of the run before in the log. What they say is not true of the new run.
func TestHealthOfARestartedContainerIsThatOfItsNewRun(t *testing.T) {
	const gone = `OCI runtime exec failed: exec failed: unable to start container process: chdir to cwd (\"/work\") set in config.json failed: no such file or directory: unknown`
	state := func(started, status string, streak int) string {
		return fmt.Sprintf(`,"StartedAt":%q,"FinishedAt":"0001-01-01T00:00:00Z","Health":{"Status":%q,"FailingStreak":%d,"Log":[`+
			`{"Start":"2026-11-21T10:00:00Z","End":"2026-11-21T10:00:01Z","ExitCode":0,"Output":""},{"Start":"2026-11-21T10:00:31Z","End":"2026-11-21T10:00:32Z","ExitCode":-1,"Output":"%s"}]}`, started, status, streak, gone)
	}
	f := newFake(t)
	f.add(&fakeContainer{id: "old", name: "old", status: "Up 1 hour (unhealthy)", stateJSON: state("2026-11-21T09:00:00Z", "unhealthy", 1)})
	f.add(&fakeContainer{id: "new", name: "new", status: "Up 1 second (health: starting)", stateJSON: state("2026-11-21T10:01:00Z", "starting", 0)})
	s, _ := f.source(nil)
	r := mustPoll(t, s)
	old, fresh := find(t, r, "old"), find(t, r, "new")
	early, late, failing := old.Failing()
	if !failing || !old.WorkDirGone() || late.Sub(early) != 32*time.Second {
		t.Errorf("failing %v between %v and %v, directory gone %v: %+v", failing, early, late, old.WorkDirGone(), old.HealthChecks)
	}
	if _, _, failing := fresh.Failing(); failing || fresh.WorkDirGone() || fresh.HealthChecks.IsKnown() || fresh.HealthChecks.IsNotApplicable() || !fresh.HealthOutput.IsEmpty() {
		t.Errorf("the new run is shown with the checks of the one before: %+v, output %q", fresh.HealthChecks, fresh.HealthOutput)
	}
	f.add(&fakeContainer{id: "none", name: "none"})
	s, _ = f.source(nil)
	if b := find(t, mustPoll(t, s), "none"); !b.HealthChecks.IsNotApplicable() {
		t.Errorf("without a health check: %+v", b.HealthChecks)
	}
}

// TestTheHealthOfAnUnhealthyContainerIsReadAgain: no event tells of one more failed check, so an inspection a minute does; the first
// failure does not move while the engine forgets the older checks.
func TestTheHealthOfAnUnhealthyContainerIsReadAgain(t *testing.T) {
	state := func(streak int, newest string) string {
		return fmt.Sprintf(`,"StartedAt":"2026-11-21T09:00:00Z","FinishedAt":"0001-01-01T00:00:00Z","Health":{"Status":"unhealthy","FailingStreak":%d,"Log":[`+
			`{"Start":%q,"End":%q,"ExitCode":1,"Output":"refused"}]}`, streak, newest, newest)
	}
	f := newFake(t)
	f.add(&fakeContainer{id: "sick", name: "sick", status: "Up 1 hour (unhealthy)", stateJSON: state(8, "2026-11-21T10:00:00Z")})
	s, clock := f.source(nil)
	stands := clock.Now().UTC().Format(http.TimeFormat)
	f.override = func(w http.ResponseWriter, _ *http.Request) bool { w.Header().Set("Date", stands); return false }
	_, first, _ := find(t, mustPoll(t, s), "sick").Failing()
	f.add(&fakeContainer{id: "sick", name: "sick", status: "Up 1 hour (unhealthy)", stateJSON: state(9, "2026-11-21T10:02:00Z")})
	clock.Add(2 * time.Minute)
	b := find(t, mustPoll(t, s), "sick")
	c, _ := b.HealthChecks.Get()
	if _, late, _ := b.Failing(); c.Failed != 9 || !late.Equal(first.Add(2*time.Minute)) { // the engine's clock stands meanwhile, and times are corrected by that
		t.Errorf("after 9 failures it shows %d, failing by %v, which was %v", c.Failed, late, first)
	}
	f.add(&fakeContainer{id: "sick", name: "sick", status: "Up 1 hour (unhealthy)", stateJSON: state(3, "2026-11-21T10:04:00Z")})
	clock.Add(2 * time.Minute)
	b = find(t, mustPoll(t, s), "sick")
	if _, late, _ := b.Failing(); !late.Equal(first.Add(8 * time.Minute)) {
		t.Errorf("it passed and failed again: failing by %v, before that %v", late, first)
	}
}
