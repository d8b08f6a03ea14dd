package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const (
	expiringRule = "sandbox-expiring"
	publicRule   = "public-preview"
	tokenRule    = "preview-token-expiring"
)

// beginExpiring is a sandbox of a platform on which a session runs, and what the platform tells of its end and addresses.
func beginExpiring(t testing.TB, edit func(*story, *backend.Sandbox)) *story {
	s := beginCloud(t, expiringRule, publicRule, tokenRule)
	s.cloudBox(cloudBox, func(b *backend.Sandbox) { edit(s, b) })
	return s.look()
}

func ends(after time.Duration) func(*story, *backend.Sandbox) {
	return func(s *story, b *backend.Sandbox) {
		b.CreatedAt, b.ExpiresAt, b.ExpiresBy = backend.Known(s.wall.Add(-24*time.Hour)), s.wall.Add(after), backend.Text("its ttl of 26h from creation")
	}
}

// opens is a private address with tokens that end after these times.
func opens(after ...time.Duration) func(*story, *backend.Sandbox) {
	return func(s *story, b *backend.Sandbox) {
		p := backend.Preview{Name: backend.Text("port-3000"), Port: backend.Known(3000), Public: backend.Known(false), Expires: backend.NotApplicable[time.Time](), TokensAt: s.wall}
		for _, d := range after {
			p.Tokens = append(p.Tokens, backend.PreviewToken{Name: backend.Text("token-1"), Expires: backend.Known(s.wall.Add(d)), Expired: backend.Known(d <= 0)})
		}
		b.Previews, b.PreviewsAt = []backend.Preview{p}, s.wall
	}
}

func public(control bool) func(*story, *backend.Sandbox) {
	return func(s *story, b *backend.Sandbox) {
		b.Previews, b.PreviewsAt = []backend.Preview{{Name: backend.Text("port-3000"), Port: backend.Known(3000), Public: backend.Known(true), Control: control,
			Expires: backend.Known(s.wall.Add(time.Hour))}}, s.wall
	}
}

var expiringLimits = []limit{
	{expiringRule, func(t *testing.T, at bool) *story {
		return beginExpiring(t, ends(2*time.Hour)).after(short(time.Hour, at))
	}},
	{expiringRule, func(t *testing.T, at bool) *story { // a short life: its last quarter
		return beginExpiring(t, func(s *story, b *backend.Sandbox) {
			b.CreatedAt, b.ExpiresAt = backend.Known(s.wall), s.wall.Add(40*time.Minute)
		}).after(short(30*time.Minute, at))
	}},
	{tokenRule, func(t *testing.T, at bool) *story {
		s := beginExpiring(t, opens(30*time.Minute, time.Hour))
		s.after(50 * time.Minute)
		return s.after(short(time.Minute, at))
	}},
}

func TestSandboxExpiringFires(t *testing.T) {
	s := beginExpiring(t, ends(30*time.Minute))
	a := s.want(expiringRule, alerts.StateFiring)
	wantEvidence(t, a, "coder-session: its ttl of 26h from creation ends at 12:30:00Z, and session "+cloudSession+" runs")
	if a.Severity != alerts.SeverityWarning || !strings.Contains(a.Cause.String(), "a session runs on it") {
		t.Errorf("%s %s", a.Severity, a.Cause)
	}
	s.hub(cloudSession, cloudBox, func(x *backend.Session) { x.Running = backend.Known(false) })
	s.after(30 * time.Second)
	for _, a := range s.alerts(expiringRule) {
		if a.State != alerts.StateResolved {
			t.Errorf("its session ended, and it is %s", a.State)
		}
	}
}

// TestSandboxExpiringByItsPausedTimeout: what removes it first counts, and one alert is told for one removal.
func TestSandboxExpiringByItsPausedTimeout(t *testing.T) {
	s := beginExpiring(t, func(s *story, b *backend.Sandbox) {
		ends(50*time.Minute)(s, b)
		b.Class, b.ReapedAt = backend.SandboxAsleep, s.wall.Add(20*time.Minute)
	})
	a := s.want(expiringRule, alerts.StateFiring)
	wantEvidence(t, a, "its paused timeout ends at 12:20:00Z")
	if r := s.want(reapedRule, alerts.StateFiring); r.InhibitedBy != a.ID {
		t.Errorf("the removal is told twice: %+v", r)
	}
}

// TestSandboxExpiringOfItsName: a session that runs and with whose digits an agent's SDK named the sandbox makes it pending, until one is
// joined to it; one that is over, or of other digits, does not.
func TestSandboxExpiringOfItsName(t *testing.T) {
	for id, pending := range map[string]bool{"0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d": true, "0a1b2c3d4e5f4a6b": true, "0a1b2c3d-4e60-4a6b-8c7d-9e0f1a2b3c4d": false} {
		s := beginExpiring(t, func(s *story, b *backend.Sandbox) {
			ends(30*time.Minute)(s, b)
			b.Name, b.Provider, b.Session = backend.Text("agents-0a1b2c3d4e5f"), backend.Text("blaxel"), backend.ID{}
			s.hub(id, "another", nil)
		})
		if !pending {
			s.quiet(expiringRule)
			continue
		}
		a := s.want(expiringRule, alerts.StatePending)
		wantEvidence(t, a, "at 12:30:00Z, and session "+id+" runs and may sit on it: its id begins with the digits of the name")
		if !strings.HasPrefix(a.Cause.String(), "a session may run on it") || !strings.Contains(a.Why.String(), "fires when a saved state") {
			t.Errorf("%+v", a)
		}
		s.hub(id, "another", func(x *backend.Session) { x.Running = backend.Known(false) })
		s.after(30 * time.Second)
		for _, a := range s.alerts(expiringRule) {
			t.Errorf("its session ended, and it is %s", a.State)
		}
	}
}

// TestSandboxExpiringByItsIdleness: a limit on idleness is met in each pause, so that only its last quarter is soon, for both rules.
func TestSandboxExpiringByItsIdleness(t *testing.T) {
	idle := func(last time.Duration) func(s *story, b *backend.Sandbox) {
		return func(s *story, b *backend.Sandbox) {
			b.CreatedAt, b.Class, b.LastUsedAt = backend.Known(s.wall.Add(-24*time.Hour)), backend.SandboxAsleep, s.wall.Add(-last)
			b.ReapedAt, b.ReapedBy = b.LastUsedAt.Add(time.Hour), backend.Text("its policy of 1h without use")
		}
	}
	s := beginExpiring(t, idle(44*time.Minute))
	s.quiet(expiringRule).quiet(reapedRule)
	s = beginExpiring(t, idle(46*time.Minute))
	wantEvidence(t, s.want(expiringRule, alerts.StateFiring), "coder-session: its policy of 1h without use ends at 12:14:00Z, and session "+cloudSession+" runs")
	s.want(reapedRule, alerts.StateFiring)
	s = beginExpiring(t, idle(61*time.Minute))
	wantEvidence(t, s.want(expiringRule, alerts.StateFiring), "its policy of 1h without use ended at 11:59:00Z")
}

// TestSandboxExpiringDoesNotFire: without an end, without a session that runs, and where nobody tells whether one does.
func TestSandboxExpiringDoesNotFire(t *testing.T) {
	for name, do := range map[string]func(*story, *backend.Sandbox){
		"no end is told": func(*story, *backend.Sandbox) {},
		"its end is far": ends(30 * time.Hour),
		"it is removed":  func(s *story, b *backend.Sandbox) { ends(time.Minute)(s, b); b.Class = backend.SandboxRemoving },
		"its session is over": func(s *story, b *backend.Sandbox) {
			ends(time.Minute)(s, b)
			s.hub(cloudSession, cloudBox, func(x *backend.Session) { x.Running = backend.Known(false) })
		},
		"its session is silent": func(s *story, b *backend.Sandbox) {
			ends(time.Minute)(s, b)
			s.hub(cloudSession, cloudBox, func(x *backend.Session) { x.Running = backend.Unknown[bool]() })
		},
		"no session is known": func(s *story, b *backend.Sandbox) { ends(time.Minute)(s, b); b.Session = backend.ID{} },
		"no list of sessions": func(s *story, b *backend.Sandbox) {
			ends(time.Minute)(s, b)
			delete(s.sessions, cloudKey(backend.KindSession, cloudSession))
		},
	} {
		t.Run(name, func(t *testing.T) { beginExpiring(t, do).quiet(expiringRule) })
	}
}

// TestSandboxExpiringFindsItsSessionByTheSavedState: a sandbox without a label is the one that a saved state names.
func TestSandboxExpiringFindsItsSessionByTheSavedState(t *testing.T) {
	edit := func(s *story, b *backend.Sandbox) { ends(time.Minute)(s, b); b.Session = backend.ID{} }
	s := beginExpiring(t, edit)
	s.quiet(expiringRule)
	s.stateOn(cloudBox, s.wall, nil)
	s.after(time.Minute/2).want(expiringRule, alerts.StateFiring)
	s = beginExpiring(t, edit)
	s.stateOn(cloudBox, s.wall.Add(-25*time.Hour), nil) // of a former sandbox of that name
	s.after(time.Minute / 2).quiet(expiringRule)
}

// stateOn saves the state of an agent SDK that names a sandbox.
func (s *story) stateOn(box string, saved time.Time, edit func(*backend.AgentState)) {
	x := &backend.AgentState{Root: backend.Text("/workspace"), RootDefault: true}
	if edit != nil {
		edit(x)
	}
	k := backend.Key{Kind: backend.KindRef, Source: "refs", Parent: backend.MustID(cloudSession), ID: backend.MustID("workspace")}
	s.refs = append(s.refs, &backend.Ref{Meta: backend.Meta{Key: k, ReadAt: s.wall}, Session: k.Parent, Sandbox: backend.MustID(box), SavedAt: backend.Known(saved), Agent: x})
	s.delta.Changed = append(s.delta.Changed, k)
}

func TestSandboxExpiringColdStartGapRestart(t *testing.T) {
	for rule, edit := range map[string]func(*story, *backend.Sandbox){expiringRule: ends(30 * time.Minute), publicRule: public(false), tokenRule: opens(5 * time.Minute)} {
		s := beginExpiring(t, edit)
		s.every(10*time.Second, 2*time.Minute, nil)
		first := s.want(rule, alerts.StateFiring).ID
		s.down("cloud", "connection refused")
		s.after(time.Minute).want(rule, alerts.StateHeld)
		s.up("cloud")
		s.cloudBox(cloudBox, nil)
		if a := s.after(time.Second).want(rule, alerts.StateFiring); a.ID != first {
			t.Errorf("%s: another alert after the gap", rule)
		}
		s.restart()
		if a := s.look().want(rule, alerts.StateFiring); a.ID != first {
			t.Errorf("%s: another alert after a restart", rule)
		}
	}
}

func TestPublicPreviewFires(t *testing.T) {
	for _, c := range []struct {
		name     string
		severity alerts.Severity
		says     string
		do       func(*story, *backend.Sandbox)
	}{
		{"an open port", alerts.SeverityInfo, "port 3000, preview port-3000, until 13:00:00Z", public(false)},
		{"said to be open", alerts.SeverityInfo, "of the agent's ports its saved state says public", func(s *story, b *backend.Sandbox) {
			public(false)(s, b)
			s.stateOn(cloudBox, s.wall, func(x *backend.AgentState) { x.PortsPublic = backend.Known(true) })
		}},
		{"said to be private", alerts.SeverityWarning, "of the agent's ports its saved state says private", func(s *story, b *backend.Sandbox) {
			public(false)(s, b)
			s.stateOn(cloudBox, s.wall, func(x *backend.AgentState) { x.PortsPublic = backend.Known(false) })
		}},
		{"its own API", alerts.SeverityWarning, "port 3000", public(true)},
		{"several", alerts.SeverityWarning, "port 443, preview api, until 13:00:00Z, to its own API; port 3000, preview port-3000, until 13:00:00Z", func(s *story, b *backend.Sandbox) {
			public(false)(s, b)
			api := b.Previews[0]
			api.Name, api.Port, api.Control = backend.Text("api"), backend.Known(443), true
			b.Previews = append(b.Previews, api)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := beginExpiring(t, c.do)
			a := s.want(publicRule, alerts.StateFiring)
			if wantEvidence(t, a, c.says); a.Severity != c.severity {
				t.Errorf("severity %s, want %s", a.Severity, c.severity)
			}
			s.every(20*time.Second, time.Hour, func() { s.cloudBox(cloudBox, nil) })
			for _, a := range s.alerts(publicRule) {
				if a.State == alerts.StateFiring {
					t.Errorf("the address ended, and it fires")
				}
			}
		})
	}
}

func TestPublicPreviewDoesNotFire(t *testing.T) {
	for name, do := range map[string]func(*story, *backend.Sandbox){
		"private":  opens(time.Hour),
		"not read": func(s *story, b *backend.Sandbox) { public(false)(s, b); b.PreviewsAt = time.Time{} },
		"not told": func(s *story, b *backend.Sandbox) {
			public(false)(s, b)
			b.Previews[0].Public = backend.Unknown[bool]()
		},
		"over": func(s *story, b *backend.Sandbox) { public(false)(s, b); b.Previews[0].Expires = backend.Known(s.wall) },
		"gone": func(s *story, b *backend.Sandbox) { public(false)(s, b); b.Class = backend.SandboxExited },
		"failed without an address": func(s *story, b *backend.Sandbox) {
			public(false)(s, b)
			b.Previews[0].Status = backend.Text("FAILED")
		},
	} {
		t.Run(name, func(t *testing.T) { beginExpiring(t, do).quiet(publicRule) })
	}
}

func TestPreviewTokenFires(t *testing.T) {
	for says, do := range map[string]func(*story, *backend.Sandbox){
		"no token opens":                  opens(),
		"each token of its private":       opens(-time.Hour, -time.Minute),
		"the token of its private addres": opens(-time.Hour, 9*time.Minute),
	} {
		s := beginExpiring(t, do)
		s.want(tokenRule, alerts.StatePending) // a moment passes between an address and its token
		if a := s.after(time.Minute).want(tokenRule, alerts.StateFiring); !strings.Contains(a.Cause.String(), says) {
			t.Errorf("%s: %s", says, a.Cause)
		}
	}
}

// TestPreviewTokenNamesEachAddress: the one that nobody can open leads, the others stand beside it.
func TestPreviewTokenNamesEachAddress(t *testing.T) {
	s := beginExpiring(t, func(s *story, b *backend.Sandbox) {
		opens(9*time.Minute)(s, b)
		bare := b.Previews[0]
		bare.Name, bare.Port, bare.Tokens = backend.Text("port-5000"), backend.Known(5000), nil
		b.Previews = append(b.Previews, bare)
	})
	a := s.after(time.Minute).want(tokenRule, alerts.StateFiring)
	if !strings.Contains(a.Cause.String(), "no token opens") {
		t.Errorf("the address that ends soon leads: %s", a.Cause)
	}
	wantEvidence(t, a, "port 5000, preview port-5000")
	wantEvidence(t, a, "(no token opens it); port")
	wantEvidence(t, a, "ends at ")
}

func TestPreviewTokenDoesNotFire(t *testing.T) {
	for name, do := range map[string]func(*story, *backend.Sandbox){
		"a good one":      opens(-time.Hour, time.Hour),
		"tokens not read": func(s *story, b *backend.Sandbox) { opens()(s, b); b.Previews[0].TokensAt = time.Time{} },
		"an end not told": func(s *story, b *backend.Sandbox) {
			opens(time.Minute)(s, b)
			b.Previews[0].Tokens[0].Expires = backend.Unknown[time.Time]()
		},
		"public":           public(false),
		"it may be public": func(s *story, b *backend.Sandbox) { opens()(s, b); b.Previews[0].Public = backend.Unknown[bool]() },
		"a credential":     func(s *story, b *backend.Sandbox) { opens(time.Minute)(s, b); b.Previews[0].Control = true },
		"no session":       func(s *story, b *backend.Sandbox) { opens()(s, b); b.Session = backend.ID{} },
	} {
		t.Run(name, func(t *testing.T) {
			s := beginExpiring(t, do)
			s.every(20*time.Second, 3*time.Minute, nil).quiet(tokenRule)
		})
	}
}

// TestOnsetOfAPreview: an address is public since its making, or since a time between that and its last change; a token ends soon from
// its end less the threshold on. What no reading dates is first seen, and stays so.
func TestOnsetOfAPreview(t *testing.T) {
	made, changed := 3*time.Hour, 2*time.Hour
	of := func(do func(*story, *backend.Sandbox), edit func(*story, *backend.Preview)) func(*story, *backend.Sandbox) {
		return func(s *story, b *backend.Sandbox) {
			do(s, b)
			edit(s, &b.Previews[0])
		}
	}
	at := func(s *story, p *backend.Preview) { p.CreatedAt = backend.Known(s.wall.Add(-made)) }
	for name, c := range map[string]struct {
		rule            string
		do              func(*story, *backend.Sandbox)
		earliest, begun time.Duration // before the first look; 0: not known
	}{
		"made public":              {publicRule, of(public(false), at), 0, made},
		"made public, or later":    {publicRule, of(public(false), func(s *story, p *backend.Preview) { at(s, p); p.ChangedAt = s.wall.Add(-changed) }), made, changed},
		"nobody says when":         {publicRule, public(false), 0, 0},
		"its token ends soon":      {tokenRule, of(opens(4*time.Minute), at), 0, 6 * time.Minute},
		"a token of a new address": {tokenRule, of(opens(4*time.Minute), func(s *story, p *backend.Preview) { p.CreatedAt = backend.Known(s.wall.Add(-time.Minute)) }), 0, time.Minute},
		"its token ended":          {tokenRule, of(opens(-7*time.Minute), at), 0, 7 * time.Minute},
		"it lost its token":        {tokenRule, of(opens(), at), made, 0},
	} {
		s := beginExpiring(t, c.do)
		begun, earliest := s.wall.Add(-c.begun), time.Time{}
		if c.earliest > 0 {
			earliest = s.wall.Add(-c.earliest)
		}
		s.every(30*time.Second, 90*time.Second, func() {
			s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.PreviewsAt = s.wall })
		})
		a := s.want(c.rule, alerts.StateFiring)
		if !a.Bounds.Latest.Equal(begun) || !a.Bounds.Earliest.Equal(earliest) {
			t.Errorf("%s: between %v and %v, want %v and %v", name, a.Bounds.Earliest, a.Bounds.Latest, earliest, begun)
		}
	}
	a := beginExpiring(t, of(opens(4*time.Minute), at)).after(time.Minute).want(tokenRule, alerts.StateFiring)
	wantEvidence(t, a, "token token-1 ends at 12:04:00Z")
}

// TestStateOnTakesTheNewest: of two states that name a sandbox the newer one tells of it.
func TestStateOnTakesTheNewest(t *testing.T) {
	s := beginCloud(t)
	s.stateOn(cloudBox, s.wall.Add(-time.Minute), func(x *backend.AgentState) { x.PortsPublic = backend.Known(false) })
	s.refs[0].Key.ID = backend.MustID("other")
	s.stateOn(cloudBox, s.wall, func(x *backend.AgentState) { x.PortsPublic = backend.Known(true) })
	st := s.state()
	if r := st.StateOn(st.Sandbox(cloudKey(backend.KindSandbox, cloudBox))); r == nil || !r.Agent.PortsPublic.Or(false) {
		t.Errorf("state %+v", r)
	}
	if r := (&fleet.State{}).StateOn(&backend.Sandbox{}); r != nil {
		t.Errorf("an empty fleet has a state: %+v", r)
	}
}

// TestReapedLate: once its end has passed, what is still listed is not said to be removed within a time to come.
func TestReapedLate(t *testing.T) {
	s := beginCloud(t)
	s.cloudBox(cloudBox, func(b *backend.Sandbox) {
		b.Class, b.ReapedBy, b.LastUsedAt, b.ReapedAt = backend.SandboxAsleep, backend.Text("its policy of 30m without use"), s.wall, s.wall.Add(30*time.Minute)
	})
	if a := s.after(29*time.Minute).want(reapedRule, alerts.StateFiring); !strings.Contains(a.Cause.String(), "removes it within 7m30s") {
		t.Errorf("before: %s", a.Cause)
	}
	s.after(2 * time.Minute)
	var firing []string
	for _, a := range s.alerts(reapedRule) {
		if a.State == alerts.StateFiring {
			firing = append(firing, a.Cause.String())
		}
	}
	if len(firing) != 1 || firing[0] != "it sleeps, and its platform should have removed it" {
		t.Errorf("after: %v", firing)
	}
}

// TestAFailedSandboxOfWhichNoCauseIsTold: it is told while a session runs on it, many at once as one alert.
func TestAFailedSandboxOfWhichNoCauseIsTold(t *testing.T) {
	s := beginCloud(t, startRule)
	s.health("cloud", func(h *fleet.SourceHealth) { h.Inputs = append(h.Inputs, backend.InputPlatform) })
	fail := func(b *backend.Sandbox) {
		b.Class, b.Reported, b.StartError, b.ExitCode, b.LifecycleAt = backend.SandboxDead, backend.Text("FAILED"), backend.Safe{}, backend.NotApplicable[int](), s.wall
	}
	s.cloudBox(cloudBox, fail)
	s.cloudBox("sb_second", func(b *backend.Sandbox) {
		fail(b)
		b.Session = backend.MustID("sess_second")
	})
	s.hub("sess_second", "sb_second", func(x *backend.Session) { x.Running = backend.Known(true) })
	a := s.look().want(startRule, alerts.StateFiring)
	if a.Cause.String() != "FAILED under a running session; the platform tells no cause" || a.SubjectCount != 2 {
		t.Errorf("%d: %s", a.SubjectCount, a.Cause)
	}
	wantEvidence(t, a, "FAILED, and session "+cloudSession+" runs; the platform tells no cause")
	for id, box := range map[string]string{cloudSession: cloudBox, "sess_second": "sb_second"} {
		s.hub(id, box, func(x *backend.Session) { x.Running = backend.Known(false) })
	}
	s.after(30 * time.Second)
	for _, a := range s.alerts(startRule) {
		if a.State != alerts.StateResolved {
			t.Errorf("no session runs on it, and it is %s", a.State)
		}
	}
}

// TestSandboxExpiringNamesTheSoonest: of 3 and of 3,000 those that end first come first, whatever their ids, and the evidence is theirs.
func TestSandboxExpiringNamesTheSoonest(t *testing.T) {
	for _, n := range []int{3, 3000} {
		s := beginCloud(t, expiringRule)
		s.cloudBox(cloudBox, nil)
		for i := range n { // the larger i, the sooner
			box, session := fmt.Sprintf("box-%04d", i), fmt.Sprintf("session-%04d", i)
			s.hub(session, box, nil)
			s.cloudBox(box, func(b *backend.Sandbox) {
				b.Session = backend.MustID(session)
				ends(time.Duration(n-i)*500*time.Millisecond+5*time.Minute)(s, b)
			})
		}
		a := s.look().want(expiringRule, alerts.StateFiring)
		for i := range 3 {
			if name := fmt.Sprintf("box-%04d", n-1-i); a.SubjectCount != n || a.Subjects[i].Key.ID.Raw() != name {
				t.Errorf("of %d, %d in all, the %dth is %s, not %s", n, a.SubjectCount, i+1, a.Subjects[i].Key, name)
			}
		}
		first := fmt.Sprintf("box-%04d", n-1)
		if !strings.Contains(a.Evidence[0].Text.String(), "lists "+first) || !strings.HasPrefix(a.Evidence[1].Text.String(), first+": its ttl of 26h from creation ends at 12:05:00Z") {
			t.Errorf("of %d: %s", n, evidence(a))
		}
	}
}
