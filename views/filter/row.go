package filter

// Row is what a filter looks at: one row of any table.
type Row interface {
	// Field returns the text of the named column, as it is shown, and whether the row has such a column.
	Field(name string) (string, bool)
	// Text is what a bare word is searched in: names, states, causes; no numbers that change by themselves.
	Text() string
}

// Measured is a Row whose fields can be compared as numbers: ages in seconds, sizes in bytes, counts. known is false
// when the row has no such column, or when its value is unknown or is no number.
type Measured interface {
	Measure(name string) (value float64, known bool)
}
