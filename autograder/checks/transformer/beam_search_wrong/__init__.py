"""The mistakes that people make in `beam_search`."""
