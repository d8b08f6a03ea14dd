package kit

import (
	"fmt"
	"runtime"
	"testing"
)

// TestATableKeepsLittleOfEachRow bounds what 100,000 rows take beside the rows themselves: each screen that was opened keeps
// a Table.
func TestATableKeepsLittleOfEachRow(t *testing.T) {
	const n, most = 100_000, 200 // bytes of each row
	type key struct{ kind, source, parent, id string }
	rows := make([]*key, n)
	for i := range rows {
		rows[i] = &key{"workspace", "helix-eu", fmt.Sprintf("session-%06d", i/4), fmt.Sprint(i)}
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	table := NewTable(Rules[key, *key]{Key: func(k *key) key { return *k }, Order: func(k *key) Order { return Order{Text: k.id} },
		Compare: func(a, b *key) int { return 0 }})
	table.Replace(n, func(yield func(*key) bool) {
		for _, r := range rows {
			if !yield(r) {
				return
			}
		}
	})
	each := (heap() - before) / n
	t.Logf("%d bytes of each row", each)
	if each > most {
		t.Errorf("a row costs %d bytes, want at most %d", each, most)
	}
	runtime.KeepAlive(table)
	runtime.KeepAlive(rows)
}
