"""The search for potentials: templates at loop heads, an exact linear program, an outline for the elaborator.

What comes out of here is a proposal; the kernel judges it like a user's.
"""
