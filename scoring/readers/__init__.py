"""Readers: one file per input format, streaming; every fault is a `BadInput`."""
