package views

// Look is how a screen shows its rows: what a named view keeps. The zero Look is how a screen begins.
type Look struct {
	Filter string `json:"filter,omitempty"`
	// Sort is the name of a column, with "-" before it for the other way round than the column's own; "none" is the natural order,
	// "-none" that turned round; empty: the screen's own order.
	Sort string `json:"sort,omitempty"`
	// Columns are names of columns that are shown at every width, and with "-" before them of columns that are not shown.
	Columns []string `json:"columns,omitempty"`
	// Group is what rows are grouped by: compose, label:NAME, or the name of a column; empty: they are not.
	Group string `json:"group,omitempty"`
	// Wide gives the whole screen to the table, with every column there is room for.
	Wide bool `json:"wide,omitempty"`
}
