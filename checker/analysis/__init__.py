"""What is read off a kernel besides its cost bounds."""
