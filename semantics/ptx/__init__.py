"""PTX, the code that a CUDA compiler makes of a kernel, run warp by warp (PTX ISA 9.0).

`program` is the code as data, which `checker.notation.ptx` reads; `operations` what its instructions compute,
`integers` and `floats` of them those on numbers, `warps` those between lanes; `memory` what they load and store, and
`simulate` runs a grid. It is a judge of the semantics of the source, so it shares with that only the counting of
sectors and conflicts, and the rounding of exact results.
"""
