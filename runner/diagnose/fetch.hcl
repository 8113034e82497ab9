# Getting SDKs and files.

failure "qpm-relative" {
  where    = ["fetch", "tool"]
  patterns = ["(?i)qpm-cli.*unexpected error", "\\[Error\\].*An unexpected error (?:has )?occurred.*--path"]
  cause    = "qpm-cli fails with an unexpected error when --path is relative; its log says more."
  remedy   = "Give an absolute --path. hexmage's source \"qpm\" always does."
  source   = "the reproduction of llm.npu"
  seed     = true
  examples = [
    "$ qpm-cli --extract hexagonsdk6.x --version 6.3.0.0 --path ./hexagon\n[Error] : qpm-cli: An unexpected error occurred",
    "[Error] : An unexpected error has occurred: qpm --extract hexagonsdk6.x --path hexagon",
  ]
}

failure "qpm-login" {
  where    = ["fetch", "tool"]
  patterns = ["(?i)(?:qpm-cli|qsc-cli).*(?:401|unauthori[sz]ed|not logged in|login (?:failed|required))", "(?i)licen[sc]e.*not (?:been )?(?:activated|accepted)", "(?:\\[Error\\] ?:|[Hh]exagonsdk|[Qq]ualcomm).*\\b401\\b", "(?i)\\bERROR\\b\\W*HTTP status code:? 401\\b"]
  cause    = "Qualcomm's server does not give the product to this account (401): the client is not logged in, the product's license is not accepted, or the account may not have it."
  remedy   = "Log in with `qpm-cli --login` (or `qsc-cli login`), then `qpm-cli --license-activate PRODUCT`; accept the license in the browser once. Some accounts never get a product: then take a release that needs no account (source archive in `hexmage toolchain list hexagon`), or set HEXAGON_SDK_ROOT to a copy."
  source   = "the reproduction of llm.npu"
  seed     = true
  examples = ["qpm-cli: [Error] : 401 Unauthorized", "Error: license for hexagonsdk6.x has not been activated", "[Error] : 401 access denied", "ERROR HTTP status code 401"]
}

failure "sdk-download" {
  where    = ["fetch"]
  patterns = ["(?:softwarecenter|apigwx|qpm)[^ ]*[^\\n]*(?:403|Forbidden)", "HTTP/2 stream.*INTERNAL_ERROR", "stream error: stream ID [0-9]+; INTERNAL_ERROR", "unexpected content from the server: an? [A-Z]+ ", "End-of-central-directory signature not found", "curl: [(]92[)]"]
  cause    = "Qualcomm's server refused the download, broke it off, or sent a page instead of the file."
  remedy   = "Try again later, with HTTP/1.1 and a browser's user agent (hexmage does both, and resumes); or download by hand, accept the license there, and give the file as urls = [\"file:///…\"]. Never use a file whose size and digest were not checked."
  source   = "public reports on SDK downloads"
  examples = [
    "curl: (92) HTTP/2 stream 1 was not closed cleanly: INTERNAL_ERROR (err 2)",
    "GET https://softwarecenter.qualcomm.com/api/download/x.zip: 403 Forbidden",
    "unzip: End-of-central-directory signature not found.",
    "fetch: stream error: stream ID 3; INTERNAL_ERROR; received from peer",
    "fetch https://example.com/x.zip: unexpected content from the server: an HTML page (text: \"Sign in\")",
  ]
}

failure "fetch-digest" {
  where    = ["fetch"]
  patterns = ["wrong digest or size", "(?i)(?:checksum|sha-?256|digest) mismatch"]
  cause    = "The file is another one than the one that was pinned: it was replaced, or damaged on the way."
  remedy   = "Run again; if it stays so and the new one is right, `hexmage lock` pins it."
  source   = "hexmage"
  examples = [
    "fetch https://example.com/x.zip: wrong digest or size: sha256 34cd instead of 12ab",
    "hash: sha256 mismatch for qairt.zip",
  ]
}

failure "fetch-offline" {
  where    = ["fetch"]
  patterns = ["hexmage is offline"]
  cause    = "--offline forbids the network, and the file is not in the store."
  remedy   = "Run once without --offline, or use a file:// URL. hexmage keeps downloaded files in the store."
  source   = "hexmage"
  examples = ["fetch: https://example.com/x.zip: hexmage is offline"]
}

failure "fetch-no-network" {
  where    = ["fetch", "tool"]
  patterns = ["no such host", "Could not resolve host", "Temporary failure (?:in name resolution|resolving)", "Network is unreachable"]
  cause    = "The machine has no network, or needs a proxy."
  remedy   = "Check the network; set HTTPS_PROXY where there is a proxy."
  source   = "Linux"
  examples = [
    "fetch: Get \"https://example.com/x.zip\": dial tcp: lookup example.com: no such host",
    "curl: (6) Could not resolve host: example.com",
    "Temporary failure resolving 'deb.example.org'",
    "connect: Network is unreachable",
  ]
}

failure "ssh-no-network" {
  where    = ["fetch", "tool", "device"]
  patterns = ["(?:ssh://|ssh: |(?:^|\\s|')[\\w.-]+@[\\w.-]+:).*(?:no such host|Could not resolve host|[Tt]emporary failure in name resolution|[Nn]etwork is unreachable)"]
  cause    = "The host of an address of ssh is not reached: its name is not known here, or the machine has no network."
  remedy   = "Check the address and the network. ssh goes through no proxy for HTTPS: for git, an https address does."
  explains = ["fetch-no-network"]
  source   = "Linux"
  examples = [
    "ssh: Could not resolve hostname git.example.com: Temporary failure in name resolution",
    "fetch: git@git.example.com:team/ops.git: dial tcp: lookup git.example.com: no such host",
    "ssh: ssh://root@board.example: it cannot be reached: dial tcp: lookup board.example: no such host",
    "ssh: connect to host git.example.com port 22: Network is unreachable",
  ]
}

failure "fetch-certificate" {
  where    = ["fetch", "tool"]
  patterns = ["x509: certificate", "SSL certificate problem", "CERTIFICATE_VERIFY_FAILED"]
  cause    = "The server's certificate is not trusted: the machine has no root certificates, or a proxy answers in the server's place."
  remedy   = "Install ca-certificates, or your organization's root certificate."
  source   = "Linux"
  examples = [
    "fetch: Get \"https://example.com\": tls: failed to verify certificate: x509: certificate signed by unknown authority",
    "curl: (60) SSL certificate problem: unable to get local issuer certificate",
    "ssl.SSLError: [SSL: CERTIFICATE_VERIFY_FAILED]",
  ]
}

failure "apt-missing" {
  where    = ["fetch"]
  patterns = ["apt-get is missing"]
  cause    = "Packages come through apt-get, which this system does not have."
  remedy   = "Install the tool by the system's own means and write source = \"installed\" in its toolchain block."
  source   = "hexmage"
  examples = ["fetch: apt-get is missing"]
}

failure "apt-lists" {
  where    = ["fetch"]
  patterns = ["update the package lists"]
  cause    = "apt-get could not reach the distribution's servers."
  remedy   = "Check the network, the proxy settings and /etc/apt/sources.list."
  source   = "hexmage"
  examples = ["fetch: cannot update the package lists: exit status 100"]
}

failure "fetch-parts" {
  where    = ["fetch"]
  severity = "warning"
  patterns = ["all of it is downloaded"]
  cause    = "Parts of the archive alone could not be had from this server, so all of it is downloaded."
  remedy   = "Wait: it costs time and nothing else."
  source   = "hexmage"
  examples = ["fetch: the server sends no ranges: all of it is downloaded"]
}

failure "fetch-changing" {
  where    = ["fetch"]
  patterns = ["changed during the download"]
  cause    = "The server has another file every time it is asked, as broken mirrors behind one name do."
  remedy   = "Try again later, or name another address first."
  source   = "hexmage"
  examples = ["fetch https://example.com/x.zip: the file on the server changed during the download"]
}

failure "fetch-login" {
  where    = ["fetch"]
  patterns = ["(?:wants|needs) a login", "add a login to ~/\\.netrc"]
  cause    = "The server lets only people in whom it knows."
  remedy   = "Write the login for the host into ~/.netrc (machine HOST login USER password TOKEN); a token for a header into a variable, which a header block of the source names."
  source   = "hexmage"
  examples = [
    "git: https://example.com/x.git: the server needs a login",
    "fetch https://example.com/x.zip: request failed: 401 Unauthorized; add a login to ~/.netrc, or name a variable with a token in a header block of the source",
  ]
}

failure "fetch-secret" {
  where    = ["fetch"]
  patterns = ["needs the secret"]
  cause    = "A header of the download is made of a secret variable that is not set."
  remedy   = "Run `export HEXMAGE_VAR_NAME=…`, best from your password store: it is read when the file is downloaded, and kept nowhere."
  source   = "hexmage"
  examples = ["fetch: https://example.com/x.zip needs the secret token"]
}
