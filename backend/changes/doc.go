// Package changes reads what somebody or something writes down about changes, from a file or from the output of a
// command: deployments, configuration pushes, feature flags. Each new line becomes a change marker of the timeline, so
// that an alert can say what happened shortly before it began.
package changes
