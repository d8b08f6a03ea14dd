package scenario_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sandglass/alerts/rules"
	"sandglass/alerts/scenario"
)

// stories names, for the rules without a scenario for a case, the tests in alerts/rules that tell it: in the order of
// scenario.Cases. A test that tells several cases stands several times; empty: there is a scenario.
var stories = map[string][5]string{
	"evicted-sustained":       {"TestSustainedFiresAfterItsShareOfTheWindow", "TestSustainedDoesNotFire", "TestSustainedColdStartGapRestart", "TestSustainedColdStartGapRestart", "TestSustainedColdStartGapRestart"},
	"reset-loop":              {"TestLoopFiresAfterThreeResetsInVain", "TestLoopDoesNotFire", "TestLoopColdStartGapRestart", "TestLoopColdStartGapRestart", "TestLoopColdStartGapRestart"},
	"intermittent-failure":    {"TestIntermittentFiresAcrossSessionsThatEnd", "TestIntermittentDoesNotFire", "TestIntermittentColdStartGapRestart", "TestIntermittentColdStartGapRestart", "TestIntermittentColdStartGapRestart"},
	"error-burst":             {"TestBurstFiresAtOnceAndHandsOver", "TestBurstDoesNotFire", "TestBurstGapRestart", "TestBurstColdStart", "TestBurstGapRestart"},
	"error-chaos":             {"TestChaosFires", "TestChaosDoesNotFireForOneCauseNorOneSession", "TestChaosColdStartGapRestart", "TestChaosColdStartGapRestart", "TestChaosColdStartGapRestart"},
	"files-vanished":          {"TestVanishedFires", "TestVanishedDoesNotFire", "TestVanishedColdStartGapRestart", "TestVanishedColdStartGapRestart", "TestVanishedColdStartGapRestart"},
	"ref-mismatch":            {"TestRefMismatchFiresForSchemaVersions", "TestRefMismatchDoesNotJudgeReferencesThatCannotBeCompared"},
	"capability-mismatch":     {"TestCapabilityFiresAtOnceAndTakesTheOutagesPlace", "TestCapabilityDoesNotFireForOtherErrors", "TestCapabilityColdStartGapRestart", "TestCapabilityColdStartGapRestart", "TestCapabilityColdStartGapRestart"},
	"possible-leak":           {"TestLeakAcrossTenantsIsCritical", "TestLeakDoesNotFire", "TestLeakColdStartGapRestart", "TestLeakColdStartGapRestart", "TestLeakColdStartGapRestart"},
	"misclassified-transient": {"TestTransientFiresForPermanentCausesThatAreRetried", "TestTransientDoesNotFire", "TestTransientGapRestart", "", "TestTransientGapRestart"},
	"capacity":                {"TestCapacityFiresAtTheLimit", "TestCapacityDoesNotFire", "TestCapacityColdStartGapRestart", "TestCapacityColdStartGapRestart", "TestCapacityColdStartGapRestart"},
	"restart-storm":           {"TestRestartStormFires", "TestRestartStormDoesNotFire", "TestRestartStormGapRestart", "TestRestartStormColdStart", "TestRestartStormGapRestart"},
	"contradiction":           {"TestContradictionCases", "TestContradictionCases", "TestContradictionByAHealthCheck", "TestContradictionCases", "TestContradictionKeepsItself"},
	"sandbox-oom":             {"TestSandboxOOMByTheEventAlone", "TestSandboxOOMDoesNotFireForAnOrdinaryKill", "", "TestSandboxOOMColdStart", ""},
	"sandbox-start-failed":    {"TestStartFailedFires", "TestStartFailedDoesNotFire", "TestStartFailedColdStartGapRestart", "TestStartFailedColdStartGapRestart", "TestStartFailedColdStartGapRestart"},
	"sandbox-crash-loop":      {"TestCrashLoopFires", "TestCrashLoopDoesNotFire", "TestCrashLoopColdStartGapRestart", "TestCrashLoopColdStartGapRestart", "TestCrashLoopColdStartGapRestart"},
	"sandbox-unhealthy":       {"TestUnhealthyFires", "TestUnhealthyDoesNotFire", "TestUnhealthyColdStartGapRestart", "TestUnhealthyColdStartGapRestart", "TestUnhealthyColdStartGapRestart"},
	"sandbox-exited":          {"TestExitedFires", "TestExitedDoesNotFire", "TestExitedColdStartGapRestart", "TestExitedColdStartGapRestart", "TestExitedColdStartGapRestart"},
	"agent-oom":               {"TestAgentOOMNamesTheCauseThatTheFactsSupport", "TestAgentOOMByTheKernelAndTheProcessStart", "TestAgentOOMColdStartGapRestartBlind", "TestAgentOOMColdStartGapRestartBlind", "TestAgentOOMColdStartGapRestartBlind"},
	"sandbox-expiring":        {"TestSandboxExpiringFires", "TestSandboxExpiringDoesNotFire", "TestSandboxExpiringColdStartGapRestart", "TestSandboxExpiringColdStartGapRestart", "TestSandboxExpiringColdStartGapRestart"},
	"snapshot-interrupted":    {"TestSnapshotInterruptedFires", "TestSnapshotInterruptedDoesNotFire", "TestSnapshotInterruptedGapRestart", "TestSnapshotInterruptedGapRestart", "TestSnapshotInterruptedGapRestart"},
	"runaway-process":         {"TestRunawayFires", "TestRunawayDoesNotFire", "TestRunawayGapRestart", "TestRunawayGapRestart", "TestRunawayGapRestart"},
	"pty-pressure":            {"TestPTYPressureFires", "TestPTYDoesNotFire", "TestPTYGapRestartCold", "TestPTYGapRestartCold", "TestPTYGapRestartCold"},
	"pty-failed":              {"TestPTYGapRestartCold", "TestPTYDoesNotFire", "TestLineRules", "TestLineRules", "TestLineRules"},
	"public-preview":          {"TestPublicPreviewFires", "TestPublicPreviewDoesNotFire", "TestSandboxExpiringColdStartGapRestart", "TestSandboxExpiringColdStartGapRestart", "TestSandboxExpiringColdStartGapRestart"},
	"preview-token-expiring":  {"TestPreviewTokenFires", "TestPreviewTokenDoesNotFire", "TestSandboxExpiringColdStartGapRestart", "TestSandboxExpiringColdStartGapRestart", "TestSandboxExpiringColdStartGapRestart"},
	"wont-terminate":          {"TestWontTerminateWhenItShouldHaveBeenDestroyed", "TestWontTerminateDoesNotFire", "TestWontTerminateGapAndRestart", "TestWontTerminateWhenItsSessionIsInNoList", "TestWontTerminateGapAndRestart"},
	"tmpdir-pileup":           {"TestPileupByGrowth", "TestPileupDoesNotCountWhatOpenWorkspacesExplain", "TestPileupByCountAtAColdStart", "TestPileupByCountAtAColdStart", "TestPileupByCountAtAColdStart"},
	"tmpdir-orphaned":         {"TestOrphanedWhenNoSessionCanOwnIt", "TestOrphanedBecomesSoWithTime", "TestOrphanedGapRestartAndBlind", "TestOrphanedWhenNoSessionCanOwnIt", "TestOrphanedGapRestartAndBlind"},
	"tmpdir-close-failed":     {"TestLineRules", "TestLineRules", "TestLineRules", "TestLineRules", "TestLineRules"},
	"persist-failed":          {"TestLineRules", "TestLineRules", "TestLineRules", "TestLineRules", "TestLineRules"},
	"hydrate-failed":          {"TestLineRules", "TestLineRules", "TestLineRules", "TestLineRules", "TestLineRules"},
	"preview-failed":          {"TestLineRules", "TestLineRules", "TestLineRules", "TestLineRules", "TestLineRules"},
	"package-missing":         {"TestLineRules", "TestLineRules", "TestLineRules", "TestLineRules", "TestLineRules"},
	"tmpdir-root-unusable":    {"TestRootUnusable", "TestRootUnusableDoesNotJudgeWhatCannotBeDecided", "TestRootUnusableGapColdStartRestart", "TestRootUnusableGapColdStartRestart", "TestRootUnusableGapColdStartRestart"},
	"host-oom":                {"TestHostOOMFiresWhenTheCounterRises", "TestHostOOMMemoryMustStayLow", "TestHostOOMGapRestartAndBlind", "TestHostOOMColdStartIsNoNews", "TestHostOOMGapRestartAndBlind"},
	"host-restarted":          {"TestHostRestartedWhileWatched", "TestHostRestartedDoesNotFireForAClockThatMoves", "TestHostRestartedColdStart", "TestHostRestartedColdStart", "TestHostRestartedIsAWarningWhereATmpfsLostItsContent"},
	"source-stale":            {"TestSourceStaleServesACopy", "TestSourceStaleDoesNotFireForAQuietFleet", "TestSourceStaleServesACopy", "TestSourceStaleColdStartAndBlind", "TestSourceStaleAcrossRuns"},
	"source-degraded":         {"TestSourceDegradedBySessionsThatCannotBeRead", "TestSourceDegradedDoesNotFireForFew", "TestSourceDegradedGapRestartColdStart", "TestSourceDegradedGapRestartColdStart", "TestSourceDegradedGapRestartColdStart"},
	"source-open":             {"TestSourceOpen", "TestSourceOpen", "TestSourceOpen", "TestSourceOpen", "TestSourceOpen"},
	"clock-skew":              {"TestClockSkew", "TestClockSkew", "TestClockSkew", "TestClockSkew", "TestClockSkew"},
}

// tells is what the text of a story has in it when it tells a case at all.
var tells = map[string]*regexp.Regexp{
	"fires":         regexp.MustCompile(`StateFiring|StatePending`),
	"does not fire": regexp.MustCompile(`quiet\(|alerts\(`),
	"gap":           regexp.MustCompile(`wantHeldThenBack|survives\(|\.down\(|StateHeld|Stale = true|StatusDown`),
	"cold start":    regexp.MustCompile(`begin|look\(\)`),
	"restart":       regexp.MustCompile(`survives\(|\.restart\(\)|wantSameAfterRestart`),
}

func TestEveryRuleHasItsFiveCases(t *testing.T) {
	bodies := storyBodies(t)
	told := map[string]map[string]bool{}
	for _, f := range files(t) {
		for _, s := range f.Scenarios {
			for _, r := range s.Rules {
				if told[r] == nil {
					told[r] = map[string]bool{}
				}
				told[r][s.Case] = true
			}
		}
	}
	var names []string
	for _, k := range rules.Kinds() {
		names = append(names, k.Name)
		for i, c := range scenario.Cases() {
			story := stories[k.Name][i]
			body, is := bodies[story]
			switch {
			case story == "" && !told[k.Name][c]:
				t.Errorf("%s has neither a scenario nor a story for the case %q", k.Name, c)
			case story != "" && !is:
				t.Errorf("%s: there is no test %s in alerts/rules", k.Name, story)
			case story != "" && !tells[c].MatchString(body):
				t.Errorf("%s: %s does not tell the case %q", k.Name, story, c)
			}
		}
	}
	for name := range stories {
		if !slices.Contains(names, name) {
			t.Errorf("there is no rule %s", name)
		}
	}
}

// storyBodies are the tests of the package of rules, by name.
func storyBodies(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "rules", "*_test.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no tests of the rules: %v", err)
	}
	out := map[string]string{}
	for _, p := range paths {
		src, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, p, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Test") {
				out[fn.Name.Name] = string(src[set.Position(fn.Pos()).Offset:set.Position(fn.End()).Offset])
			}
		}
	}
	return out
}
