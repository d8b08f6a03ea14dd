package cause

import "bytes"

// once leaves the repetitions at the end of words out: an error that names each attempt grows with every one. last is the last word; cut says
// that the words may end inside a repetition.
func once(words []byte, last span, cut bool) []byte {
	if last.from < 2 || !bytes.Contains(words[:last.from-1], words[last.from:last.to]) {
		return words
	}
	list := bytes.Fields(words)
	n := len(list)
	for period := 1; period < n; period++ {
		same := 0
		for i := n - 1; i >= period && bytes.Equal(list[i], list[i-period]); i-- {
			same++
		}
		if same >= period || cut && same >= leastRepeated && n-same >= period {
			to := -1
			for _, w := range list[:n-same] {
				to += 1 + len(w)
			}
			return words[:to]
		}
	}
	return words
}

// leastRepeated is how many words must repeat where the repetition may be cut.
const leastRepeated = 4
