"""The logic, and what may be claimed: data and pure functions, no solver, no input or output."""
