// Package cli is the command line: commands, flags, exit codes and what is printed without a screen. It knows the
// configuration, the fleet and the alerts, but no adapter: the wiring hands those in as a Program.
package cli
