"""Web page of a table: shows the live game and accepts corrections.

Nothing is imported here, because FastAPI and uvicorn (the extra `web`) are needed only to serve the page.
"""
