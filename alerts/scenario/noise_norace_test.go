//go:build !race

package scenario_test

const raced = false
