"""Wild users: dialogues of several tasks, told as people talk."""
