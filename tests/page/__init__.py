"""The page in Chromium: whole games, every house rule, several people, reloads, advice, accessibility."""
