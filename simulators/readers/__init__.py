"""Readers of data sets as their publishers ship them, none of which is included: each makes events of them."""
