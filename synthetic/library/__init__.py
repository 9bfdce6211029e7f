"""Recordings and photographs from Debian packages."""
