// Package stable sorts lists with one compiled sort. The standard library's generic one is compiled again for each type of
// row, which made the binary larger by more than a megabyte.
package stable

import (
	"iter"
	"slices"
)

// Sort puts list in ascending order as compare has it, which returns below 0, 0 or above 0 as a comes before, with or
// after b. Rows that compare alike keep their order. It calls compare about n log n times and, unless the list is in order
// already, needs memory for a second list.
func Sort[L ~[]E, E any](list L, compare func(a, b E) int) {
	order := Order(len(list), func(a, b int) int { return compare(list[a], list[b]) })
	if order == nil {
		return
	}
	sorted := make([]E, len(list))
	for to, from := range order {
		sorted[to] = list[from]
	}
	copy(list, sorted)
}

// Sorted collects what a sequence gives, in ascending order as Sort has it.
func Sorted[E any](seq iter.Seq[E], compare func(a, b E) int) []E {
	list := slices.Collect(seq)
	Sort(list, compare)
	return list
}

// Order returns the places of n rows in ascending order, those that compare alike in the order in which they are; nil when
// all are in order already. Lists that follow each other, each in order, cost one comparison a row and one more for every doubling
// of their number.
func Order(n int, compare func(a, b int) int) []int32 {
	ends := runs(n, compare)
	if len(ends) <= 1 {
		return nil
	}
	order, other := make([]int32, n), make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	for len(ends) > 1 {
		from, merged := 0, ends[:0]
		for i := 0; i < len(ends); i += 2 {
			middle, to := ends[i], ends[min(i+1, len(ends)-1)]
			merge(other[from:to], order[from:middle], order[middle:to], compare)
			from, merged = int(to), append(merged, to)
		}
		order, other, ends = other, order, merged
	}
	return order
}

// runs are the ends of the parts of n rows that are in order already.
func runs(n int, compare func(a, b int) int) (ends []int32) {
	for i := 1; i < n; i++ {
		if compare(i-1, i) > 0 {
			ends = append(ends, int32(i))
		}
	}
	return append(ends, int32(n))
}

// merge puts two lists that are in order into one; of rows that compare alike, those of a come first.
func merge(to, a, b []int32, compare func(a, b int) int) {
	for i := range to {
		if len(b) == 0 || len(a) > 0 && compare(int(a[0]), int(b[0])) <= 0 {
			to[i], a = a[0], a[1:]
		} else {
			to[i], b = b[0], b[1:]
		}
	}
}
