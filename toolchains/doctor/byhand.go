package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/bytesize"
	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/sources/qpm"
)

// State says where people are with what they do by hand.
type State string

// The states. One step is Next: the first that is not done.
const (
	Done  State = "done"
	Next  State = "next"
	Later State = "later"
)

// Step is one of the things that people have to do themselves for the profile of a phone, in the order in which they are done.
type Step struct {
	Name    string `json:"name"`
	State   State  `json:"state"`
	What    string `json:"what"`              // what was found
	Do      string `json:"do,omitempty"`      // what to do, where it is not done
	Command string `json:"command,omitempty"` // the command of that, where it is one
}

// NoPhone begins what a pipeline lacks that would run something on a phone.
const NoPhone = "No phone is attached"

const (
	profileDevice = "device"
	sdkRoom       = 6 << 30 // bytes: an archive of up to 3 GB and what is in it
	pairsFrom     = "30"    // the first release of adb that can pair
	platformTools = "https://developer.android.com/tools/releases/platform-tools"
	register      = "https://www.qualcomm.com/support/working-with-qualcomm"
)

// ByHand says what people do by hand before the pipelines of the profile device run, and how far they are. Each step is found out by looking: nothing is
// noted anywhere, so that whoever did something, and wherever, asking again goes on after it. Where an SDK comes through a client of the vendor only, that
// client is asked what it offers.
func ByHand(ctx context.Context, o Options) []Step {
	if o.Stored == nil {
		o.Stored = func(string, string, string) (string, bool) { return "", false }
	}
	w := &walk{examination: &examination{o: o, p: o.Probes}, asked: map[string]bool{}}
	w.system()
	asked := w.sdks()
	w.room(asked)
	for _, q := range asked {
		w.sdk(ctx, q)
	}
	w.lacks()
	w.adb(ctx)
	w.phone(ctx)
	if i := slices.IndexFunc(w.steps, func(s Step) bool { return s.State != Done }); i >= 0 {
		w.steps[i].State = Next
	}
	return w.steps
}

// walk is the way through the steps.
type walk struct {
	*examination
	steps []Step
	asked map[string]bool // clients of the vendor's
}

func (w *walk) done(name, format string, args ...any) {
	w.steps = append(w.steps, Step{Name: name, State: Done, What: fmt.Sprintf(format, args...)})
}

func (w *walk) todo(name, what, do string) {
	w.steps = append(w.steps, Step{Name: name, State: Later, What: what, Do: do, Command: Quoted(do)})
}

// wsl returns which Windows Subsystem for Linux this is, 1 or 2, and 0 where it is none. The kernel of the first says "-Microsoft", Microsoft's own of the
// second "-microsoft-standard".
func (e *examination) wsl() int {
	switch text := e.read("proc/version"); {
	case strings.Contains(text, "-Microsoft"):
		return 1
	case strings.Contains(strings.ToLower(text), "microsoft"):
		return 2
	}
	return 0
}

func (w *walk) system() {
	name := w.osName()
	switch {
	case w.p.OS != "linux" || w.p.Arch != "amd64":
		w.todo("system", name+", "+w.p.OS+"/"+w.p.Arch, "The SDKs' tools run on Linux with an x86-64 processor only: use one, on Windows WSL 2.")
	case w.wsl() == 1:
		w.todo("system", name+" in WSL 1, whose kernel lacks what actions and USB need", "In Windows run `wsl --set-version DISTRIBUTION 2`.")
	case w.wsl() == 2:
		w.done("system", "%s in WSL 2", name)
	default:
		w.done("system", "%s", name)
	}
}

// room looks whether what is still to be downloaded fits. Memory is no step: it is what it is.
func (w *walk) room(asked []toolchains.Request) {
	need := int64(wantFreeMin)
	for _, q := range asked {
		if !w.had(q) {
			need += sdkRoom
		}
	}
	what := ""
	store := w.store()
	free, _, err := w.p.Free(store)
	if err == nil {
		what = bytesize.Decimal(free) + " of disk free for " + store
	} else {
		what = "can't tell the room at " + store + ": " + err.Error()
	}
	if total, _ := w.meminfo(); total > 0 {
		what += ", " + bytesize.Decimal(total) + " of memory"
		if total < wantMemory {
			what += " (contexts of real models want 30 GB and more)"
		}
	}
	if err == nil && free < need {
		w.todo("room", what, fmt.Sprintf("%s are wanted: free some (`hexmage cache gc`), or set HEXMAGE_CACHE to a folder on a larger disk.", bytesize.Decimal(need)))
		return
	}
	w.done("room", "%s", what)
}

// sdks are the toolchains that may be installed by hand: those of the pipelines, without any those that the shipped ones take.
func (w *walk) sdks() []toolchains.Request {
	var asked []toolchains.Request
	for _, p := range w.o.Pipelines {
		if p.Profile == profileDevice {
			asked = append(asked, p.Asked...)
		}
	}
	if len(asked) == 0 {
		asked = []toolchains.Request{{Name: "qairt"}, {Name: "hexagon"}, {Name: "ndk"}}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(asked, func(q toolchains.Request) bool {
		t, r, err := w.o.Catalogue.Find(q.Name, q.Version)
		if err != nil {
			return true // planning says it
		}
		s, key := r.Source("installed"), TakeOf(t.Name, r.Version)
		again := seen[key]
		seen[key] = true
		return again || s == nil || len(s.Env) == 0 || q.Own != nil
	})
}

// had tells whether nothing is to be downloaded for a toolchain any more.
func (w *walk) had(q toolchains.Request) bool {
	ch, err := w.choose(q, false)
	return err == nil && ch.Host != "" || w.stored(q)
}

func (w *walk) choose(q toolchains.Request, locking bool) (*toolchains.Choice, error) {
	q.Profile, q.Lock, q.Machine, q.Locking = profileDevice, w.o.Lock, w.o.Machine, locking
	return w.o.Catalogue.Choose(q)
}

func (w *walk) stored(q toolchains.Request) bool {
	t, r, err := w.o.Catalogue.Find(q.Name, q.Version)
	if err != nil {
		return false
	}
	if _, ok := w.o.Stored(t.Name, r.Version, profileDevice); ok {
		return true
	}
	return slices.ContainsFunc(w.o.Pipelines, func(p Pipeline) bool { return p.Profile == profileDevice && p.Takes[TakeOf(t.Name, r.Version)].Stored })
}

// sdk says how far people are with a toolchain: it is here, hexmage may get it by itself, or an account, a licence and a client of the vendor's come before.
func (w *walk) sdk(ctx context.Context, q toolchains.Request) {
	t, r, _ := w.o.Catalogue.Find(q.Name, q.Version) // sdks found it
	name := t.Name
	ch, err := w.choose(q, false)
	switch {
	case err == nil && ch.Host != "":
		w.done(name, "%s, installed at %s", r.Version, ch.Host)
		return
	case w.stored(q):
		w.done(name, "%s, in the store", r.Version)
		return
	case err == nil && ch.Spec.Vendor == nil:
		w.done(name, "%s, pinned: the build downloads it", r.Version)
		return
	}
	what, do := r.Version+" is not here", ""
	for _, c := range t.Copies(r, w.o.Machine) {
		switch {
		case c.Err != nil:
			what += "; " + c.Err.Error()
		case c.Found.Simulated:
			what += "; " + c.Name() + " is hexmage's simulation, and no copy of the vendor's"
		default:
			what += "; " + c.Name() + " has " + c.Found.Name + " " + c.Found.Version
		}
	}
	if env := r.Source("installed").Env; len(env) > 0 {
		do = "; or set " + env[0] + " to a copy"
	}
	lock := fmt.Sprintf("`hexmage lock %s %s --profile %s`", name, r.Version, profileDevice)
	if ch, err = w.choose(q, true); err == nil && ch.Spec.Vendor == nil {
		licence := ""
		if t.Licence != "" {
			licence = " and accepts the licence of " + t.DownloadPage
		}
		w.todo(name, what, "Run "+lock+", which downloads it"+licence+do+".")
		return
	}
	source := r.Source("qsc")
	if source == nil || err == nil && ch.Source.Kind != "qsc" {
		source = r.Source("qpm")
	}
	if source == nil {
		w.todo(name, what, "Its page is "+t.DownloadPage+do+".")
		return
	}
	client := source.Kind + "-cli"
	w.client(ctx, t, client, source.Product, r.Version)
	if e := w.o.Vendor.Refused(client); e != nil {
		what += "; the client's last call was refused: " + strings.Join(e.LogSaid[max(0, len(e.LogSaid)-1):], "") + " (" + e.Log + ")"
	}
	w.todo(name, what, "Run "+lock+", which accepts the licence of "+source.Product+" and gets it with "+client+do+".")
}

// client says how far people are with an account of the vendor's and the client that knows it.
func (w *walk) client(ctx context.Context, t *toolchains.Toolchain, client, product, release string) {
	if w.asked[client+" "+product] {
		return
	}
	w.asked[client+" "+product] = true
	path, err := w.lookPath(client)
	login := map[string]string{"qpm-cli": "qpm-cli --login USER", "qsc-cli": "qsc-cli login -u USER"}[client]
	if !w.asked[client] && err != nil {
		where := map[string]string{"qpm-cli": "the Qualcomm Package Manager (https://qpm.qualcomm.com/#/main/tools/details/QPM3)", "qsc-cli": "the Qualcomm Software Center (https://softwarecenter.qualcomm.com)"}[client]
		w.todo(client, "not in PATH; "+t.Name+" "+release+" comes through it only, and wants an account", "Register ("+register+") and install "+where+w.instead(t)+".")
		w.todo("login", "not asked yet", "Run `"+login+"`.")
	}
	if err != nil {
		w.asked[client] = true
		return
	}
	if !w.asked[client] {
		w.done(client, "%s", path)
	}
	w.asked[client] = true
	if w.o.Offline {
		w.done("login", "not asked, by --offline")
		return
	}
	products, err := w.o.Vendor.Offered(ctx, client)
	var failed *qpm.Error
	switch {
	case errors.As(err, &failed) && failed.Remedy != "":
		w.todo("login", failed.Command+": "+strings.Join(failed.Said[max(0, len(failed.Said)-1):], ""), failed.Remedy)
	case err != nil:
		first, _, _ := strings.Cut(err.Error(), "\n")
		w.todo("login", first, "Run `"+login+"`.")
	case !slices.ContainsFunc(products, func(p string) bool { return strings.EqualFold(p, product) }):
		w.todo("licence", "the account is offered "+strconv.Itoa(len(products))+" products, and not "+product,
			"Open "+t.DownloadPage+" and accept what it asks for; some accounts, private ones above all, never may"+w.instead(t)+".")
	default:
		w.done("login", "%s offers %s", client, product)
	}
}

// instead names a release that needs no account.
func (w *walk) instead(t *toolchains.Toolchain) string {
	if _, r, err := w.o.Catalogue.Find(t.Name, ""); err == nil && r.Open {
		return "; " + t.Name + " " + r.Version + " needs none"
	}
	return ""
}

// lacks says what else the pipelines lack on this machine: programs, models.
func (w *walk) lacks() {
	var packages, programs []string
	seen, device := map[string]bool{}, false
	var others []Step
	for _, p := range w.o.Pipelines {
		if p.Profile != profileDevice {
			continue
		}
		device = true
		if p.Err != "" {
			others = append(others, Step{p.Name, Later, "it can't be planned: " + p.Err, "Run `hexmage validate " + p.Name + " --profile " + profileDevice + "`.", ""})
		}
		for _, m := range p.Missing {
			name, text, _ := strings.Cut(m, ": ")
			if seen[text] || strings.Contains(name, "toolchain.") || strings.HasPrefix(text, NoPhone) {
				continue // have steps of their own
			}
			seen[text] = true
			what, do := cutRemedy(text)
			if pkg, ok := strings.CutPrefix(Quoted(do), "apt-get install "); ok {
				packages, programs = append(packages, pkg), append(programs, strings.TrimSuffix(strings.TrimPrefix(what, "The program "), " is not in PATH"))
				continue
			}
			others = append(others, Step{name, Later, what, qnn.Sentence(do), ""})
		}
	}
	slices.Sort(packages)
	switch {
	case len(packages) > 0:
		w.todo("programs", "not in PATH: "+strings.Join(programs, ", "), "apt-get install "+strings.Join(slices.Compact(packages), " "))
	case device:
		w.done("programs", "those of the pipelines are in PATH")
	}
	for _, s := range others {
		w.todo(s.Name, s.What, s.Do)
	}
}

// adb says which adb there is, and whether it can pair.
func (w *walk) adb(ctx context.Context) {
	paths := []string{}
	if p, err := w.lookPath("adb"); err == nil {
		paths = append(paths, p)
	}
	for _, name := range []string{"ANDROID_HOME", "ANDROID_SDK_ROOT"} {
		if w.o.Machine.Getenv == nil || w.o.Machine.Getenv(name) == "" {
			continue
		}
		p := filepath.Join(w.o.Machine.Getenv(name), "platform-tools", "adb")
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() {
			paths = append(paths, p)
		}
	}
	release := ""
	if len(paths) > 0 && w.p.Output != nil {
		out, _ := w.p.Output(ctx, paths[0], "version") // what it does not say is not known
		_, after, _ := strings.Cut(out, "\nVersion ")
		release, _, _ = strings.Cut(after, "\n")
	}
	if len(paths) == 0 {
		t, r, err := w.o.Catalogue.Find("adb", "")
		if err == nil {
			if _, ok := w.o.Stored(t.Name, r.Version, profileDevice); ok {
				paths, release = []string{"hexmage's own"}, r.Version
			}
		}
	}
	if len(paths) == 0 {
		w.todo("adb", "not in PATH, and neither ANDROID_HOME nor hexmage has one", "Run `hexmage toolchain fetch adb --profile "+profileDevice+"`; to pair over Wi-Fi take Google's: "+platformTools+".")
		return
	}
	what := paths[0] + ", " + orUnknown(release)
	switch {
	case release == "":
	case version.Older(release, pairsFrom):
		what += ", which cannot pair: over Wi-Fi take Google's: " + platformTools
	default:
		what += ", which can pair"
	}
	w.done("adb", "%s", what)
}

const overWiFi = "over Wi-Fi, `hexmage device pair HOST:PORT CODE` and `hexmage device connect HOST:PORT`, as its Wireless debugging shows them"

// phone says how far people are with a phone that is to run what the pipelines build.
func (w *walk) phone(ctx context.Context) {
	if w.p.Devices == nil {
		return
	}
	ds, err := w.p.Devices(ctx)
	if err != nil {
		w.todo("phone", "no adb server runs", "Run `hexmage device list`, which starts it.")
		return
	}
	var socs []string
	for _, p := range w.o.Pipelines {
		if p.Profile == profileDevice && p.SoC != "" && !slices.Contains(socs, p.SoC) {
			socs = append(socs, p.SoC)
		}
	}
	var other *Device
	for _, d := range ds {
		switch {
		case d.State != "device":
		case d.SoC == "" || len(socs) == 0 || slices.Contains(socs, d.SoC):
			w.done("phone", "%s", strings.Join(strings.Fields(d.Serial+" "+d.Model+" "+d.SoC), " "))
			return
		case other == nil:
			other = &d
		}
	}
	if other != nil {
		w.todo("phone", fmt.Sprintf("%s is %s, and what is built is for %s", other.Serial, other.SoC, strings.Join(socs, ", ")),
			"Connect one with that SoC, or build for this one: `hexmage plan PIPELINE --profile "+profileDevice+" --soc "+other.SoC+"`.")
		return
	}
	if len(ds) == 0 {
		w.away()
		return
	}
	switch d := ds[0]; {
	case d.State == "unauthorized":
		w.todo("phone", d.Serial+" does not trust this machine yet", "Unlock it and allow USB debugging in the dialog that it shows, for always.")
	case strings.HasPrefix(d.State, "no permissions"):
		w.rights(d)
	default:
		w.todo("phone", d.Serial+" is "+d.State, "Run `adb -s "+d.Serial+" reconnect`, or plug it in again.")
	}
}

// away says how a phone that the adb server does not see is connected.
func (w *walk) away() {
	switch {
	case w.onUSB():
		w.todo("phone", "one is on USB with debugging on, and the adb server does not see it", "Run `adb kill-server`, then `hexmage device list`, which starts one with the rights that you have now.")
	case w.wsl() == 2:
		w.todo("phone", "none is attached: WSL sees no USB until Windows hands it over", "In Windows run `usbipd attach --wsl --auto-attach --busid BUSID` (before that once, as administrator, `usbipd bind --busid BUSID`; `usbipd list` has the BUSID); or "+overWiFi+".")
	default:
		w.todo("phone", "none is attached", "Connect one with USB debugging on, until `hexmage device list` shows it; or "+overWiFi+".")
	}
	if s := &w.steps[len(w.steps)-1]; s.Command == "" {
		s.Command = "hexmage device list"
	}
}

// rights says why the user may not speak to a phone on USB.
func (w *walk) rights(d Device) {
	rules := false
	for _, dir := range []string{"etc", "lib", "usr/lib"} {
		found, err := filepath.Glob(filepath.Join(w.p.Root, dir, "udev/rules.d/*android*.rules"))
		rules = rules || err == nil && len(found) > 0
	}
	what := d.Serial + " is on USB, and this user may not use it"
	switch {
	case w.wsl() == 2 && w.read("proc/1/comm") != "systemd":
		w.todo("phone", what+": without systemd WSL has no udev", "Write `[boot]` and `systemd=true` into /etc/wsl.conf; then, in Windows, run `wsl --shutdown`.")
	case !rules:
		w.todo("phone", what+": there is no udev rule for phones", "apt-get install android-sdk-platform-tools-common, and plug it in again; or write a rule for its vendor.")
	default:
		w.todo("phone", what, "Run `sudo usermod -aG plugdev $USER`, log in again, plug the phone in again, and `adb kill-server`.")
	}
}

// onUSB tells whether the kernel sees a device that offers adb: class ff, subclass 42, protocol 01.
func (e *examination) onUSB() bool {
	found, err := filepath.Glob(filepath.Join(e.p.Root, "sys/bus/usb/devices/*/bInterfaceSubClass"))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(found, func(file string) bool {
		is := func(name, want string) bool {
			b, err := os.ReadFile(filepath.Join(filepath.Dir(file), name))
			return err == nil && strings.TrimSpace(string(b)) == want
		}
		return is("bInterfaceClass", "ff") && is("bInterfaceSubClass", "42") && is("bInterfaceProtocol", "01")
	})
}
