"""Report to instructors what a class has understood: numbers, mistakes, people, and likeness."""
