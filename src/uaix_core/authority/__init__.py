"""What only the operator's configuration may let in: grants, and what they register."""
