"""Identity: who is signed in where."""
