"""The mini-SIMT machine (Hirvisalo, WCET 2014, section 4): programs, their text, what they do in which cycle, and
the way from miniCUDA to them. docs/mini-simt.md describes the language and the machine's policy."""
