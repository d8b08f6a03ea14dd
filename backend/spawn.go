package backend

import "runtime/debug"

// Spawner starts goroutines. Every goroutine of the program starts through one, so that a panic anywhere restores the
// terminal, leaves a crash file and ends the program with a non-zero status instead of a broken screen.
type Spawner struct {
	onPanic func(name string, reason any, stack []byte)
}

// NewSpawner makes a Spawner that hands a panic to onPanic, on the goroutine that panicked.
func NewSpawner(onPanic func(name string, reason any, stack []byte)) Spawner {
	return Spawner{onPanic: onPanic}
}

// Go runs f on a goroutine of its own. The name appears in the crash file.
func (s Spawner) Go(name string, f func()) {
	go func() {
		defer func() {
			if r := recover(); r != nil && s.onPanic != nil {
				s.onPanic(name, r, debug.Stack())
			} else if r != nil {
				panic(r)
			}
		}()
		f()
	}()
}
