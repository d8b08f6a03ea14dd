// Package logs reads the log of an agent server: JSON lines or plain text, from files, a command's output or a
// container's stream. It searches every line for the patterns of a table, counts them per session and workspace,
// rebuilds the true number of rejections from the rollups of the framework's rate limiter, and delivers the counts as
// increases at the time of the lines. It changes nothing.
package logs
