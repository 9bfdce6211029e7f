"""The page of the table: what a browser is shown and may do, served beside a live game.

Nothing is imported here: FastAPI and uvicorn (the extra `web`) are only needed where a page is served.
"""
