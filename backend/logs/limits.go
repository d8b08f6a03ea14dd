package logs

import "time"

// Every bound and pace of this package. Sizes are bytes.
const (
	maxLine       = 1 << 20   // kept of one line; the rest is counted and not searched
	maxHistory    = 32 << 20  // read backwards in one file for the lookback
	maxUndated    = 4 << 20   // read backwards in a file whose lines carry no time
	maxBookmarks  = 100       // files whose sizes are kept for the next process
	sizesKept     = 15        // sizes of one file in a lookback
	readBlock     = 256 << 10 // one read
	maxPerPoll    = 64 << 20  // read from files in one poll; what is left waits for the next
	maxFiles      = 512       // tailed at a time, newest first
	maxSeries     = 5000      // distinct series; more are folded into the series without a session
	maxRollupKeys = 5000      // keys whose suppressedCount is followed
	maxOwed       = 4096      // counts held back while the meaning of suppressedCount is undecided
	maxSuppressed = 1e7       // of one rollup; more is no count
	maxEvents     = 20        // events of one poll
	maxRejections = 2000      // rows of rejected commands
	maxProblems   = 20        // problems of one poll, the rest is summed up
	maxSample     = 4 << 10   // raw bytes kept of the line behind a count
	sampleRunes   = 300       // of them drawn
	queueBytes    = 16 << 20  // lines of a stream waiting for the next poll; above it they are searched, not decoded
	queueOverhead = 64        // bookkeeping of one waiting line
	headBytes     = 1 << 10   // of a file, to recognise it again
	tailBytes     = 256       // before the read position, to recognise a copy
	maxContinued  = 1000      // lines without the usual beginning of their log, until they are lines of their own
	maxTags       = 50        // programs in one system log
	maxStopped    = 1000      // sessions of which it is known in which file they write
	stderrBytes   = 2 << 10   // kept of a command's complaints
	maxFieldBytes = 512       // of a session or workspace name in a line

	bucket       = 5 * time.Second  // counts of one poll are summed over at most this
	forgetSeries = time.Hour        // a series silent for longer is no longer reported as 0
	forgetRollup = 10 * time.Minute // a rollup key silent for longer starts anew
	skew         = 2 * time.Minute  // how far ahead of our clock a line may be and still be believed
	pastSkew     = 30 * time.Minute // how far ahead a line of the past may be and still be counted, when it was read; beyond it the zone is wrong
	commandPast  = 30 * time.Second // after its start a command may still print the past
	firstWait    = 2 * time.Second  // the first poll waits this long for a stream's first lines
	retryFirst   = time.Second      // pause before a stream is opened again; doubles, with jitter
	retryMax     = 60 * time.Second
	undatedSpan  = 5 * time.Minute // between two looks: lines without a time in between are counted at the first
	stoppedFor   = 24 * time.Hour  // how long it is told that the file of a session stopped growing
	quietPolls   = 2               // a rotated file is closed after this many polls without growth
)
