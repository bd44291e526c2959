"""What may be claimed: data and pure functions, no solver, no input or output."""
