// Package audit keeps the journal of what people did through Sandglass: audit.jsonl in the state directory, one JSON
// record a line, each carrying the hash of the line stored before it and a hash of itself.
//
// What the chain shows: a changed byte, a line that was removed, inserted, doubled or moved, and where. What it cannot
// show: a tail that was cut off cleanly, and a file rewritten as a whole by someone who may write it. Both need the
// head (Receipt, Report.Head) kept in another place: it goes to the system's log after each synced record, where there
// is one (Sockets), and Journal.Verify compares.
//
// Any process that may write the file may append: each record takes an exclusive lock and reads the head again under
// it, so the chain never forks. A record is one write of one line. A line that a crash left incomplete stays where it
// is; the next record begins on a line of its own and names the incomplete one by length and hash.
//
// A full disk does not stop it: a reserve beside the journal is given up for its records. Announcements of effects may
// use half of it, so that there is room for their outcomes; without that room nothing is announced and nothing done.
//
// Nothing secret and nothing that acts on a terminal is stored: texts and ids are masked, and a stored line consists of
// printable ASCII only, everything else being JSON escapes.
package audit
