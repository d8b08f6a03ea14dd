// Package helix reads workspace registries of Helix Agents servers over HTTP: the health route that operators write
// after the framework's runbook, and the list and aggregate routes of docs/helix-operator-routes.md. Nothing about
// those servers is taken for granted beyond the key `workspaces` and the words state, lastError, lastAttemptAt,
// lastSuccessAt, failed and evicted, which the framework's runbook names; every other shape, word and path is
// configurable, and what cannot be told apart is reported as unknown.
package helix
