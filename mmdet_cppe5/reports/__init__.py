"""Tables, figures and reports out of result objects; no framework."""
