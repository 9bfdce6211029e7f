"""Support for programs that play: tables with known hands, legal moves, odds and suggestions."""
