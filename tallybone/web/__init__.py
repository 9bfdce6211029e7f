"""Serve the page of the table beside a live game: show it, and take corrections.

Nothing is imported here: FastAPI and uvicorn (the extra `web`) are only needed where a page is served.
"""
