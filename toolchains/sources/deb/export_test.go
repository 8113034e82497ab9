package deb

// ParseURIs is parseURIs, for the fuzz test.
var ParseURIs = parseURIs
