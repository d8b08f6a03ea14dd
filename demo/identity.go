package demo

import (
	"fmt"
	"strconv"
)

const (
	idBits  = 48
	idMask  = 1<<idBits - 1
	idOdd   = 0x5deece66d
	idShift = idBits / 2

	slotBits = 20 // at most a million sessions at once
	slotMask = 1<<slotBits - 1
)

// naming gives every run in every slot an id that looks random and can be read
// back, so that no table of ids is needed however long a demo runs.
type naming struct {
	mask    uint64
	inverse uint64
}

func newNaming(d seededHash) naming {
	// Newton's iteration doubles the number of right bits each time.
	inv := uint64(idOdd)
	for range 6 {
		inv *= 2 - idOdd*inv
	}
	return naming{mask: scramble(uint64(d)) & idMask, inverse: inv}
}

func (n naming) id(slot int, cycle int64) string {
	x := (uint64(cycle)<<slotBits | uint64(slot)) & idMask
	x = x * idOdd & idMask
	x ^= x >> idShift
	x = x * idOdd & idMask
	return fmt.Sprintf("s-%012x", x^n.mask)
}

// parse returns the slot and the cycle an id was made from.
func (n naming) parse(id string) (slot int, cycle int64, ok bool) {
	if len(id) != 14 || id[:2] != "s-" {
		return 0, 0, false
	}
	x, err := strconv.ParseUint(id[2:], 16, 64)
	if err != nil {
		return 0, 0, false
	}
	x ^= n.mask
	x = x * n.inverse & idMask
	x ^= x >> idShift
	x = x * n.inverse & idMask
	slot, cycle = int(x&slotMask), int64(x>>slotBits)
	return slot, cycle, n.id(slot, cycle) == id
}
