"""Mail: the person's accounts, messages and drafts."""
