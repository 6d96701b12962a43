"""The machines that translate, behind one interface, with their training and their quality."""
