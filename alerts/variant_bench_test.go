package alerts

import (
	"math/rand/v2"
	"testing"

	"sandglass/alerts/cause"
)

// BenchmarkVariants counts the variants of 10,000 subjects of one cause, each with a name of its own.
func BenchmarkVariants(b *testing.B) {
	r := rand.New(rand.NewPCG(9, 2))
	name := names(r)["6 letters"]
	counts := map[string]int{}
	var reader cause.Reader
	for i := range 10_000 {
		reader.Read("Zugriff auf Speicher " + name() + [...]string{" verweigert", " abgelaufen"}[i%2])
		counts[string(reader.Values)]++
	}
	b.ReportAllocs()
	for b.Loop() {
		if v := VariantsOf(counts); v.Count != 2 {
			b.Fatal(v.Text())
		}
	}
}
