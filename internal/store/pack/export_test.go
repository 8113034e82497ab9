package pack

import "bytes"

// EncodeIndex returns an index of what is in the pack.
func EncodeIndex(pack []byte, all []Record) []byte {
	h, err := readHead(bytes.NewReader(pack))
	if err != nil {
		panic(err)
	}
	places := map[uint64]int64{}
	for _, r := range all {
		places[hashOf(r.Key)] = r.At
	}
	return encodeIndex(h.id, int64(len(pack)), places)
}

// Head returns the bytes of an empty pack whose records begin with mark.
func Head(mark []byte) []byte { return newHead(head{mark: [markSize]byte(mark)}).encode() }
