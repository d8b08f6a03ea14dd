package ui

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views/theme"
)

// A day of evictions with a storm, a gap and a source that does not answer, at every width.
func TestEvictionScreens(t *testing.T) {
	sizedShots(t, "evictions", evictionFeed, andSmall(), "5")
	sizedShots(t, "evictions-one", evictionFeed, []Size{{80, 24}, {120, 60}}, "5", keyEnter)
	t.Run("evictions-ascii", func(t *testing.T) { shot(t, evictionFeed, look{w: 80, h: 24, glyphs: theme.ASCII}, "5") })
	t.Run("evictions-down", func(t *testing.T) { shot(t, evictionFeed, look{w: 80, h: 24}, "5", "G", keyEnter) })
}

// Rejected commands at every width, and one row with its first line in full.
func TestRejectionScreens(t *testing.T) {
	sizedShots(t, "rejections", rejectionFeed, andSmall(), "6")
	sizedShots(t, "rejections-one", rejectionFeed, []Size{{80, 24}, {120, 60}}, "6", keyEnter)
	t.Run("rejections-none", func(t *testing.T) { shot(t, evictionFeed, look{w: 80, h: 24}, "6") })
}

// evictionFeed counts evictions of two providers for a day. Four hours of it were not read.
func evictionFeed() Feed { return evictionFeedAt(time.Now()) }

func evictionFeedAt(now time.Time) Feed {
	st, board := incident(now)
	var counts []backend.Count
	count := func(source, provider string, m backend.Metric, ago time.Duration, n float64) {
		counts = append(counts, backend.Count{Series: backend.Series{Source: source, Name: m, Provider: provider}, At: now.Add(-ago), N: n})
	}
	for m := 20 * 60; m >= 0; m-- {
		if m > 8*60 && m < 12*60 {
			continue // not read
		}
		evicted, again := float64(m%7/6), float64(m%7/6)
		switch {
		case m <= 12: // the storm of now
			evicted, again = float64(60-4*m), 2
		case m > 3*60 && m < 3*60+25: // an earlier one
			evicted, again = 30, 3
		}
		ago := time.Duration(m)*time.Minute + 10*time.Second
		count("metrics", "cloudflare-sandbox", backend.MetricEvictions, ago, evicted)
		count("metrics", "cloudflare-sandbox", backend.MetricEvictionRetries, ago, again)
		count("metrics", "e2b", backend.MetricEvictions, ago, 0)
	}
	count("app-logs", "", backend.MetricEvictionExhausted, 3*time.Minute, 0)
	count("app-logs", "", backend.MetricEvictionExhausted, 10*time.Second, 412)
	metrics, down := source(now, "metrics", "prometheus", fleet.StatusOK, backend.InputEvictions), source(now, "metrics-us", "prometheus", fleet.StatusDown)
	metrics.About, metrics.Interval = []string{"helix-eu"}, time.Minute
	down.About, down.Missing = []string{"helix-us"}, []backend.MissingInput{{Input: backend.InputEvictions, Why: safe("connection refused")}}
	st.Sources = append(st.Sources, metrics, down)
	st.Day, st.Windows = fleet.NewDay(now, counts...), fleet.NewWindows(counts...)
	return newFeed(st, withRules(board, now))
}

// withRules is a board that knows the limits of the rules.
func withRules(b *alerts.Board, now time.Time) *alerts.Board {
	judged, _ := alerts.NewEngine(rules.Defaults(), "prod-eu").Next(nil, &fleet.State{Wall: now})
	judged.Number, judged.At, judged.Alerts, judged.Blind = b.Number, b.At, b.Alerts, b.Blind
	return judged
}

// rejectionFeed is a flood of one word, a session that tries many, and rollups that name no session.
func rejectionFeed() Feed { return rejectionFeedAt(time.Now()) }

func rejectionFeedAt(now time.Time) Feed {
	st, board := incident(now)
	row := func(session, workspace, word, meta string, lines, suppressed float64, first, last time.Duration, line string) *backend.Rejection {
		r := &backend.Rejection{Word: safe(word), Metacharacter: safe(meta), Lines: lines, Suppressed: suppressed, FirstSeen: now.Add(-first), LastSeen: now.Add(-last), First: safe(line)}
		if session != "" {
			r.Session, r.Workspace = backend.MustID(session), backend.MustID(workspace)
		}
		if line != "" {
			r.FirstAt = now.Add(-first)
		}
		return r
	}
	const flood = `{"level":40,"time":"2000-01-01T14:00:00.607Z","msg":"workspace tool: shell metacharacter rejected","sessionId":"c4f1","workspace":"box","command":"ls; cat /etc/passwd | head -3 && echo done"}`
	for _, h := range st.Sources {
		if h.Key.Source != "app-logs" {
			continue
		}
		h.Rejections = []*backend.Rejection{
			row("c4f1", "box", "ls;", ";", 4, 362_608, 3*time.Minute, time.Second, flood),
			row("c4f1", "box", "cat", "|", 1, 0, 2*time.Minute, 2*time.Minute, "WARN workspace tool: shell metacharacter rejected sessionId=c4f1 command=\"cat a | wc -l\""),
			row("codesess_9100", "box", "curl", "", 2, 0, 40*time.Minute, 12*time.Minute, "WARN workspace tool: command rejected sessionId=codesess_9100 command=\"curl http://169.254.169.254\""),
			row("codesess_9100", "box", "rm", "{", 1, 0, 12*time.Minute, 12*time.Minute, "WARN workspace tool: shell metacharacter rejected sessionId=codesess_9100 command=\"rm {a,b}.o\""),
		}
		nameless := row("", "", "", "", 0, 240, 30*time.Minute, 5*time.Minute, "")
		nameless.LowerBound, nameless.Fits = true, 3
		h.Rejections = append(h.Rejections, nameless)
	}
	newest := backend.Count{Series: backend.Series{Source: "app-logs", Name: backend.MetricRejections, Session: backend.MustID("c4f1"), Workspace: backend.MustID("box")},
		At: now.Add(-time.Second), N: 9612, Sample: safe("[rate-limited] workspace tool: shell metacharacter rejected sessionId=c4f1 workspace=box command=ls; suppressedCount=9611")}
	st.Windows, st.Day = fleet.NewWindows(newest), fleet.NewDay(now, newest)
	return newFeed(st, board)
}
