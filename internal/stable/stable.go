// Package stable sorts lists with one compiled sort. The standard library's generic one is compiled again for each type of
// row, which made the binary larger by more than a megabyte.
package stable

import "slices"

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

// Order returns the places of n rows in ascending order, those that compare alike in the order in which they are; nil when
// all are in order already.
func Order(n int, compare func(a, b int) int) []int32 {
	first := 1
	for first < n && compare(first-1, first) <= 0 {
		first++
	}
	if first >= n {
		return nil
	}
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := compare(int(a), int(b)); c != 0 {
			return c
		}
		return int(a - b)
	})
	return order
}
