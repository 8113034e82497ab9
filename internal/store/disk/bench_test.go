package disk_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store/storetest"
)

func BenchmarkPut(b *testing.B) {
	for _, size := range []int{1 << 10, 100 << 10, 16 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s := open(b, b.TempDir())
			content := storetest.Bytes(1, size)
			b.SetBytes(int64(size))
			for i := 0; b.Loop(); i++ {
				content[i%size]++
				if err := s.Put(b.Context(), digest.BLAKE3.Bytes(content), bytes.NewReader(content)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPutParallel(b *testing.B) {
	s := open(b, b.TempDir())
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		content := storetest.Bytes(int64(os.Getpid()), 10<<10)
		for pb.Next() {
			copy(content, storetest.Bytes(int64(b.N)+int64(len(content)), 8))
			content = append(content[1:], content[0]+1)
			if err := s.Put(b.Context(), digest.BLAKE3.Bytes(content), bytes.NewReader(content)); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkAdopt(b *testing.B) {
	root := b.TempDir()
	s := open(b, filepath.Join(root, "store"))
	content := storetest.Bytes(1, 100<<10)
	b.SetBytes(int64(len(content)))
	for i := 0; b.Loop(); i++ {
		content[i%len(content)]++
		path := filepath.Join(root, strconv.Itoa(i))
		if err := os.WriteFile(path, content, 0o644); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Adopt(b.Context(), digest.BLAKE3, path); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLink(b *testing.B) {
	for _, executable := range []bool{false, true} {
		b.Run(fmt.Sprintf("executable=%v", executable), func(b *testing.B) {
			root := b.TempDir()
			s := open(b, filepath.Join(root, "store"))
			content := storetest.Bytes(1, 100<<10)
			d := digest.BLAKE3.Bytes(content)
			if err := s.Put(b.Context(), d, bytes.NewReader(content)); err != nil {
				b.Fatal(err)
			}
			for i := 0; b.Loop(); i++ {
				if err := s.Link(b.Context(), d, filepath.Join(root, strconv.Itoa(i)), executable); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMissing(b *testing.B) {
	s := open(b, b.TempDir())
	content := storetest.Bytes(1, 100)
	d := digest.BLAKE3.Bytes(content)
	if err := s.Put(b.Context(), d, bytes.NewReader(content)); err != nil {
		b.Fatal(err)
	}
	ds := make([]digest.Digest, 1000)
	for i := range ds {
		ds[i] = d
	}
	for b.Loop() {
		if m, err := s.Missing(b.Context(), ds); err != nil || len(m) != 0 {
			b.Fatal(m, err)
		}
	}
}
