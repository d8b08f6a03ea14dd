package keys

// logBindings are the keys of a log view. Their commands are offered in the palette over a log view, and only there.
func logBindings() []Binding {
	return []Binding{
		bind(LogLines, []string{"/"}, Intent{Action: Filter}, "filter", "show only lines with these words (!WORD: without it; ~ and a regular expression), and mark them", "filter lines"),
		bind(LogLines, []string{"G", "end", "F"}, Intent{Action: Bottom}, "follow", "go to the newest line and follow", "follow"),
		bind(LogLines, []string{"p"}, Intent{Action: FollowLog}, "", "stop following, or go on", "pause"),
		bind(LogLines, []string{"e"}, Intent{Action: NextError}, "next error", "the next line with an error", "next error"),
		bind(LogLines, []string{"E"}, Intent{Action: PrevError}, "", "the line with an error before", "previous error"),
		bind(LogLines, []string{"enter", "right"}, Intent{Action: Enter}, "unfold", "give the fields of a JSON line rows of their own, show a long line whole; again: fold it", "unfold"),
		bind(LogLines, []string{"n"}, Intent{Action: NextMatch}, "", "the next line that matches", "next match"),
		bind(LogLines, []string{"N"}, Intent{Action: PrevMatch}, "", "the line that matches before", "previous match"),
		bind(LogLines, []string{"h"}, Intent{Action: AllLines}, "", "show all lines and mark those that match, or only these", "all lines"),
		bind(LogLines, []string{"w"}, Intent{Action: WrapLines}, "wrap", "break long lines, or cut them", "wrap"),
		bind(LogLines, []string{"t"}, Intent{Action: LogTimes}, "", "times as the log's source tells them (UTC), or none", "times"),
		bind(LogLines, []string{"T"}, Intent{Action: LocalTimes}, "", "times of this machine's zone, or UTC again", "local times"),
		bind(LogLines, []string{"J"}, Intent{Action: RawLines}, "", "JSON lines as they are written, or as a sentence", "raw lines"),
		bind(LogLines, []string{"y"}, Intent{Action: Copy}, "", "copy the line (OSC 52), masked as it is drawn", "copy line"),
		bind(LogLines, []string{"s"}, Intent{Action: SaveLog}, "save", "save the lines that are shown into a file that only you can read", "save lines"),
		bind(LogLines, []string{"o"}, Intent{Action: PageLog}, "", "open the lines that are shown in $PAGER", "pager"),
		bind(LogLines, []string{"up", "k"}, Intent{Action: Up}, "", "one line up; stops following", ""),
		bind(LogLines, []string{"down", "j"}, Intent{Action: Down}, "", "one line down", ""),
		bind(LogLines, []string{"pgup", "ctrl+b", "b"}, Intent{Action: PageUp}, "", "one page up", ""),
		bind(LogLines, []string{"pgdown", "ctrl+f", "space"}, Intent{Action: PageDown}, "", "one page down", ""),
		bind(LogLines, []string{"g", "home"}, Intent{Action: Top}, "", "the oldest line that is kept", "oldest line"),
		bind(LogLines, []string{"esc", "left", "backspace"}, Intent{Action: Back}, "back", "end the filter, then back to where it was opened", ""),
	}
}
