"""Reports: terminal text, JSON and pages."""
