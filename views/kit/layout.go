package kit

// Column is a column as far as its place on the screen goes.
type Column struct {
	Title, Brief     string
	Right            bool
	Min, Ideal, Flex int
	Priority         int // the highest is dropped first; 0 never
	Hidden           bool
	Whole            bool // less than its ideal width is of no more use than its smallest one
}

// Slot is a column's place.
type Slot struct {
	Column, X, Width int
}

// columnGap is the number of cells between columns.
const columnGap = 2

// optional is the priority from which a column is dropped rather than keep the most important (priority 0) and the
// flexible ones from their ideal widths.
const optional = 5

// LayOut gives columns their places in width cells, from x on: columns are dropped, the highest priority first, until
// the smallest widths fit, and optional ones until the important columns have their ideal widths; then all grow
// to their ideal widths, the most important first; what is left goes to the flexible ones.
func LayOut(columns []Column, x, width int) []Slot {
	var slots []Slot
	for i, c := range columns {
		if !c.Hidden {
			slots = append(slots, Slot{Column: i, Width: c.Min})
		}
	}
	for len(slots) > 1 {
		worst, wish := -1, 0
		for i, s := range slots {
			c := &columns[s.Column]
			if c.Priority == 0 || c.Flex > 0 {
				wish += c.Ideal - c.Min
			}
			if c.Priority > 0 && (worst < 0 || c.Priority >= columns[slots[worst].Column].Priority) {
				worst = i
			}
		}
		if worst < 0 || totalWidth(slots) <= width && (columns[slots[worst].Column].Priority < optional || totalWidth(slots)+wish <= width) {
			break
		}
		slots = append(slots[:worst], slots[worst+1:]...)
	}
	grow(columns, slots, width-totalWidth(slots))
	for i := range slots {
		slots[i].X = x
		x += slots[i].Width + columnGap
	}
	return slots
}

func totalWidth(slots []Slot) int {
	n := columnGap * max(0, len(slots)-1)
	for _, s := range slots {
		n += s.Width
	}
	return n
}

func grow(columns []Column, slots []Slot, room int) {
	for priority := 0; priority <= 9 && room > 0; priority++ {
		for _, flexible := range []bool{true, false} {
			for i := range slots {
				if c := columns[slots[i].Column]; c.Priority == priority && (c.Flex > 0) == flexible {
					more := min(c.Ideal-slots[i].Width, room)
					if c.Whole && more < c.Ideal-slots[i].Width {
						continue
					}
					slots[i].Width += more
					room -= more
				}
			}
		}
	}
	total := 0
	for _, s := range slots {
		total += columns[s.Column].Flex
	}
	left := room
	for i := range slots {
		if f := columns[slots[i].Column].Flex; f > 0 && total > 0 {
			more := min(room*f/total, left)
			slots[i].Width += more
			left -= more
		}
	}
	if len(slots) > 0 && total > 0 && left > 0 {
		for i := range slots {
			if columns[slots[i].Column].Flex > 0 {
				slots[i].Width += left
				return
			}
		}
	}
}
