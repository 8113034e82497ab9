package deb

var ParseURIs = parseURIs
