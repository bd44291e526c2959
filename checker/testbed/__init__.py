"""The testbed: rules on trial against the semantics. The one room that sees what is claimed and what happens.

A trial is only worth something if it is honest both ways. A sound rule must never be blamed: side conditions are
decided by enumeration over a small world (`world`), and runs that leave this world do not count (`runs`). An unsound
rule must be found: `derivations` builds derivations that take all that the rules allow.
"""
