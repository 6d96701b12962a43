"""The mistakes that people make in `Transformer`."""
