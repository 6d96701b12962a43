"""The class: its folder, the releases, the gradebook, feedback and exports."""
