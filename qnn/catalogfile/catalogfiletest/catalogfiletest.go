// Package catalogfiletest makes catalogs for tests.
package catalogfiletest

import (
	"encoding/asn1"
	"encoding/hex"
	"testing"
	"time"

	"github.com/hexmage/hexmage/qnn/catalogfile"
)

// Make returns a catalog of such files, made on 2026-09-30: an entry for each, of the digest that it has.
func Make(t testing.TB, files ...catalogfile.Member) []byte {
	t.Helper()
	type attribute struct {
		Type   asn1.ObjectIdentifier
		Values []asn1.RawValue `asn1:"set"`
	}
	type member struct {
		ID         []byte
		Attributes []attribute `asn1:"set"`
	}
	bytesOf := func(v any) []byte {
		b, err := asn1.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	file := func(id []byte, name string) member {
		var value []byte
		for _, r := range name + "\x00" {
			value = append(value, byte(r), 0)
		}
		pair := bytesOf(struct {
			Name  asn1.RawValue
			Flags int
			Value []byte
		}{asn1.RawValue{Tag: 30, Bytes: []byte("\x00F\x00i\x00l\x00e")}, 0x10010001, value})
		return member{id, []attribute{{asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 12, 2, 1}, []asn1.RawValue{{FullBytes: pair}}}}}
	}
	var members []member
	for _, m := range files {
		id, err := hex.DecodeString(m.SHA1 + m.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, file(id, m.Name))
	}
	list := bytesOf(struct {
		Usage    []asn1.ObjectIdentifier
		ID       []byte
		Made     time.Time `asn1:"utc"`
		Function []asn1.ObjectIdentifier
		Members  []member
	}{[]asn1.ObjectIdentifier{{1, 2, 3}}, make([]byte, 16), time.Date(2026, 9, 30, 3, 2, 22, 0, time.UTC), []asn1.ObjectIdentifier{{1, 2, 4}},
		members})
	within := func(b []byte) asn1.RawValue {
		return asn1.RawValue{Class: asn1.ClassContextSpecific, IsCompound: true, Bytes: b}
	}
	type content struct {
		Type    asn1.ObjectIdentifier
		Content asn1.RawValue
	}
	signed := bytesOf(struct {
		Version   int
		Digests   []int `asn1:"set"`
		Content   content
		Signature []byte
	}{1, nil, content{asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 10, 1}, within(list)}, make([]byte, 300)})
	return bytesOf(content{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}, within(signed)})
}
