"""Speed of detectors, with everything that makes a number comparable."""
