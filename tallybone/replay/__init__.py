"""Replay a recording, a video or a folder of pictures, export and compare it, and compute its figures."""
