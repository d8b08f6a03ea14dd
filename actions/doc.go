// Package actions is the only way in which Sandglass changes anything outside itself.
//
// An Intent becomes a Plan: which targets, as they were just read, what each would lose, what was left out and why. The
// plan is shown whole, confirmed by a gesture that grows with what it can break, and carried out once: each target is
// read again immediately before its effect, the journal has the intent on disk before the first effect and every
// outcome after it, and only later readings of the source make an outcome verified.
//
// What a kind of backend can do is declared as data (Kind, Spec), so that a key that is not available can say why. The
// code that acts (Effect) lives in the packages below, is built by the wiring only for the verbs that the configuration
// allows, and is opened only by a run of a confirmed plan.
package actions
