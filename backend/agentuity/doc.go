// Package agentuity reads the sandbox service of Agentuity and the Coder Hub on top of it: sandboxes, their executions, jobs
// and lifecycle events, and the Hub's sessions. It follows the clients that the vendor publishes (npm @agentuity/core, cli and
// coder-tui 2.0.21) and has never run against the live service. It changes nothing. On suspicion it lists one directory of a
// live sandbox, the one read whose side effects are not documented.
package agentuity
