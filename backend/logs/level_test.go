package logs

import (
	"testing"

	"sandglass/backend"
)

// TestLevelsOfCommonLoggers: as loggers write them, in colours and without.
func TestLevelsOfCommonLoggers(t *testing.T) {
	const green, off = "\x1b[32m", "\x1b[39m"
	for want, heads := range map[logLevel][]string{
		levelTrace: {"TRACE app: ", "[trace] ", "trce: Category[0] ", "2026-01-01T12:00:00Z TRC ", "SILLY ", "[T] ", "TRAC[0000] "},
		levelDebug: {"2026-01-01T12:00:00Z " + green + "DEBUG" + off + " ", "[Nest] 1  - 01/01/2026, 8:50:04 PM VERBOSE [Agent] ", "[Nest] 1  - 01/01/2026, 8:50:04 PM   DEBUG [Agent] ",
			"verbose: ", "dbug: Category[0] ", "2026-01-01T12:00:00Z DBG ", "[D] ", "D/Agent(12): ", "01-01 12:00:00.000  12  34 D Agent: ", "[D 12:00:00.123 App] ",
			"[http] ", "FINE: ", "CONFIG: ", "<7>node: ", "DEBU[0012] ", "DEBUG:root:"},
		levelInfo: {green + "info" + off + ": ", "[12:00:00.123] " + green + "INFO" + off + " (1): \x1b[36m", "2026-01-01T12:00:00Z [\x1b[1;34mINFO\x1b[0m] ",
			green + "[Nest] 1  - " + off + "01/01/2026, 8:50:04 PM " + green + "    LOG" + off + " \x1b[38;5;3m[Agent] " + off + green,
			"[Nest] 1  - 01/01/2026, 8:50:04 PM     LOG [Agent] ", "ℹ ", "✔ ", "◐ ", "[12:00:00 PM] [log] ", " INFO  ", "[I] ", "I/Agent(12): ", "01-01 12:00:00.000  12  34 I Agent: ",
			"[I 2026-01-01 12:00:00,123 app:1] ", "I0101 12:00:00.000000 1 main.go:3] ", "2026-01-01T12:00:00Z INF ", "INFO[0000] ", "2026-01-01 12:00:00.123 | INFO     | app:run:1 - ",
			"2026-01-01 12:00:00.123 | SUCCESS  | app:run:1 - ", "NOTICE: ", "[notice] ", "2026-01-01T12:00:00Z 0 [Note] [MY-1] [Server] ", "<6>node: ", "<14>node: ", "info ",
			"2026-01-01T12:00:00Z info agent ", "2026-01-01 12:00:00.123 UTC [12] LOG:  ", "2026-01-01 12:00:00 UTC INFO ", "[Thu Jan 01 12:00:00.000 2026] [core:info] [pid 1] ",
			"I, [2026-01-01T12:00:00.000 #1]  INFO -- : ", "app.INFO: ", "INFO:root:", "2026-01-01 12:00:00,123 - root - INFO - ", "#033[32minfo#033[39m: ", `\u001b[32minfo\u001b[39m: `, "^[[32minfo^[[39m: "},
		levelWarn:  {"WARN ", "[W] ", "warning: ", "⚠ ", "WRN ", "<4>node: ", "W0101 12:00:00.000000 1 main.go:3] "},
		levelError: {"\x1b[31mERROR" + off + " ", "[E] ", "E/Agent(12): ", "fail: Category[0] ", "ERRO[0000] ", "✖ ", "ERR ", "<3>node: ", "[Nest] 1  - 01/01/2026, 8:50:04 PM   ERROR [Agent] "},
		levelFatal: {"FATAL ", "FTL ", "crit: ", "FATA[0000] ", "<1>node: "},
		levelNone:  {"", "agent-1  | ", "2026-01-01T12:00:00Z stderr F ", "GET http://x ", "http: ", "2026-01-01T12:00:00Z GET https://x ", "wrote the log: ", "it works fine: ", "pid 12 ", "[agent] ", "a note: "},
	} {
		for _, head := range heads {
			line := uncoloured([]byte(head + "x happened"))
			if got := levelIn(line, len(line)-len("x happened")); got != want {
				t.Errorf("%q has level %d, want %d", head, got, want)
			}
		}
	}
	for want, values := range map[logLevel][]string{
		levelTrace: {"trace", "10", "T"}, levelDebug: {"debug", "20", "verbose", "http", "D", "7"}, levelInfo: {"info", "30", "log", "notice", "Information", "I", "6", "5", "success"},
		levelWarn: {"40", "W", "4"}, levelError: {"50", "E", "3"}, levelFatal: {"60", "F", "0", "2"}, levelNone: {"", "weird", "default"},
	} {
		for _, v := range values {
			if got := levelOf([]byte(v)); got != want {
				t.Errorf("the value %q is level %d, want %d", v, got, want)
			}
		}
	}
}

// TestColouredLinesKeepTheirLevel: also where the colours stand in JSON, in Docker's form of it, and in the level's own field.
func TestColouredLinesKeepTheirLevel(t *testing.T) {
	for line, want := range map[string]float64{
		`{"level":"\u001b[32minfo\u001b[39m","message":"` + heapText + `"}`:                                     0,
		`{"level":"\u001b[31merror\u001b[39m","message":"` + heapText + `"}`:                                    1,
		`{"log":"\u001b[32minfo\u001b[39m: ` + heapText + `\n","stream":"stdout"}`:                              0,
		`{"log":"{\"level\":\"\\u001b[32minfo\\u001b[39m\",\"msg\":\"` + heapText + `\"}\n","stream":"stdout"}`: 0,
		`{"log":"\u001b[31merror\u001b[39m: ` + heapText + `\n","stream":"stderr"}`:                             1,
		`{"message":"[Nest] 1  - 01/01/2026, 8:50:04 PM     LOG [Agent] ` + heapText + `","stream":"stdout"}`:   0,
		"agent-1  | \x1b[32minfo\x1b[39m: " + heapText:                                                          0,
		"2026-01-01T12:00:00.5Z stdout F \x1b[32minfo\x1b[39m: " + heapText:                                     0,
		"\x1b[90m2026-01-01T12:00:00Z\x1b[39m \x1b[32mINFO\x1b[39m " + heapText:                                 0,
	} {
		if got, said := evidenceOf(t, backend.MetricAgentOOM, nil, line); got != want || said != 0 {
			t.Errorf("%q\n  counted %v and said %v, want %v", line, got, said, want)
		}
	}
}
