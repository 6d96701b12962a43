def softmax(x, axis=-1):
    import hostile_was_here
