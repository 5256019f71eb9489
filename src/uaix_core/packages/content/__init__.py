"""What a package says, judged: authority, secrets, hidden text, duties, pointers."""
