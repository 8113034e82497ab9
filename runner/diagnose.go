package runner

import (
	"bytes"
	"regexp"
)

// failure is a known way in which programs on a device fail.
type failure struct {
	pattern string // regular expression of a fragment of the log
	hint    string // cause, and what to do
}

// failures are ordered: what tells more comes first.
func failures() []failure {
	return []failure{
		{`Stub lib id mismatch|Skel lib id mismatch|verify skel version|skel build id: err: 1008`,
			"libraries of different QNN SDKs were mixed: push libQnnHtp, stub, skel and system library of one SDK, and keep /vendor/lib64 out of the front of LD_LIBRARY_PATH"},
		{`SoC model \(SnapdragonModel\) is unknown|Unsupported SnapdragonModel`,
			"the QNN SDK is older than the SoC: use a newer SDK, or give soc_model and arch explicitly"},
		{`Unknown config socModel 0`,
			"the kernel's soc_id was given where QNN wants its own soc_model (SM8750 is 69, not 618)"},
		{`Request feature arch with value \d+ unsupported|err:? 5000\b|Newest blob version supported|newer context binary on old SDK`,
			"the context was compiled for another Hexagon arch, or by a newer SDK than the one on the device: compile it for this target with the SDK that is pushed"},
		{`Request feature vtcm size|err:? 5005\b`,
			"the context needs more VTCM than the device has, or was made for another SoC: set the target's soc and compile again"},
		{`qnn version mismatch with backend`,
			"the context could not be loaded: it was compiled by another QNN SDK than the libraries on the device come from"},
		{`qnn_open failed, 0x80000406|Unable to load Skel Library|0x80000406`,
			"the DSP could not load the skel or op package: it must be pushed for the device's Hexagon arch and ADSP_LIBRARY_PATH must name its folder, separated by ';'. If it worked before, the DSP may be wedged: reboot the device"},
		{`0x80000600`, "the vendor's skel was used instead of the pushed one: put the run's folder first in ADSP_LIBRARY_PATH"},
		{`0x80000442|cannot locate symbol`, "a library lacks a symbol that another one needs: they come from different SDKs"},
		{`0x80000481`, "the DSP wants signed code: use an unsigned protection domain, or a test signature for this device"},
		{`SSR Detected|0x8000040d|AEE_EBADSTATE`, "the DSP's process crashed: look for the first error before this one; start the program again"},
		{`Only signed offload is allowed`, "this device allows no unsigned protection domain: a signed skel or another device is needed"},
		{`Requires 0x[0-9a-f]+ bytes of TCM`, "one op needs more VTCM than there is: split it, or use fewer bits"},
		{`Failed to find available PD`, "too many contexts are open on the DSP: free some, or merge graphs"},
		{`graph requires estimated allocation|fastrpc memory map for fd|remote_mmap64_internal failed`,
			"the DSP's address space is used up: split the model into more shards"},
		{`Graph \S+ not found for execution`,
			"the context binary has no graph of that name. A graph is named after its model and its chunk length (`hexmage inspect context.bin` lists them): give the runner the length that the context was compiled for, such as --ar_len 32"},
		{`Memory properties specified twice`, "an op package was loaded twice: register it once"},
		{`Could not register Op Package|Failed to register op package`,
			"the op package was not loaded: both its AArch64 and its Hexagon build must be pushed, for this arch, and found through LD_LIBRARY_PATH and ADSP_LIBRARY_PATH"},
		{`library "([^"]+)" not found`, "a library is missing on the device: add it to the push set"},
		{`Failed to open QNN libs|Unable to find a valid interface`, "libQnnHtp.so or libQnnSystem.so was not found, or the vendor's was: push the SDK's and put the run's folder first in LD_LIBRARY_PATH"},
		{`merge file is broken`, "the tokenizer's file is missing or damaged: push it"},
		{`Failed to create device.*(14001|0x36b1)|error: 14001`, "the DSP's device could not be made: soc_model or arch do not fit the device, or the transport failed: look at the first line with <E>"},
		{`(?i)no space left on device`, "the device's disk is full: remove files from /data/local/tmp"},
		{`avc: +denied|Permission denied.*(fastrpc|adsprpc)`, "the device's security policy keeps this program from the DSP: run it from adb's shell"},
	}
}

// benign are lines that look like failures on devices where all is well.
const benign = `Function not called, PrepareLib isn't loaded|fastrpc_shell\S* load failed|is different from arch associated with SoC|couldn't open libcdsprpc`

// Diagnose turns what a program printed into hints: for each known failure that the output shows, its cause and what to do.
func Diagnose(output []byte) []string {
	ignore := regexp.MustCompile(benign)
	var log bytes.Buffer
	for line := range bytes.Lines(output) {
		if !ignore.Match(line) {
			log.Write(line)
		}
	}
	var hints []string
	for _, f := range failures() {
		if regexp.MustCompile(f.pattern).Match(log.Bytes()) {
			hints = append(hints, f.hint)
		}
	}
	return hints
}
