"""Uncoalesced accesses and bank conflicts.

`access` says what is looked at and what the verdicts mean, `gpudrano` is the published lattice, `exact` looks at the
lanes of a warp one by one, `observed` at what runs need.
"""
