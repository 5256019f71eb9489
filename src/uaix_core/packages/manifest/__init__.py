"""The manifest: its values, its one codec, and the judging of what it says."""
