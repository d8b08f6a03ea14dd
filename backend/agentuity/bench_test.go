package agentuity

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

// BenchmarkPoll10000 polls 10,000 quiet sandboxes of which a tenth are live, on a server of this machine.
func BenchmarkPoll10000(b *testing.B) {
	w := newWorld(b, func(o *Options) { o.Hub, o.RequestsPerSec = false, 1000 })
	row := func(i int) string {
		status := "suspended"
		if i%10 == 0 {
			status = "idle"
		}
		return fmt.Sprintf(`{"sandboxId":"sbx_%060d","name":"agent-%d","status":%q,"mode":"interactive","createdAt":"2026-04-04T00:00:00Z","region":"usc","runtime":{"id":"srt_1","name":"bun:1"},"executions":3,"org":{"id":"org_1","name":"o"},"timeout":{"idle":"10m0s","paused":"24h0m0s"}}`, i, i, status)
	}
	list := func(step, n int) func(url.Values) reply {
		return func(q url.Values) reply {
			var from, limit int
			_, _ = fmt.Sscan(q.Get("offset"), &from)
			_, _ = fmt.Sscan(q.Get("limit"), &limit)
			var rows []string
			for i := from; i < min(from+limit, n); i++ {
				rows = append(rows, row(i*step))
			}
			return ok(fmt.Sprintf(`{"success":true,"data":{"sandboxes":[%s],"total":%d}}`, strings.Join(rows, ","), n))
		}
	}
	all, live, none := list(1, 10_000), list(10, 1000), list(1, 0)
	w.setFunc("GET /sandbox", func(q url.Values) reply {
		switch {
		case q.Get("live") != "":
			return live(q)
		case q.Get("status") != "":
			return none(q)
		}
		return all(q)
	})
	if _, err := w.src.Poll(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		w.clock.Add(5 * time.Second)
		if _, err := w.src.Poll(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
