"""See how agents fail: exploration and exploitation errors from actions alone.

In a checkout this folder holds links to the folders beside it; in a wheel, the folders themselves.
"""
