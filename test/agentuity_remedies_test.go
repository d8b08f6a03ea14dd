package test

import (
	"testing"

	"sandglass/demo"
)

// TestRemediesOnTheDemosAgentuity carries the remedies out on the demo: what cannot help is refused with its reason, and the
// control experiment tells the sandbox from the platform.
func TestRemediesOnTheDemosAgentuity(t *testing.T) {
	t.Parallel()
	as := func(config string) string { return config }
	w := newCommandLines(t, demo.Options{Workspaces: 10, Seed: 1, Scenario: "zombie"}, as)
	w.run(2, `(?s)reported idle, but its mount is gone.*\n  first: Save the evidence: sandglass [^\n]*\n  then: Test the platform: sandglass [^\n]*prove agentuity --beside coder-session\. `, "check")
	w.carryOut(0, `(?s)exec +ok.* failed, control 5xx.*list +ok.* failed, mount gone.*destroy +ok.*the platform works: it is this sandbox, coder-session`, "prove", "agentuity", "--beside", "coder-session")
	w.run(0, `prove\s+agentuity\s+--beside\s+coder-session`, "why", "coder-session")
	w.run(0, `in the organisation .* with the runtime .*, those of coder-session, in the region`, "prove", "agentuity")
	w.run(4, `its mount is gone, so no file of it can be read`, "rescue", "coder-session")
	w.run(3, `2 executions are queued in it`, "probe", "coder-session")
	w.carryOut(0, `the new sandbox is sbx_[0-9a-f]{60}; it is reported idle`, "replace", "coder-session")
	w.carryOut(0, `verified, 4 files, \d+ B in .*\.tar\.gz`, "rescue", "build-agent-1")
	w.carryOut(0, `(?s)exec +ok.*filesystem list +ok`, "probe", "build-agent-1")
	late := newCommandLines(t, demo.Options{Workspaces: 10, Seed: 1, Scenario: "no-checkpoint"}, as)
	late.carryOut(2, `has no checkpoint data .*trying again does not help`, "resume", "old-session")
	late.run(4, `a resume of it was refused at \S+Z, since it has no checkpoint: another one fails too\. Replace it: sandglass --config \S+ --state-dir \S+ replace sbx_[0-9a-f]+`, "resume", "old-session")
	late.carryOut(0, `the new sandbox is sbx_[0-9a-f]{60}`, "replace", "old-session")
	early := newCommandLines(t, demo.Options{Workspaces: 10, Seed: 1, Scenario: "resume-race"}, as)
	early.carryOut(2, `its checkpoint is probably not stored yet`, "resume", "nightly-refactor")
}
