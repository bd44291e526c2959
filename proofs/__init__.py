"""The evidence: a folder for each kernel with its source, its derivations and its recorded claims."""
