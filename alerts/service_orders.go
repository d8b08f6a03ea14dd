package alerts

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sandglass/backend"
)

// ordersFile is the name of the operators' orders in the state directory.
const ordersFile = "orders.jsonl"

// ordersSize is how large that file may grow before what is long over is dropped.
const ordersSize = 1 << 20

// How long an order lasts when nobody says, and at most unless the configuration says otherwise.
const (
	AcknowledgeFor = 30 * time.Minute
	SilenceFor     = time.Hour
	LongestOrder   = 24 * time.Hour
)

// OrderJournal keeps every order before it takes effect. An error keeps the order from being carried out.
type OrderJournal interface {
	Ordered(Order) error
}

// OrderWriter takes the orders of one viewer: the Service is the same, the journal names the viewer.
type OrderWriter struct {
	service *Service
	journal OrderJournal // nil: orders are not journalled
}

// OrdersInto is an OrderWriter with a journal of its own.
func (svc *Service) OrdersInto(j OrderJournal) OrderWriter { return OrderWriter{svc, j} }

// NoSuchAlertError means that no line of the Board has the id.
type NoSuchAlertError struct{ ID string }

// Error names the id.
func (e *NoSuchAlertError) Error() string {
	return fmt.Sprintf("no alert has the id %s now; sandglass get alerts lists them", backend.Clean(e.ID, 80))
}

// Acknowledge says that owner has taken an alert, for a while (0: AcknowledgeFor). It holds on this host only, drops when
// the alert becomes more severe or has ten times as many subjects, and is over when the alert is.
func (w OrderWriter) Acknowledge(alertID string, owner, reason backend.Safe, lasting time.Duration) (Order, error) {
	a, err := w.service.alert(alertID)
	if err != nil {
		return Order{}, err
	}
	o := Order{Kind: OrderAcknowledge, Owner: owner, Reason: reason, For: lasting}
	o.about(a)
	if o.For == 0 {
		o.For = AcknowledgeFor
	}
	return w.order(o, backend.Textf("%s acknowledges %s on %s for %s", owner, a.Rule, backend.Clean(a.Source, 80), short(o.For)))
}

// Unacknowledge gives an alert back.
func (w OrderWriter) Unacknowledge(alertID string, owner backend.Safe) (Order, error) {
	a, err := w.service.alert(alertID)
	switch {
	case err != nil:
		return Order{}, err
	case a.Acknowledged == nil:
		return Order{}, fmt.Errorf("%s on %s is not acknowledged", a.Rule, backend.Clean(a.Source, 80))
	}
	o := Order{Kind: OrderUnacknowledge, Owner: owner}
	o.about(a)
	return w.order(o, backend.Textf("%s ends the acknowledgement of %s on %s", owner, a.Rule, backend.Clean(a.Source, 80)))
}

func (x *Order) about(a *Alert) {
	x.Alert, x.Rule, x.Source, x.Fingerprint, x.Severity, x.Subjects = a.ID, a.Rule, a.Source, a.Fingerprint, a.Severity, a.SubjectCount
}

// Silence mutes the alerts that matchers match, now and later, for a while (0: SilenceFor). A reason is required. Matched
// is how many alerts it mutes now: with 0 the matchers may be wrong, and whoever asked must be told.
func (w OrderWriter) Silence(ms Matchers, owner, reason backend.Safe, lasting time.Duration) (o Order, matched int, err error) {
	switch {
	case len(ms) == 0:
		return Order{}, 0, errors.New("a silence of everything is not possible: name what to silence, such as rule=\"failed-too-long\"")
	case reason.IsEmpty():
		return Order{}, 0, errors.New("a silence needs a reason: the next person on call must know why")
	}
	o = Order{Kind: OrderSilence, Owner: owner, Reason: reason, For: lasting, Matchers: ms.String()}
	if o.For == 0 {
		o.For = SilenceFor
	}
	o, err = w.order(o, backend.Textf("%s silences %s for %s: %s", owner, backend.Clean(o.Matchers, 200), short(o.For), reason))
	return o, w.service.Matching(ms), err
}

// Matching counts the alerts on the Board that matchers match, for a preview.
func (svc *Service) Matching(ms Matchers) int {
	_, b := svc.Latest()
	return b.matching(ms, svc.concludes().environment)
}

// Expire ends a silence.
func (w OrderWriter) Expire(silenceID string, owner backend.Safe) (Order, error) {
	for _, s := range w.service.Silences() {
		if s.ID.String() == silenceID {
			o := Order{Kind: OrderExpire, Owner: owner, Silence: silenceID}
			return w.order(o, backend.Textf("%s ends the silence of %s: %s", owner, s.Owner, backend.Clean(s.Matchers.String(), 200)))
		}
	}
	return Order{}, fmt.Errorf("no silence %s is in force", backend.Clean(silenceID, 80))
}

// Silences lists the silences in force, those that end first at the top. Their Until counts down.
func (svc *Service) Silences() []Silencing {
	svc.mu.Lock()
	b, o := svc.board, svc.orders
	svc.mu.Unlock()
	return o.list(b, svc.concludes().environment, svc.now())
}

// Note writes something down on the timeline.
func (svc *Service) Note(owner, text backend.Safe) error {
	if text.IsEmpty() {
		return errors.New("the note is empty")
	}
	return svc.Record(backend.Event{Kind: backend.EventNote, At: svc.now(), Name: "note", Text: backend.Textf("%s: %s", owner, text)})
}

// Record adds events to the timeline, and returns when they are written down.
func (svc *Service) Record(events ...backend.Event) error {
	svc.timeline.take(svc.holds(), events)
	err := svc.timeline.write()
	if unread := (*UnreadLinesError)(nil); errors.As(err, &unread) {
		svc.problem(err)
		return nil
	}
	return err
}

// Timeline lists the newest n events, newest first: transitions, orders, notes, actions, change markers, and what
// backends reported since this process started.
func (svc *Service) Timeline(n int) []backend.Event {
	all := svc.timeline.newest(n)
	if st, _ := svc.Latest(); st != nil {
		for i := range all { // an end may be read before what ended it is verified
			if e := &all[i]; e.Name == backend.EventExit {
				e.ToldOf(st.Sandbox(e.Subject))
			}
		}
	}
	return all
}

func (svc *Service) alert(id string) (*Alert, error) {
	if _, b := svc.Latest(); b != nil {
		for _, a := range b.Alerts {
			if a.ID == id && a.State != StateEnded {
				return a, nil
			}
		}
	}
	return nil, &NoSuchAlertError{id}
}

func (svc *Service) now() time.Time {
	if svc.opt.ReadClock == nil {
		svc.mu.Lock()
		defer svc.mu.Unlock()
		if svc.board != nil {
			return svc.board.memory.clock.Wall
		}
		return time.Time{}
	}
	return plain(svc.opt.ReadClock().Wall)
}

func (svc *Service) holds() bool { return svc.opt.Store == nil || svc.opt.Store.Locked() }

// order journals, stores and applies an order.
func (w OrderWriter) order(o Order, text backend.Safe) (Order, error) {
	svc := w.service
	longest := svc.opt.LongestOrder
	if longest == 0 {
		longest = LongestOrder
	}
	switch {
	case o.Owner.IsEmpty():
		return o, errors.New("the owner is missing")
	case o.For < 0 || (o.Kind == OrderAcknowledge || o.Kind == OrderSilence) && o.For < time.Second:
		return o, errors.New("it must last for at least a second")
	case o.For > longest:
		return o, fmt.Errorf("it must not last longer than %s; give it a shorter time, and order it again when that is over", short(longest))
	}
	var id [4]byte
	if _, err := rand.Read(id[:]); err != nil {
		return o, err
	}
	o.Schema, o.ID, o.At = orderSchema, hex.EncodeToString(id[:]), svc.now()
	if o.At.IsZero() {
		return o, errors.New("nothing was read yet; try again in a moment")
	}
	if w.journal != nil {
		if err := w.journal.Ordered(o); err != nil {
			return o, fmt.Errorf("not done, because it cannot be journalled: %w", err)
		}
	}
	if svc.opt.Store == nil {
		svc.mu.Lock()
		svc.list = append(svc.list, o)
		svc.mu.Unlock()
		svc.sortOrders()
	} else {
		line, err := json.Marshal(o)
		if err == nil {
			err = storeFile(svc.opt.Store, ordersFile).add(true, line)
		}
		if err != nil {
			return o, fmt.Errorf("not done, because it cannot be stored: %w", err)
		}
		svc.readOrders()
	}
	svc.apply()
	err := svc.Record(backend.Event{Kind: backend.EventAction, At: o.At, Source: o.Source, Name: string(o.Kind), Text: text})
	svc.problemIf(err)
	return o, nil
}

// readOrders takes over what was added to the orders; it reports whether there was something.
func (svc *Service) readOrders() bool {
	svc.ordering.Lock()
	defer svc.ordering.Unlock()
	lines, anew, err := storeFile(svc.opt.Store, ordersFile).since(&svc.ordersAt, 1<<40)
	svc.problemIf(err)
	if err != nil || len(lines) == 0 && !anew {
		return false
	}
	var list []Order
	for i, line := range lines {
		var o Order
		if err := json.Unmarshal(line, &o); err != nil {
			svc.problem(fmt.Errorf("%s: record %d of %d is not understood and left out: %w", ordersFile, i+1, len(lines), err))
			continue
		}
		list = append(list, o)
	}
	svc.mu.Lock()
	if anew {
		svc.list = nil
	}
	svc.list = append(svc.list, list...)
	svc.mu.Unlock()
	svc.sortOrders()
	return true
}

// trimOrders drops from a large file what has been over for long.
func (svc *Service) trimOrders(now time.Time) error {
	file := storeFile(svc.opt.Store, ordersFile)
	if _, size, err := file.oldest(func([]byte) bool { return true }); err != nil || size < ordersSize {
		return err
	}
	return file.compact(ordersSize*16, func(line []byte) bool {
		var o Order
		return json.Unmarshal(line, &o) != nil || o.matters(now)
	})
}

func (svc *Service) sortOrders() {
	svc.mu.Lock()
	list := svc.list
	svc.mu.Unlock()
	o, err := NewOrders(list)
	svc.problemIf(err)
	svc.mu.Lock()
	svc.orders = o
	svc.mu.Unlock()
}

// apply makes the orders effective without waiting for the next State.
func (svc *Service) apply() {
	svc.evaluating.Lock()
	defer svc.evaluating.Unlock()
	svc.mu.Lock()
	st, board, orders := svc.state, svc.board, svc.orders
	svc.mu.Unlock()
	if board == nil {
		return
	}
	next, events := svc.concludes().Apply(board, orders)
	svc.publish(st, next, events, nil)
}

func (svc *Service) problemIf(err error) {
	if err != nil {
		svc.problem(err)
	}
}
