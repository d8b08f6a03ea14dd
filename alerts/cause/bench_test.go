package cause

import (
	"fmt"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	var texts []string
	for i := range 1000 {
		texts = append(texts, fmt.Sprintf("WorkspaceFailedError: max_instances reached for container sbx_%08x of session s%05d (60/60 in use, request %08x)", i*77777, i, i*99991))
		texts = append(texts, fmt.Sprintf("ENOENT: no such file or directory, open '/tmp/helix-ws-a%dB2c3/notes.txt'", i))
	}
	var r Reader
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Read(texts[i%len(texts)])
	}
}
