"""What hooks into MMEngine's runner."""
