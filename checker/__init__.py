"""Who decides: the kernel, the second checker, the oracles, the search, and everything a person sees."""

VERSION = "0.1.0"

GARBAGE = (50_000, 5, 4)
"""When garbage is looked for (`gc.set_threshold`), of which a command makes little: trees and terms stay."""
