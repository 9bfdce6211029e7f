"""Play a recording, a video or a folder of pictures again; export, compare, and compute its figures."""
