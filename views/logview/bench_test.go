package logview

import (
	"fmt"
	"testing"
	"time"

	"sandglass/backend"
)

// frameBytes is what comes between two frames at 50 MB/s.
const frameBytes = 50 << 20 / 20

// BenchmarkFollow is what following costs one core: lines into the store, the search of each, and a frame every 50 ms of a stream of
// 50 MB/s. The figures are bytes and lines a second.
func BenchmarkFollow(b *testing.B) {
	lines := [][]byte{
		[]byte(`2026-11-27T10:00:01.123Z INFO  http: GET /v1/sandboxes/8f3a/files 200 12ms bytes=18234 agent=coder-7`),
		[]byte(`{"level":"info","time":"2026-11-27T10:00:01.123Z","msg":"tool call finished","session":"codesess_3541","workspace":"box","ms":812,"exit":0}`),
		[]byte(`2026-11-27T10:00:01.124Z DEBUG scheduler: nothing to do for 3 of 18 workers; the next look is in 250ms`),
		[]byte(`{"level":"error","time":"2026-11-27T10:00:01.125Z","msg":"exec failed","err":{"code":"ETIMEDOUT","message":"no answer in 30s"}}`),
	}
	for _, text := range []string{"", "timeout", "~etimed|refused", "level=30"} {
		b.Run(fmt.Sprintf("filter=%q", text), func(b *testing.B) {
			s := NewStore(DefaultLimit, 1, backend.NewCleaner("our-own-secret"))
			v := view(s, "container web-1")
			if err := v.SetFilter(text); err != nil {
				b.Fatal(err)
			}
			at, size, since, n := time.Unix(1795800000, 0), 0, 0, 0
			for _, l := range lines {
				size += len(l)
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				for _, l := range lines {
					s.Line(0, backend.LogLine{At: at, Text: l})
				}
				n += len(lines)
				if since += size; since >= frameBytes {
					since = 0
					for !s.Step() {
					}
					v.Came(at)
					v.Render(200, 60, frame)
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
