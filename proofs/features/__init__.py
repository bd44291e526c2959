"""Small certificates, each for a part of the format that no kernel of the literature needs; `make` makes them."""
