// Package catalogfile reads catalogs (.cat): lists of files with digests that their maker has signed for Windows. The way in is Read.
// It does not check signatures, and does not know the files that they speak of.
package catalogfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
)

// Catalog is what such a file says.
type Catalog struct {
	Made    time.Time `json:"made"`
	Members []Member  `json:"members"`
}

// Member is a file that a catalog speaks for. Most have an entry for each digest function.
type Member struct {
	Name   string `json:"name,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	SHA1   string `json:"sha1,omitempty"`
}

const (
	maxCatalog = 4 << 20
	maxSigned  = 4096
)

// ErrOther is what signed data of another kind is refused with, wrapped.
var ErrOther = errors.New("signed data that is no catalog")

// Is tells whether a file begins as one of PKCS #7 does, whose length is in two bytes.
func Is(head []byte) bool {
	return len(head) > 15 && head[0] == 0x30 && head[1] == 0x82 && bytes.Equal(head[4:15], []byte{6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 2})
}

// Read reads a list of trusted subjects within signed data.
func Read(r io.ReaderAt, size int64) (*Catalog, error) {
	if size > maxCatalog {
		return nil, fmt.Errorf("a catalog of %d bytes; those that are known have some thousand", size)
	}
	b := make([]byte, size)
	if _, err := r.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var outer struct {
		Type    asn1.ObjectIdentifier
		Content struct {
			Version int
			Digests asn1.RawValue
			Signed  struct {
				Type    asn1.ObjectIdentifier
				Content asn1.RawValue `asn1:"explicit,tag:0"`
			}
			Rest asn1.RawValue `asn1:"optional"`
		} `asn1:"explicit,tag:0"`
	}
	if _, err := asn1.Unmarshal(b, &outer); err != nil {
		return nil, fmt.Errorf("it begins as signed data and is damaged: %w", err)
	}
	if !outer.Content.Signed.Type.Equal(asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 10, 1}) {
		return nil, ErrOther
	}
	var list struct {
		Usage    asn1.RawValue
		ID       []byte
		Made     time.Time `asn1:"utc"`
		Function asn1.RawValue
		Members  []struct {
			ID         []byte
			Attributes []struct {
				Type   asn1.ObjectIdentifier
				Values []asn1.RawValue `asn1:"set"`
			} `asn1:"set"`
		}
		Rest asn1.RawValue `asn1:"optional,tag:0"`
	}
	if _, err := asn1.Unmarshal(outer.Content.Signed.Content.Bytes, &list); err != nil {
		return nil, fmt.Errorf("a catalog whose list is damaged: %w", err)
	}
	if len(list.Members) > maxSigned {
		return nil, fmt.Errorf("a catalog of %d files; at most %d make sense", len(list.Members), maxSigned)
	}
	c := &Catalog{Made: list.Made.UTC(), Members: []Member{}}
	for _, m := range list.Members {
		x := Member{}
		if len(m.ID) == sha256.Size {
			x.SHA256 = hex.EncodeToString(m.ID)
		} else {
			x.SHA1 = hex.EncodeToString(m.ID)
		}
		for _, a := range m.Attributes {
			for _, v := range a.Values {
				if name, ok := fileAttribute(v); ok {
					x.Name = name
				}
			}
		}
		c.add(x)
	}
	slices.SortStableFunc(c.Members, func(a, b Member) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	return c, nil
}

// add adds an entry. A member whose file has an entry with another digest gets that.
func (c *Catalog) add(x Member) {
	for i := range c.Members {
		if m := &c.Members[i]; x.Name != "" && m.Name == x.Name && (m.SHA1 == "" && x.SHA256 == "" || m.SHA256 == "" && x.SHA1 == "") {
			m.SHA1, m.SHA256 = m.SHA1+x.SHA1, m.SHA256+x.SHA256
			return
		}
	}
	c.Members = append(c.Members, x)
}

// fileAttribute is the value of the pair called File: the name of the file.
func fileAttribute(v asn1.RawValue) (string, bool) {
	var pair struct {
		Name  asn1.RawValue
		Flags int
		Value []byte
	}
	if _, err := asn1.Unmarshal(v.FullBytes, &pair); err != nil || len(pair.Value) > maxCatalog {
		return "", false
	}
	if utf16Text(pair.Name.Bytes, binary.BigEndian) != "File" {
		return "", false
	}
	return strings.ToValidUTF8(utf16Text(pair.Value, binary.LittleEndian), "\ufffd"), true
}

func utf16Text(b []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	if i := slices.Index(units, 0); i >= 0 {
		units = units[:i]
	}
	return string(utf16.Decode(units))
}
