package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sandglass/actions/audit"
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/internal/stable"
)

// journalWait bounds the wait for another process that writes to the journal.
const journalWait = 5 * time.Second

// orderJournal writes orders about alerts into the audit journal before they take effect.
type orderJournal struct {
	journal *audit.Journal
	who     func() audit.Who
}

// ordersOf is the journal for the orders of one person; nil where alerts are not remembered.
func (s *Station) ordersOf(who func() audit.Who) alerts.OrderJournal {
	if s.Journal == nil || s.Forgets != nil {
		return nil
	}
	return &orderJournal{s.Journal, who}
}

// journal makes the journal of a state directory. digest is that of the configuration with which this process writes, empty
// without one.
func (a *App) journal(dir, digest string) (*audit.Journal, error) {
	j, err := audit.New(audit.Options{Dir: dir, Sockets: a.LogSockets, Trusted: a.callerOfSudo(),
		Origin: audit.Origin{Host: a.Who.Host, BootID: backend.Clean(a.ReadClock().Boot, 80), ConfigDigest: digest}})
	if err != nil {
		return nil, fmt.Errorf("there is no journal: %w", err)
	}
	return j, nil
}

// Ordered stores one order; it returns when the record survives the end of the machine.
func (o *orderJournal) Ordered(x alerts.Order) error {
	ctx, cancel := context.WithTimeout(context.Background(), journalWait)
	defer cancel()
	e := audit.Entry{At: x.At, Phase: audit.PhaseAck, Who: o.who(), Verb: string(x.Kind), Kind: "alert", Reason: x.Reason}
	e.Who.Claimed = x.Owner
	if x.Kind == alerts.OrderSilence || x.Kind == alerts.OrderExpire {
		e.Phase, e.Kind = audit.PhaseSilence, "silence"
	}
	for name, value := range map[backend.Literal]string{"id": x.ID, "alert": x.Alert, "rule": x.Rule, "source": x.Source,
		"cause": x.Fingerprint, "matchers": x.Matchers, "silence": x.Silence} {
		if value != "" {
			e.Facts = append(e.Facts, backend.Field{Name: backend.Text(name), Value: backend.Clean(value, 500)})
		}
	}
	if x.For > 0 {
		e.Facts = append(e.Facts, backend.Field{Name: backend.Text("for"), Value: backend.Textf("%s", x.For)})
	}
	stable.Sort(e.Facts, func(a, b backend.Field) int { return strings.Compare(a.Name.String(), b.Name.String()) })
	_, err := o.journal.Append(ctx, e, audit.Synced)
	return err
}

// Note journals a remark and puts it on the timeline. owner is who says that they write it.
func (s *Station) Note(owner, text backend.Safe) error {
	if s.Journal != nil && s.Forgets == nil {
		ctx, cancel := context.WithTimeout(context.Background(), journalWait)
		defer cancel()
		e := audit.Entry{At: s.app.Now(), Phase: audit.PhaseNote, Who: s.app.Who, Verb: "note", Kind: "timeline", Reason: text}
		e.Who.Claimed = owner
		if _, err := s.Journal.Append(ctx, e, audit.Synced); err != nil {
			return err
		}
	}
	return s.Alerts.Note(owner, text)
}
