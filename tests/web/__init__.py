"""The table in the browser without a browser: protocol, authority, secrecy, restarts, limits."""
