"""Who decides: the kernel, the second checker, the oracles, the search, and everything a person sees."""

VERSION = "0.1.0"
