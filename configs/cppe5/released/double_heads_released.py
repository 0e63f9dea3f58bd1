"""What the release calls Double Heads: the DCN network, to read its file."""

_base_ = '../dcn.py'
