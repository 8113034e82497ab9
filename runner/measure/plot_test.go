package measure_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/runner/measure"
	"github.com/hexmage/hexmage/runner/sample"
)

// seriesFile writes the samples of a stream, and returns the file.
func seriesFile(t *testing.T, stream string) string {
	t.Helper()
	var p sample.Parser
	if _, err := p.Write([]byte(stream)); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.Series().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), "samples.json")
	if err := os.WriteFile(at, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return at
}

// drawn reads an SVG file: its polylines by the title of the panel above them, and all of its text. It fails if the
// file is no XML.
func drawn(t *testing.T, file string) (points []string, text string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return points, text
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, b)
		}
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				if token.Name.Local == "polyline" && a.Name.Local == "points" {
					points = append(points, a.Value)
				}
			}
		case xml.CharData:
			text += string(token) + "\n"
		}
	}
}

func TestPlot(t *testing.T) {
	const stream = "hexmage-samples 1\ncolumn rss kB\ncolumn temperature0 mC cpu\ncolumn temperature1 mC off\nbegin\n1000000000 1000 40000 -274000\n2000000000 3000 55000 -274000\n3000000000 2000 - -274000\n"
	stdout := filepath.Join(t.TempDir(), "stdout.txt")
	if err := os.WriteFile(stdout, []byte("Prefill time: 1000 μs\nPrefill tokens: 100\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(title string, runs int, stream string) (points []string, text string) {
		dir := t.TempDir()
		spec := measure.Spec{Title: title, Profile: "device", Out: filepath.Join(dir, "m.json"), Plot: filepath.Join(dir, "p.svg")}
		for i := range runs {
			r := measure.Run{Repetition: i + 1, Stdout: stdout}
			if stream != "" {
				r.Samples = seriesFile(t, stream)
			}
			spec.Runs = append(spec.Runs, r)
		}
		if code, said := metrics(t, "", spec); code != 0 {
			t.Fatal(said)
		}
		return drawn(t, spec.Plot)
	}
	wants := func(text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("no %q in\n%s", w, text)
			}
		}
	}

	// Temperature: 40 °C below, 55 °C above, the third row not read, the sensor that is off not drawn. Memory: 1.0 MB
	// below, 3.1 MB above.
	points, text := run("a <b> & c", 1, stream)
	if want := []string{"64.0,206.0 404.0,56.0", "64.0,402.0 404.0,252.0 744.0,327.0"}; fmt.Sprint(points) != fmt.Sprint(want) {
		t.Errorf("lines\n%q\nwant\n%q", points, want)
	}
	wants(text, "a <b> & c   profile: device", "hottest sensor, °C", "40\n", "47.50", "55\n", "RSS", "1.02", "3.07", "2 s")
	if strings.Contains(text, "has left") {
		t.Errorf("a panel for what was not sampled:\n%s", text)
	}

	points, text = run("many", 70, stream)
	if len(points) != 2*64 {
		t.Errorf("%d lines for 70 runs, want 64 in each panel", len(points))
	}
	wants(text, "Each line is one of the first 64 runs.")

	// Of long runs fewer points are drawn: the run log keeps no picture of more than 256 kB.
	long := "hexmage-samples 1\ncolumn rss kB\ncolumn temperature0 mC cpu\ncolumn mem_available kB\nbegin\n"
	for i := range 3000 {
		long += fmt.Sprintf("%d %d %d %d\n", (i+1)*100_000_000, 1000+i%700, 40000+i%9000, 9000000-i)
	}
	points, text = run("long", 70, long)
	if n := len(strings.Join(points, "")); len(points) != 3*64 || n > 200_000 || len(strings.Fields(points[0])) < 40 {
		t.Errorf("%d lines, of %d bytes, the first of %d points", len(points), n, len(strings.Fields(points[0])))
	}
	wants(text, "has left")
	if points, _ = run("one", 1, long); len(strings.Fields(points[0])) < 300 {
		t.Errorf("of one run %d points", len(strings.Fields(points[0])))
	}

	points, text = run("none", 1, "")
	if len(points) > 0 {
		t.Errorf("lines of nothing: %q", points)
	}
	wants(text, "No run sampled temperature or memory.")

	// A temperature that does not change is a level line, in the middle.
	points, _ = run("level", 1, "hexmage-samples 1\ncolumn temperature0 mC cpu\nbegin\n1000000000 40000\n2000000000 40000\n")
	if len(points) != 1 || points[0] != "64.0,131.0 744.0,131.0" {
		t.Errorf("level: %q", points)
	}
}
