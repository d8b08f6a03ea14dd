package logview

import (
	"time"

	"sandglass/backend"
	"sandglass/views/keys"
)

// View is what one viewer sees of a Store. Update and Render are called by one goroutine.
type View struct {
	store  *Store
	title  string         // what the logs are about
	names  []backend.Safe // of the logs
	named  bool           // only lines that name the subject count in one of them
	lacks  []backend.Safe // what is not among them, and why
	filter *Filter

	follow bool
	cursor uint64          // number of the line that keys are about
	top    uint64          // number of the first line in sight
	height int             // rows of lines, when it was drawn last
	open   map[uint64]bool // lines whose fields have rows of their own
	wrap   bool
	raw    bool // JSON as it is written
	times  bool
	zone   *time.Location // of the times; nil: UTC
	local  *time.Location // the viewer's
	all    bool           // lines that do not match are shown too

	lag    time.Duration // of the newest line, while lines come
	lagged uint64        // the newest line then
}

// NewView shows the logs of a set that a Store takes in.
func NewView(store *Store, title string, set backend.LogSet) *View {
	v := &View{store: store, title: title, lacks: set.Lacking, follow: true, times: true, open: map[uint64]bool{}}
	for _, l := range set.Logs {
		v.names, v.named = append(v.names, l.Name), v.named || l.Named
	}
	return v
}

// Local is the zone that LocalTimes shows times in; without it they are UTC.
func (v *View) Local(zone *time.Location) { v.local = zone }

// localTimes goes from UTC to the viewer's own times, and back.
func (v *View) localTimes() (say string) {
	v.times = true
	switch {
	case v.zone != nil:
		v.zone = nil
		return "times are UTC"
	case v.local == nil || v.local == time.UTC:
		return "times are UTC, and so is the local time here: TZ sets another"
	}
	v.zone = v.local
	return "times are local, " + v.inZone(v.store.Counts().Newest).Format("MST -07:00")
}

// Came notes how far the newest line is behind the time that is now: what a frame shows is as old.
func (v *View) Came(now time.Time) {
	c := v.store.Counts()
	if v.lag = 0; c.Next != v.lagged && !c.Newest.IsZero() {
		v.lag = max(now.Sub(c.Newest), 0)
	}
	v.lagged = c.Next
}

// Filter is the text of the filter in force.
func (v *View) Filter() string {
	if v.filter == nil {
		return ""
	}
	return v.filter.Text
}

// SetFilter shows other lines. An error leaves those that are shown.
func (v *View) SetFilter(text string) error {
	f, err := NewFilter(text)
	if err != nil {
		return err
	}
	v.filter = f
	v.store.SetFilter(f)
	return nil
}

// kind is which lines are shown.
func (v *View) kind() Kind {
	if v.filter == nil || v.all {
		return Any
	}
	return Matching
}

// Line is the line that keys are about; false: there is none.
func (v *View) Line() (Line, bool) {
	if v.follow || v.cursor == 0 {
		return v.store.Seek(^uint64(0), true, v.kind())
	}
	if l, ok := v.store.Seek(v.cursor, false, v.kind()); ok {
		return l, true
	}
	return v.store.Seek(v.cursor, true, v.kind())
}

// Shown are the lines that are shown, oldest first, for a file.
func (v *View) Shown(do func(Line) bool) { v.store.Each(v.kind(), do) }

// Text is a line as it is copied and saved.
func (v *View) Text(l *Line) string { return v.store.Text(l, backend.MaxLogLine).String() }

// Update handles an intent: say is a remark for the footer; handled is false when the intent is not the view's.
func (v *View) Update(in keys.Intent) (say string, handled bool) {
	page := max(1, v.height-1)
	switch in.Action {
	case keys.Up:
		v.move(-1)
	case keys.Down:
		v.move(1)
	case keys.PageUp:
		v.move(-page)
	case keys.PageDown:
		v.move(page)
	case keys.Top:
		return v.jump(0, false, v.kind(), "there is no line yet"), true
	case keys.Bottom:
		v.follow = true
	case keys.FollowLog:
		if v.follow = !v.follow; !v.follow {
			v.stay()
		}
	case keys.NextMatch, keys.PrevMatch:
		return v.next(in.Action == keys.PrevMatch, Matching, "line that matches"), true
	case keys.NextError, keys.PrevError:
		return v.next(in.Action == keys.PrevError, Errors, "line with an error"), true
	case keys.AllLines:
		v.all = !v.all
	case keys.WrapLines:
		v.wrap = !v.wrap
	case keys.LogTimes:
		v.times = !v.times
	case keys.LocalTimes:
		return v.localTimes(), true
	case keys.RawLines:
		v.raw = !v.raw
	case keys.Enter:
		return v.unfold(), true
	default:
		return "", false
	}
	return "", true
}

// stay puts the cursor on the newest line.
func (v *View) stay() {
	if l, ok := v.store.Seek(^uint64(0), true, v.kind()); ok {
		v.cursor = l.N
	}
}

// move goes n lines on, and goes with the newest again from there.
func (v *View) move(n int) {
	if v.follow {
		if n > 0 {
			return
		}
		v.follow = false
		v.stay()
	}
	l, ok := v.Line()
	if !ok {
		return
	}
	v.cursor = l.N
	for ; n > 0; n-- {
		if l, ok = v.store.Seek(v.cursor+1, false, v.kind()); !ok {
			return
		}
		v.cursor = l.N
	}
	for ; n < 0 && v.cursor > 0; n++ {
		if l, ok = v.store.Seek(v.cursor-1, true, v.kind()); !ok {
			return
		}
		v.cursor = l.N
	}
}

func (v *View) jump(n uint64, back bool, kind Kind, none string) (say string) {
	l, ok := v.store.Seek(n, back, kind)
	if !ok {
		return none
	}
	v.follow, v.cursor = false, l.N
	return ""
}

// next goes to the next line of a kind, or the one before.
func (v *View) next(back bool, kind Kind, what string) (say string) {
	if kind == Matching && v.filter == nil {
		return "/ names what to look for"
	}
	if of := v.kind(); of == Matching && kind == Errors { // of those that are shown
		kind, what = kind|of, what+" that matches"
	}
	l, ok := v.Line()
	switch {
	case !ok:
		return "there is no line yet"
	case back:
		return v.jump(l.N-1, true, kind, "no "+what+" before this one")
	}
	return v.jump(l.N+1, false, kind, "no "+what+" after this one")
}

// unfold gives the fields of the line under the cursor rows of their own, or takes them back.
func (v *View) unfold() (say string) {
	l, ok := v.Line()
	if !ok {
		return "there is no line yet"
	}
	if v.follow {
		v.follow = false
		v.cursor = l.N
	}
	if v.open[l.N] {
		delete(v.open, l.N)
		return ""
	}
	if len(v.open) >= mostOpen {
		clear(v.open)
	}
	v.open[l.N] = true
	return ""
}

// mostOpen is how many lines are unfolded at once.
const mostOpen = 200
