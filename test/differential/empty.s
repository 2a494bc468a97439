// Lets the package declare functions without bodies, for go:linkname.
