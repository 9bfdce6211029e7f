"""Access to the page: visitors, sign-in, limits of connections, the server, and its static files."""
