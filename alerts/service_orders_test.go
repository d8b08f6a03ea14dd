package alerts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
)

var (
	mara = backend.Text("mara")
	why  = backend.Text("deploy")
)

// service makes a Service on the lamp's clocks. A killed one is just dropped: nothing of it is closed or saved.
func (l *lamp) service(t testing.TB, s *StateStore, change func(*ServiceOptions)) *Service {
	t.Helper()
	o := ServiceOptions{Store: s, ReadClock: func() ClockReading { return moment(l) }, Problem: func(err error) { t.Error(err) }}
	if change != nil {
		change(&o)
	}
	return NewService(l.engine, o)
}

func (l *lamp) observe(svc *Service, words string) *Board {
	for _, word := range strings.Fields(words) {
		svc.Observe(l.state(word))
		l.now = l.now.Add(time.Minute)
	}
	l.now = l.now.Add(-time.Minute) // to the last State
	_, b := svc.Latest()
	l.board = b
	l.now = l.now.Add(time.Second)
	return b
}

type journal struct {
	orders []Order
	err    error
}

func (j *journal) Ordered(o Order) error {
	if j.err == nil {
		j.orders = append(j.orders, o)
	}
	return j.err
}

func TestOrdersAreEffectiveAtOnceAndJournalledBefore(t *testing.T) {
	l := newLamp(t, Meta{})
	j := &journal{}
	svc := l.service(t, openStore(t, t.TempDir(), l.engine), func(o *ServiceOptions) { o.Journal = j })
	if _, err := svc.Acknowledge("nothing", mara, why, 0); err == nil {
		t.Error("acknowledged before anything was read")
	}
	a := l.observe(svc, "on").Alerts[0]
	c, end := svc.Subscribe()
	defer end()
	<-c
	if _, err := svc.Acknowledge(a.ID, mara, backend.Safe{}, 0); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c:
	default:
		t.Error("viewers are not told")
	}
	_, b := svc.Latest()
	if k := b.Alerts[0].Acknowledged; k == nil || k.Until.Sub(k.At) != 30*time.Minute {
		t.Fatalf("%+v", b.Alerts[0])
	}
	if a.Acknowledged != nil {
		t.Error("the former Board was changed")
	}
	ms, err := ParseMatchers(`rule="lamp"`)
	if err != nil {
		t.Fatal(err)
	}
	s, n, err := svc.Silence(ms, mara, why, 0)
	if err != nil || n != 1 || s.For != time.Hour {
		t.Fatalf("%+v, %d, %v", s, n, err)
	}
	none, err := ParseMatchers(`rule="lamp", tenant="acme"`)
	if err != nil {
		t.Fatal(err)
	}
	if _, n, err := svc.Silence(none, mara, why, 2*time.Hour); err != nil || n != 0 {
		t.Errorf("matches %d, %v", n, err)
	}
	list := svc.Silences()
	if len(list) != 2 || list[0].ID.String() != s.ID || list[0].Matches != 1 || list[1].Matches != 0 || !list[0].Until.Equal(l.now.Add(time.Hour)) {
		t.Errorf("%+v", list)
	}
	if _, err := svc.Expire(s.ID, mara); err != nil {
		t.Error(err)
	}
	if _, err := svc.Expire(s.ID, mara); err == nil {
		t.Error("ended twice")
	}
	if _, err := svc.Unacknowledge(a.ID, mara); err != nil {
		t.Error(err)
	}
	if _, b := svc.Latest(); b.Alerts[0].Silenced != nil || b.Alerts[0].Acknowledged != nil || len(svc.Silences()) != 1 {
		t.Errorf("%+v", b.Alerts[0])
	}
	var kinds []string
	for _, o := range j.orders {
		kinds = append(kinds, string(o.Kind))
	}
	if got := strings.Join(kinds, " "); got != "acknowledge silence silence expire unacknowledge" {
		t.Errorf("journalled: %s", got)
	}
	j.err = errors.New("disk full")
	if _, err := svc.Acknowledge(a.ID, mara, why, 0); err == nil || !strings.Contains(err.Error(), "cannot be journalled: disk full") {
		t.Errorf("%v", err)
	}
	if _, b := svc.Latest(); b.Alerts[0].Acknowledged != nil {
		t.Error("done without the journal")
	}
}

func TestOrdersThatAreRefused(t *testing.T) {
	l := newLamp(t, Meta{})
	svc := l.service(t, nil, func(o *ServiceOptions) { o.LongestOrder = 8 * time.Hour })
	a := l.observe(svc, "on").Alerts[0]
	ms, err := ParseMatchers(`rule="lamp"`)
	if err != nil {
		t.Fatal(err)
	}
	for want, try := range map[string]func() error{
		"must not last longer than 8h": func() error { _, _, err := svc.Silence(ms, mara, why, 9*time.Hour); return err },
		"at least a second":            func() error { _, err := svc.Acknowledge(a.ID, mara, why, time.Millisecond); return err },
		"needs a reason":               func() error { _, _, err := svc.Silence(ms, mara, backend.Safe{}, 0); return err },
		"silence of everything":        func() error { _, _, err := svc.Silence(nil, mara, why, 0); return err },
		"the owner is missing":         func() error { _, err := svc.Acknowledge(a.ID, backend.Safe{}, why, 0); return err },
		"no alert has the id":          func() error { _, err := svc.Acknowledge("nope", mara, why, 0); return err },
		"is not acknowledged":          func() error { _, err := svc.Unacknowledge(a.ID, mara); return err },
		"the note is empty":            func() error { return svc.Note(mara, backend.Safe{}) },
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if len(svc.Silences()) != 0 {
		t.Error("something was silenced")
	}
	if _, err := svc.Acknowledge(a.ID, mara, why, 0); err != nil {
		t.Errorf("without a state directory: %v", err)
	}
	if _, b := svc.Latest(); b.Alerts[0].Acknowledged == nil {
		t.Error("without a state directory nothing is remembered")
	}
}

// A process is killed at every moment of a story; whoever comes after it knows what was ordered.
func TestOrdersSurviveBeingKilledAtAnyPoint(t *testing.T) {
	for _, saved := range []bool{false, true} {
		for after := range 4 { // minutes between the alert and the order
			t.Run(fmt.Sprint(saved, after), func(t *testing.T) {
				l := newLamp(t, Meta{})
				dir := t.TempDir()
				killed, err := OpenStateStore(dir, l.engine)
				if err != nil {
					t.Fatal(err)
				}
				svc := l.service(t, killed, nil)
				l.observe(svc, "off off off off")
				if saved {
					svc.Close()
				}
				a := l.observe(svc, "on "+strings.Repeat("on ", after)).Alerts[0]
				if _, err := svc.Acknowledge(a.ID, mara, why, time.Hour); err != nil {
					t.Fatal(err)
				}
				ms, err := ParseMatchers(`alert="` + a.ID + `"`)
				if err != nil {
					t.Fatal(err)
				}
				if _, _, err := svc.Silence(ms, mara, why, time.Hour); err != nil {
					t.Fatal(err)
				}
				if err := killed.Close(); err != nil { // what the kernel does for the killed
					t.Fatal(err)
				}
				l.number = 0
				next := l.service(t, openStore(t, dir, l.engine), nil)
				b := l.observe(next, "on on")
				if a := b.Alerts[0]; a.Acknowledged == nil || a.Silenced == nil {
					t.Errorf("forgotten: %+v", a)
				}
				if got := next.Timeline(9); len(got) < 2 || !strings.Contains(fmt.Sprint(got), "mara acknowledges lamp on s for 1h") {
					t.Errorf("timeline %v", got)
				}
			})
		}
	}
}

// A guest's orders reach the holder, and everybody's notes reach everybody.
func TestWhatAnotherProcessAddsIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLamp(t, Meta{})
		dir := t.TempDir()
		holder := l.service(t, openStore(t, dir, l.engine), nil)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { holder.Run(ctx); close(done) }()
		l.observe(holder, "on")
		guest := l.service(t, openStore(t, dir, l.engine), nil)
		a := l.observe(guest, "on").Alerts[0]
		if _, err := guest.Acknowledge(a.ID, mara, why, 0); err != nil {
			t.Fatal(err)
		}
		if err := guest.Note(mara, backend.Text("rolling back")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if _, b := holder.Latest(); b.Alerts[0].Acknowledged == nil {
			t.Error("the holder does not know what the guest ordered")
		}
		stop()
		<-done
		var names []string
		for _, e := range holder.Timeline(10) {
			names = append(names, e.Name)
		}
		if got := strings.Join(names, " "); got != "note acknowledge firing" {
			t.Errorf("the holder's timeline: %s", got)
		}
		if e := holder.Timeline(1)[0]; e.Kind != backend.EventNote || e.Text.String() != "mara: rolling back" {
			t.Errorf("%+v", e)
		}
	})
}

func TestTimelineIsReloadedAndBounded(t *testing.T) {
	l := newLamp(t, Meta{})
	dir := t.TempDir()
	s := openStore(t, dir, l.engine)
	var problems []error
	noted := func(o *ServiceOptions) { o.Problem = func(err error) { problems = append(problems, err) } }
	svc := l.service(t, s, noted)
	st := l.state("on")
	st.Events = []backend.Event{
		{Kind: backend.EventChange, At: l.now, Source: "s", Name: "restarted", Text: backend.Text("agent restarted")},
		{Kind: backend.EventPlatform, At: l.now, Source: "s", Name: "die", Text: backend.Text("a container died")},
	}
	svc.Observe(st)
	if got := len(svc.Timeline(10)); got != 3 {
		t.Errorf("%d events, want the marker, what the platform said and the transition", got)
	}
	svc.Close()
	file := filepath.Join(dir, timelineFile)
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"schema":1,"kind":"no`); err != nil { // killed in the middle of a line
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := svc.Note(mara, backend.Text("after the torn line")); err != nil {
		t.Errorf("it is written down, and yet: %v", err)
	}
	if err := (lineFile{file}).add(false, []byte("what is no line of a timeline")); err != nil {
		t.Fatal(err)
	}
	again := l.service(t, s, noted)
	if got := again.Timeline(10); len(got) != 3 || got[0].Text.String() != "mara: after the torn line" || len(problems) != 1 || !strings.Contains(problems[0].Error(), "1 line of") {
		t.Errorf("reloaded: %v; problems %v", got, problems)
	}
	if got := again.Timeline(1); len(got) != 1 {
		t.Errorf("%d events, 1 was asked for", len(got))
	}
	l.now = l.now.Add(8 * 24 * time.Hour)
	if err := svc.Note(mara, backend.Text("a week later")); err != nil {
		t.Fatal(err)
	}
	last := l.service(t, s, func(o *ServiceOptions) { o.Problem = func(error) {} })
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := last.Timeline(10); len(got) != 1 || strings.Contains(string(data), "agent restarted") || !strings.Contains(string(data), "no line of a timeline") {
		t.Errorf("after a week: %v\n%s", got, data)
	}
	if err := svc.Note(mara, backend.Text("into the new file")); err != nil || len(svc.Timeline(10)) != 3 { // with what the platform said
		t.Errorf("a process that has the old file open: %v, %v", err, svc.Timeline(10))
	}
}

func TestATimelineThatGrewTooLargeKeepsItsNewestHalf(t *testing.T) {
	l := newLamp(t, Meta{})
	s := openStore(t, t.TempDir(), l.engine)
	file := storeFile(s, timelineFile)
	foreign := make([]byte, 100<<10) // another version's lines, which are kept whatever their age
	var lines [][]byte
	for range timelineSize/len(foreign) + 3 {
		lines = append(lines, foreign)
	}
	lines[0], lines[len(lines)-1] = []byte("the oldest"), []byte("the newest")
	if err := file.add(false, lines...); err != nil {
		t.Fatal(err)
	}
	l.service(t, s, func(o *ServiceOptions) { o.Problem = func(error) {} })
	kept, err := os.ReadFile(file.path)
	if n := len(kept); err != nil || n > timelineSize/2 || n < timelineSize/2-len(foreign)-1 || !strings.HasSuffix(string(kept), "the newest\n") {
		t.Errorf("%d bytes are kept, %v", n, err)
	}
}

func TestLinesOfSeveralWritersStayWhole(t *testing.T) {
	file := lineFile{filepath.Join(t.TempDir(), "lines")}
	const writers, each = 8, 50
	errs := make(chan error)
	for w := range writers {
		go func() {
			var err error
			for i := range each {
				err = errors.Join(err, file.add(false, fmt.Appendf(nil, "%d-%d-%s", w, i, strings.Repeat("x", 50*w))))
				if w == 0 && i%10 == 0 {
					err = errors.Join(err, file.compact(1<<20, func([]byte) bool { return true }))
				}
			}
			errs <- err
		}()
	}
	for range writers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	var c lineCursor
	lines, anew, err := file.since(&c, 1<<20)
	if err != nil || !anew || len(lines) != writers*each {
		t.Errorf("%d lines, %v", len(lines), err)
	}
	next := make([]int, writers)
	for _, line := range lines {
		var w, i int
		if _, err := fmt.Sscanf(string(line), "%d-%d-", &w, &i); err != nil || next[w] != i {
			t.Fatalf("%.20s: %v", line, err)
		}
		next[w]++
	}
	if more, anew, err := file.since(&c, 1<<20); len(more) > 0 || anew || err != nil {
		t.Errorf("%d lines twice, %v", len(more), err)
	}
}

// What a crash, or a full disk, left of an addition was never reported as written; it must neither stand as a line of its
// own nor spoil the next one, and what is tried again must not stand twice.
func TestWhatIsLeftOfAnAdditionIsReplaced(t *testing.T) {
	file := lineFile{filepath.Join(t.TempDir(), "lines")}
	for was, whole := range map[string]string{"": "", "one\n": "one\n", "one\ntwo": "one\n", "torn": "", "one\n" + strings.Repeat("x", 10000): "one\n"} {
		if err := os.WriteFile(file.path, []byte(was), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := file.add(true, []byte("new"), []byte("newer")); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file.path); err != nil || string(got) != whole+"new\nnewer\n" {
			t.Errorf("%.20q became %.40q, %v", was, got, err)
		}
	}
}

func TestFilesThatAreNotOurs(t *testing.T) {
	dir := t.TempDir()
	loose := filepath.Join(dir, "loose")
	if err := os.WriteFile(loose, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(loose, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := (lineFile{loose}).add(false, []byte("x")); err == nil || !strings.Contains(err.Error(), "chmod o-w") {
		t.Errorf("%v", err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), link); err != nil {
		t.Fatal(err)
	}
	if err := (lineFile{link}).add(false, []byte("x")); err == nil {
		t.Error("a symbolic link was followed")
	}
}

func TestWhatPeopleDoIsNamedWithWhatFollows(t *testing.T) {
	for name, dir := range map[string]string{"kept": t.TempDir(), "not kept": ""} {
		l := newLamp(t, Meta{})
		var s *StateStore
		if dir != "" {
			s = openStore(t, dir, l.engine)
		}
		svc := l.service(t, s, nil)
		l.observe(svc, "off off")
		if err := svc.Record(backend.Event{Kind: backend.EventAction, At: l.now, Source: "s", Name: "reset", Text: backend.Text("mara reset 14 workspaces")}); err != nil {
			t.Fatal(err)
		}
		l.now = l.now.Add(40 * time.Second)
		a := l.observe(svc, "on on").Alerts[0]
		if _, err := svc.Acknowledge(a.ID, mara, why, 0); err != nil {
			t.Fatal(err)
		}
		if got := texts(l.observe(svc, "on").Alerts[0].Evidence); got != "the lamp is on; began 40s after: mara reset 14 workspaces" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestATimelineKeepsItsBoundsWhileTheProcessRunsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLamp(t, Meta{})
		dir := t.TempDir()
		s := openStore(t, dir, l.engine)
		svc := NewService(l.engine, ServiceOptions{Store: s, ReadClock: synctestMoment, SaveEvery: time.Hour, TakeOver: time.Hour, Problem: func(err error) {
			if unread := (*UnreadLinesError)(nil); !errors.As(err, &unread) {
				t.Error(err)
			}
		}})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { svc.Run(ctx); close(done) }()
		note := func(text backend.Literal) {
			if err := svc.Record(backend.Event{Kind: backend.EventNote, At: time.Now(), Text: backend.Text(text)}); err != nil {
				t.Error(err)
			}
		}
		if err := storeFile(s, timelineFile).add(false, []byte("another version's"), []byte(`{"schema":1,"kind":"note","at":"2099-01-01T00:00:00Z","text":"of a wrong clock"}`)); err != nil {
			t.Error(err)
		}
		note("on the first day")
		time.Sleep(24 * time.Hour)
		note("on the second day")
		time.Sleep(5 * 24 * time.Hour)
		note("on the seventh day")
		time.Sleep(26 * time.Hour)
		synctest.Wait()
		data, err := os.ReadFile(filepath.Join(dir, timelineFile))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "first") || !strings.Contains(string(data), "second") || !strings.Contains(string(data), "seventh") {
			t.Errorf("after a week and two hours:\n%s", data)
		}
		if got := svc.Timeline(10); len(got) != 3 {
			t.Errorf("in memory: %v", got)
		}
		stop()
		<-done
	})
}

// TestEachProblemOfTheOrdersIsReportedByItself holds that a file with several faults gives several problems of one line.
func TestEachProblemOfTheOrdersIsReportedByItself(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ordersFile), []byte(`{"schema":9,"id":"a","kind":"silence"}
no order
{"schema":9,"id":"b","kind":"silence"}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	l := newLamp(t, Meta{})
	var problems []string
	svc := l.service(t, openStore(t, dir, l.engine), func(o *ServiceOptions) { o.Problem = func(err error) { problems = append(problems, err.Error()) } })
	svc.Observe(l.state("on"))
	svc.Close()
	if len(problems) != 3 {
		t.Errorf("%d problems: %q", len(problems), problems)
	}
	for _, p := range problems {
		if strings.Contains(p, "\n") || !strings.HasPrefix(p, "orders.jsonl: ") {
			t.Errorf("%q", p)
		}
	}
}
