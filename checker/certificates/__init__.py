"""Certificates: a claim with its derivation and evidence as one document, and audits of them."""
