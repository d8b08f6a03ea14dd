//go:build race

package scenario_test

// raced says that the race detector watches, which takes ten times as long: the noisy day ends after its first hours.
const raced = true
