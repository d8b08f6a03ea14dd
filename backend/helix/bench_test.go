package helix

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/wire"
)

// pageBody is a page of the aggregate route: n sessions of 2 workspaces each; every changed-th session differs with
// the generation.
func pageBody(n, generation, changed int) []byte {
	var b strings.Builder
	b.WriteString(`{"sessions":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		at := int64(1767225600000)
		if changed > 0 && i%changed == 0 {
			at += int64(generation) * 1000
		}
		fmt.Fprintf(&b, `{"sessionId":"sess-%06d","status":"running","tenant":"acme","runtime":"js","frameworkVersion":"7.1.0","startedAt":1767220000000,"workspaces":[`, i)
		for j := range 2 {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"name":"ws-%d","state":"open","lastError":"WorkspaceFailedError: ref schemaVersion %d is outside the supported range 1-3","lastAttemptAt":%d,"lastSuccessAt":%d,"provider":"cloudflare-sandbox","closeTimeoutMs":30000}`, j, i, at, at)
		}
		b.WriteString(`]}`)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func benchSource(b *testing.B) *Source {
	b.Helper()
	o := func(o *Options) { o.AggregateURL = "http://x/operator/workspaces" }
	src, err := Kind().New(backendtest.Options[Options](o), backend.Deps{ID: "helix", Now: (backendtest.NewClock(noon)).Now, Dial: noDial})
	if err != nil {
		b.Fatal(err)
	}
	return src.(*Source)
}

func readAgain(b *testing.B, s *Source, body []byte) *page {
	p, err := s.readPage(&wire.Response{Body: body, Status: http.StatusOK, At: noon}, true)
	if err != nil || len(p.bad) > 0 {
		b.Fatal(err, p.bad)
	}
	return p
}

// BenchmarkAggregate reads 100,000 workspaces: the first time, with 1 % changed, and unchanged.
func BenchmarkAggregate(b *testing.B) {
	b.Run("first", func(b *testing.B) {
		body := pageBody(50_000, 0, 0)
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			readAgain(b, benchSource(b), body)
		}
	})
	for name, changed := range map[string]int{"1percent": 100, "unchanged": 0} {
		b.Run(name, func(b *testing.B) {
			s, bodies := benchSource(b), [2][]byte{pageBody(50_000, 0, changed), pageBody(50_000, 1, changed)}
			readAgain(b, s, bodies[0])
			b.SetBytes(int64(len(bodies[0])))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				s.forget(&pageWalk{pages: []*page{readAgain(b, s, bodies[i%2])}, count: 50_000})
			}
		})
	}
}
