"""Mail: Gmail and Outlook."""
