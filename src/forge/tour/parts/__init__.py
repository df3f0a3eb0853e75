"""The parts of the tour, one module each."""
